#include "gui/scene/run_apart.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iostream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "core/saved/session.hpp"
#include "gui/scene/child.hpp"

namespace tcsim::gui {

namespace {

using nlohmann::json;

constexpr const char* processOption = "--run-process";
// Of what is predicted, for a slower machine than the one that is modelled.
constexpr double slowest = 50;

json optional(const std::optional<Bytes>& bytes) { return bytes ? json(bytes->value()) : json(); }

std::optional<Bytes> optional(const json& j) {
  if (j.is_null()) return {};
  return Bytes(j.get<std::int64_t>());
}

json toJson(const RunResult& r, const Counted& c) {
  json j{{"rate", r.rate.value()},
         {"worst_error", r.check.worst_error},  // null where it is infinite
         {"checked", r.check.checked.value()},
         {"kernel", r.kernel},
         {"threads", r.threads},
         {"source", c.source},
         {"why", c.why},
         {"files", c.files},
         {"limits", c.limits}};
  for (const Repetition& one : r.repetitions) {
    j["repetitions"].push_back({one.wall.value(), one.processor.value()});
  }
  j["links"] = json::array();
  for (const CountedLink& l : c.links) {
    j["links"].push_back({{"link", l.link}, {"in", optional(l.in)}, {"out", optional(l.out)}});
  }
  j["events"] = json::array();
  for (const CountedEvent& e : c.events) {
    j["events"].push_back({{"name", e.name}, {"unit", e.unit}, {"median", e.median}});
  }
  return j;
}

void fromJson(const json& j, RunResult& r, Counted& c) {
  for (const json& one : j.at("repetitions")) {
    r.repetitions.push_back({Seconds(one.at(0).get<double>()), Seconds(one.at(1).get<double>())});
  }
  r.rate = FlopsPerSecond(j.at("rate").get<double>());
  const json& error = j.at("worst_error");
  r.check.worst_error =
      error.is_null() ? std::numeric_limits<double>::infinity() : error.get<double>();
  r.check.checked = Elements(j.at("checked").get<std::int64_t>());
  j.at("kernel").get_to(r.kernel);
  j.at("threads").get_to(r.threads);
  r.timed = time_of(r.repetitions, r.threads);
  j.at("source").get_to(c.source);
  j.at("why").get_to(c.why);
  j.at("files").get_to(c.files);
  j.at("limits").get_to(c.limits);
  for (const json& l : j.at("links")) {
    c.links.push_back({l.at("link"), optional(l.at("in")), optional(l.at("out"))});
  }
  for (const json& e : j.at("events")) {
    c.events.push_back({e.at("name"), e.at("unit"), e.at("median")});
  }
}

// What the process is told: no machine and no figure of one is needed to run.
std::string request(const Evaluation& e) {
  Session s;
  s.design.workload = e.subject.design.workload;
  s.design.schedule = to_line(e.choice.schedule, e.subject.contraction);
  return to_toml(s);
}

// A line of the answer; its last one has a result or an error.
void say(int to, const json& words) {
  // Names of files and words of libraries may be in any encoding.
  const std::string line = words.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  for (std::size_t at = 0; at < line.size();) {
    const ssize_t size = write(to, line.data() + at, line.size() - at);
    if (size < 0) _exit(1);  // nobody listens any more
    at += static_cast<std::size_t>(size);
  }
}

json execute(const std::function<void(double)>& progress) {
  const std::string text((std::istreambuf_iterator<char>(std::cin)), {});
  const Design design = parse_session(text, "run").design;
  const Contraction contraction = find_workload(design.workload);
  const Plan plan(contraction, parse_schedule(design.schedule, contraction, "schedule"));
  require_memory(plan);
  Counting counting = choose_counting(CounterChoice::unasked);
  progress(0);
  const RunResult result =
      run(plan, {.repeat = Repeat::until_known(counting.groups()),
                 .around = [&](const std::function<void()>& work) { counting.count(work); },
                 .progress = progress});
  return toJson(result, counting.result());
}

}  // namespace

RunProgram ownRunProgram() { return {{"/proc/self/exe", processOption}}; }

bool asksForRunProcess(int argc, char** argv) {
  return argc == 2 && std::strcmp(argv[1], processOption) == 0;
}

int runProcess() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // nobody else would want the result
  // What libraries print is no part of the answer.
  const int answer = dup(STDOUT_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  const auto failed = [&](const char* why) {
    say(answer, {{"error", why}});
    return 1;
  };
  try {
    say(answer, {{"result", execute([&](double share) { say(answer, {{"share", share}}); })}});
    return 0;
  } catch (const std::bad_alloc&) {
    return failed("not enough memory; use smaller sizes");
  } catch (const std::exception& e) {
    return failed(e.what());
  }
}

Ran ranApart(const Evaluation& e, const RunProgram& program,
             const std::function<void(double)>& progress, const std::stop_token& stop) {
  const std::chrono::milliseconds predicted(
      std::llround(std::min(1e9, 1e3 * slowest * e.time().value())));
  std::chrono::milliseconds patience = program.toBegin;
  Child process(program.command, request(e));
  while (const auto line = process.line(patience, stop)) {
    patience = std::max(program.toGoOn, predicted);
    const json said = json::parse(*line, nullptr, false);
    try {
      if (said.contains("share")) {
        progress(said.at("share").get<double>());
        continue;
      }
      if (said.contains("error")) throw std::runtime_error(said.at("error").get<std::string>());
      Ran ran{e.subject.design, e.choice.schedule, {}, {}};
      fromJson(said.at("result"), ran.result, ran.counted);
      return ran;
    } catch (const json::exception&) {
      Child::fail("it says what cannot be understood");
    }
  }
  Child::fail(process.ending() + " without a result");
}

}  // namespace tcsim::gui
