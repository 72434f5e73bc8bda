#include "kernels/overhead.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <variant>

#include "core/error.hpp"
#include "core/machine/fields.hpp"
#include "core/model/predict.hpp"
#include "core/optimize/exposed.hpp"
#include "core/schedule/registers.hpp"
#include "core/units/divisor.hpp"
#include "core/workload/parse.hpp"
#include "kernels/execute.hpp"
#include "kernels/executor.hpp"
#include "kernels/shapes.hpp"

namespace tcsim {

namespace {

// Source of these constants: chosen.
constexpr double part_of_first_cache = 0.75;  // that a problem in it fills
constexpr Bytes far_tensor(48 << 20);         // of a tensor in memory, four times at most
constexpr Seconds least_repetition(2e-4);     // of executions one after the other
constexpr int repetitions = 15, quick_repetitions = 7, most_disturbed = 3;
constexpr int rounds = 5, quick_rounds = 3;
constexpr double worst_noise = 0.1;  // of a problem's two quickest rounds, in the mean
constexpr std::int64_t few_places = 32, more_places = 96;  // along k, of one problem beside another
constexpr int most_turns = 30;
// Places along k of problems whose results come from memory, as multiples of those that take as
// long as the results' traffic: where computing decides, and where memory does.
constexpr std::array computing_decides{1.0, 1.5, 2.5, 4.0};
constexpr double memory_decides = 0.25;
constexpr std::array<std::int64_t, 3> lengths_of_pieces{192, 256, 512};  // bytes
// Rows of such a problem: columns near one another, and far apart.
using RowCounts = std::array<std::int64_t, 2>;
constexpr RowCounts near_rows{1500, 3500}, far_rows{6000, 20000};
constexpr double seen = 0.03;  // of the multiply-adds' time, which loads take on top of it

// What the pieces of C take of a run.
Seconds pieces_of(const OverheadRun& run, const Machine& machine) {
  const Prediction p = predict(run.contraction, run.schedule, machine);
  return exposed(run.contraction, run.schedule, p, machine).pieces;
}

struct Problem {
  std::string label;  // column-major
  std::map<char, std::int64_t> sizes;
  std::string schedule;
};

// Problems of full kernels and others; a is m (with c), b is n, k is the sum.
class Problems {
 public:
  Problems(const Machine& machine, std::int64_t mr, std::int64_t nr)
      : machine_(machine), mr_(mr), nr_(nr) {}

  std::vector<Problem> full() const {
    std::vector<Problem> all;
    for (std::int64_t x : {1, 2, 3, 6}) {
      for (std::int64_t y : {1, 2, 4, 8}) {
        for (std::int64_t k : {16, 24, 32, 48}) {
          all.push_back(plain(mr_ * x, nr_ * y, k, "ab-ak-bk", "m=a"));
          all.push_back(columns_inside(mr_ * x, nr_ * y, k));
        }
      }
    }
    return fitting(all);
  }

  // The last tiles have two thirds of the kernel's rows or three quarters of its columns.
  std::vector<Problem> partial() const {
    std::vector<Problem> all;
    for (std::int64_t x : {1, 2, 3}) {
      for (std::int64_t y : {1, 2, 4}) {
        for (std::int64_t k : {16, 32}) {
          all.push_back(plain(mr_ * x + mr_ * 2 / 3, nr_ * y, k, "ab-ak-bk", "m=a"));
          all.push_back(plain(mr_ * x, nr_ * y + nr_ * 3 / 4, k, "ab-ak-bk", "m=a"));
        }
      }
    }
    return fitting(all);
  }

  // Rows in C end within a tile, those in A do not.
  std::vector<Problem> broken() const {
    std::vector<Problem> all;
    for (std::int64_t a : {mr_ / 2, mr_ - mr_ / 3, mr_ + mr_ / 3}) {
      for (std::int64_t y : {1, 2, 4, 8}) {
        for (std::int64_t k : {16, 32}) {
          Problem p = plain(a, nr_ * y, k, "abc-ack-bk", "m=ac");
          p.sizes['c'] = mr_ / std::gcd(a, mr_);  // so that all tiles are full
          all.push_back(p);
        }
      }
    }
    return fitting(all);
  }

  // Neither rows nor columns are neighbours in C, which columns further on are: each result is
  // stored by itself.
  std::vector<Problem> scattered() const {
    std::vector<Problem> all;
    for (std::int64_t x : {1, 2, 3}) {
      for (std::int64_t y : {1, 2, 4}) {
        for (std::int64_t k : {16, 32}) {
          Problem p = plain(mr_ * x, nr_ * y, k, "cba-ak-bck", "m=a");
          p.schedule.replace(p.schedule.find("n=b"), 3, "n=bc");
          p.sizes['c'] = 2;
          all.push_back(p);
        }
      }
    }
    return fitting(all);
  }

  // Of a kernel of one vector, which loads the most for each multiply-add: few and more places
  // along k.
  std::vector<Problem> one_vector() const {
    return {plain(2 * mr_, nr_, few_places, "ab-ak-bk", "m=a"),
            plain(2 * mr_, nr_, more_places, "ab-ak-bk", "m=a")};
  }

  // Results that come from memory and go there by whole columns, while kernels compute.
  std::vector<Problem> results() const {
    std::vector<Problem> all;
    for (std::int64_t rows : near_rows) {
      for (double times : computing_decides) {
        all.push_back(far_results(rows, times));
      }
    }
    return all;
  }

  // The same where memory decides, and behind each by pieces of some lines in columns of so many
  // rows.
  std::vector<Problem> result_pieces(const RowCounts& columns) const {
    std::vector<Problem> all;
    for (std::int64_t rows : columns) {
      for (std::int64_t bytes : lengths_of_pieces) {
        all.push_back(far_results(rows, memory_decides));
        all.push_back(all.back());
        all.back().schedule = fmt::format(
            "groups m=a n=b k=k for m by {} {{ for n by {} {{ for m by {} {{ kernel "
            "{}x{} }} }} }}",
            ceil_div(bytes / 8, mr_) * mr_, nr_, mr_, mr_, nr_);
      }
    }
    return all;
  }

  // The same tensor in more or fewer packs.
  std::vector<Problem> packs() const {
    const std::int64_t m = 4 * mr_, k = far_elements() / m / 512 * 512;
    std::vector<Problem> all;
    for (std::int64_t part : {16, 24, 32, 48, 64, 128, 256, 512}) all.push_back(packed(m, k, part));
    return all;
  }

 private:
  std::int64_t far_elements() const {
    const Bytes last =
        machine_.levels[static_cast<std::size_t>(machine_.cache_count() - 1)].capacity.value;
    return std::clamp(2 * last, far_tensor, 4 * far_tensor).value() / 8;
  }

  // The second cache, or the only one.
  const std::string& buffer_level() const {
    return machine_.levels[machine_.cache_count() > 1 ? 1 : 0].name;
  }

  Problem plain(std::int64_t a, std::int64_t b, std::int64_t k, const char* label,
                const char* rows) const {
    return {label,
            {{'a', a}, {'b', b}, {'k', k}},
            fmt::format("groups {} n=b k=k for n by {} {{ for m by {} {{ kernel {}x{} }} }}", rows,
                        nr_, mr_, mr_, nr_)};
  }

  // Far tensor C, of about so many rows. An odd number of tiles, so that columns do not all fall
  // into the same sets.
  Problem far_results(std::int64_t rows, double times) const {
    const LevelId memory{static_cast<int>(machine_.levels.size()) - 1};
    const Seconds traffic = Bytes(2 * 8) / machine_.bandwidth(memory);
    const double places =
        times * traffic.value() * machine_.peak(size_of(ElementType::f64)).value() / 2;
    const std::int64_t a = (rows / mr_ | 1) * mr_;
    const std::int64_t b = std::max(nr_, far_elements() / a / nr_ * nr_);
    return plain(a, b, std::max<std::int64_t>(1, std::llround(places)), "ab-ak-bk", "m=a");
  }

  // A task runs along the columns.
  Problem columns_inside(std::int64_t a, std::int64_t b, std::int64_t k) const {
    Problem p = plain(a, b, k, "ab-ak-bk", "m=a");
    p.schedule = fmt::format(
        "groups m=a n=b k=k for m by {0} {{ for n by {1} {{ kernel {0}x{1} }} }}", mr_, nr_);
    return p;
  }

  Problem packed(std::int64_t a, std::int64_t k, std::int64_t part) const {
    return {"ab-ak-bk",
            {{'a', a}, {'b', nr_}, {'k', k}},
            fmt::format("groups m=a n=b k=k for k by {} {{ pack A in {} {{ for m by {} {{ kernel "
                        "{}x{} }} }} }}",
                        part, buffer_level(), mr_, mr_, nr_)};
  }

  std::vector<Problem> fitting(std::vector<Problem> all) const {
    const double most =
        part_of_first_cache * static_cast<double>(machine_.levels.front().capacity.value.value());
    std::erase_if(all, [&](const Problem& p) {
      const double a = static_cast<double>(p.sizes.at('a')) *
                       static_cast<double>(p.sizes.contains('c') ? p.sizes.at('c') : 1);
      const auto b = static_cast<double>(p.sizes.at('b')), k = static_cast<double>(p.sizes.at('k'));
      return 8 * (a * b + (a + b) * k) > most;
    });
    return all;
  }

  const Machine& machine_;
  const std::int64_t mr_, nr_;
};

std::string_view name_of(LostFigure figure) {
  std::string_view name;
  for_each_field<Overhead>([&](const auto& field) {
    if (figure == LostFigure(field.member)) name = field.name;
  });
  return name;
}

// Digits that mean something.
double rounded(LostFigure figure, double value) {
  const double steps = figure == LostFigure(&Overhead::results) ? 100 : 10;
  return std::round(steps * value) / steps;
}

class Measuring {
 public:
  Measuring(Machine& machine, const OverheadOptions& options, const TimePlan& time)
      : machine_(machine), options_(options), time_(time) {}

  void all() {
    const KernelShape shape = preferred_shape(machine_.core.vector_bits.value, ElementType::f64);
    const Problems problems(machine_, shape.mr.value(), shape.nr.value());
    const OverheadBaseline base = full_tiles(problems.full());
    // The others are what comes on top of those.
    fit("partial tiles", problems.partial(), {&Overhead::partial}, base, false);
    fit("broken tiles", problems.broken(), {&Overhead::broken}, base, false);
    fit("scattered results", problems.scattered(), {&Overhead::scatter}, base, false);
    // Computing by itself takes as long as the time does that grows with k.
    fit("results in memory", problems.results(), {&Overhead::results}, {0, {}}, true);
    pieces("pieces of results", problems.result_pieces(near_rows), &Overhead::result_piece);
    pieces("far pieces of results", problems.result_pieces(far_rows), &Overhead::far_result_piece);
    const OverheadBaseline far{{}, base.slope};  // once is here what memory takes
    fit("packs", problems.packs(), {&Overhead::pack}, far, true);
  }

 private:
  struct Timed {
    std::vector<OverheadRun> runs;
    double noise;  // how far the two quickest rounds are apart, in the mean
  };
  // None where there is too little memory.
  std::optional<Timed> timed(const char* what, const std::vector<Problem>& problems) {
    std::vector<OverheadRun> runs;
    for (const Problem& p : problems) {
      const Contraction c =
          parse_contraction(p.label, p.sizes, Layout::column_major, ElementType::f64);
      runs.push_back({c, parse_schedule(p.schedule, c, "overhead"), Cycles(HUGE_VAL)});
    }
    // In rounds, since a core is disturbed for seconds. The quickest time counts if another round
    // comes near it.
    std::vector<Cycles> next(runs.size(), Cycles(HUGE_VAL));
    for (int round = 0; round < (options_.quick ? quick_rounds : rounds); ++round) {
      for (std::size_t i = 0; i < runs.size(); ++i) {
        OverheadRun& run = runs[i];
        if (options_.progress) options_.progress(what, done_ / stages);
        if (options_.stop.stop_requested()) throw Interrupted();
        try {
          const Seconds took = time_(Plan(run.contraction, run.schedule));
          const Cycles cycles(took.value() * machine_.core.frequency.value.value());
          next[i] = std::min(next[i], std::max(run.took, cycles));
          run.took = std::min(run.took, cycles);
        } catch (const UnsupportedError& e) {
          machine_.remarks.push_back(
              fmt::format("overhead: {} were not measured, since {}", what, e.problem()));
          return {};
        }
      }
    }
    ++done_;
    double squares = 0;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const double apart = next[i] / runs[i].took - 1;
      squares += apart * apart;
    }
    return Timed{runs, std::sqrt(squares / static_cast<double>(runs.size()))};
  }
  static std::string doubt_of(const Timed& timed) {
    if (timed.noise <= worst_noise) return {};
    return fmt::format("run times differ by {:.0f} % from time to time", 100 * timed.noise);
  }

  // A figure stays as it is, and a remark says why.
  void leave(LostFigure figure, const std::string& doubt) {
    machine_.remarks.push_back(
        fmt::format("overhead: {} was not measured, since {}", name_of(figure), doubt));
  }

  // Full tiles may wait for loads as well, and their slope tells what loads take: in turns, until
  // both hold.
  OverheadBaseline full_tiles(const std::vector<Problem>& problems) {
    const std::optional<Timed> full = timed("full tiles", problems);
    std::vector<Problem> loading;
    const std::int64_t lanes = lanes_of(machine_.core, ElementType::f64);
    for (const std::int64_t columns : {11, 12, 13}) {
      for (Problem& p : Problems(machine_, lanes, columns).one_vector()) {
        loading.push_back(std::move(p));
      }
    }
    const std::optional<Timed> one_vector = timed("loads", loading);
    if (!full) return {};
    const std::vector<LostFigure> wanted{&Overhead::task, &Overhead::call};
    const std::string doubt = one_vector ? doubt_of(*one_vector) : "";
    if (!doubt.empty()) {
      leave(&Overhead::load, doubt);
    }
    for (int turn = 0; turn < most_turns && one_vector && doubt.empty(); ++turn) {
      const Figure<Cycles> before = machine_.core.overhead.load;
      const OverheadFit fit = fit_overhead(full->runs, wanted, in_first_cache(machine_));
      loads(one_vector->runs, fit.baseline.slope.value_or(1));
      if (machine_.core.overhead.load == before) break;
    }
    return settle(*full, wanted, {}, false);
  }

  // What one more place along k takes tells what its loads take, where they take longer than
  // multiply-adds. Else those are what they take at most.
  void loads(const std::vector<OverheadRun>& runs, double slope) {
    Machine on = in_first_cache(machine_);
    on.core.overhead.load.value = Cycles(0);
    double multiply_adds = 0, on_top = 0, count = 0;  // cycles, and loads
    for (std::size_t i = 0; i < runs.size(); i += 2) {
      const Contraction& c = runs[i].contraction;
      const auto columns = static_cast<double>(c.extent(DimClass::n).value());
      const auto tiles = static_cast<double>(c.extent(DimClass::m).value() /
                                             lanes_of(machine_.core, ElementType::f64));
      const Cycles more = unexplained(runs[i + 1], slope, on) - unexplained(runs[i], slope, on);
      multiply_adds += columns / machine_.core.fma_per_cycle.value;
      on_top += more.value() / tiles / static_cast<double>(more_places - few_places);
      count += columns + 1;
    }
    const bool are_seen = on_top > seen * multiply_adds;
    const double each = (multiply_adds + (are_seen ? on_top : 0)) / count;
    Figure<Cycles>& load = machine_.core.overhead.load;
    if (!are_seen && each >= load.value.value()) return;
    load = {Cycles(std::round(100 * each) / 100), Origin::measured,
            fmt::format("{} of kernels of one vector by 11 to 13 in the first cache",
                        are_seen ? "steps along k" : "at most, by steps along k")};
  }

  // By how much longer pieces take than whole columns: of pairs of runs.
  void pieces(const char* what, const std::vector<Problem>& problems,
              Figure<double> Overhead::*figure) {
    const std::optional<Timed> all = timed(what, problems);
    if (!all) return;
    if (const std::string doubt = doubt_of(*all); !doubt.empty()) return leave(figure, doubt);
    Machine of_one_byte = machine_;
    (of_one_byte.core.overhead.*figure).value = 1;
    double products = 0, squares = 0;
    for (std::size_t i = 0; i < all->runs.size(); i += 2) {
      const OverheadRun &whole = all->runs[i], &run = all->runs[i + 1];
      const double weight = 1 / run.took.value();
      const double longer = weight * (run.took - whole.took).value();
      const double byte = weight * machine_.core.frequency.value.value() *
                          (pieces_of(run, of_one_byte) - pieces_of(whole, of_one_byte)).value();
      products += longer * byte;
      squares += byte * byte;
    }
    if (squares == 0) return leave(figure, "computing hides all pieces");
    machine_.core.overhead.*figure = {
        std::round(std::max(0.0, products / squares)), Origin::measured,
        fmt::format("{} tensors in memory by pieces of {} to {} bytes and by whole columns",
                    all->runs.size() / 2, lengths_of_pieces.front(), lengths_of_pieces.back())};
  }

  // Keeps what is believed of `wanted`.
  OverheadBaseline fit(const char* what, const std::vector<Problem>& problems,
                       const std::vector<LostFigure>& wanted, const OverheadBaseline& baseline,
                       bool from_memory) {
    const std::optional<Timed> all = timed(what, problems);
    return all ? settle(*all, wanted, baseline, from_memory) : baseline;
  }
  OverheadBaseline settle(const Timed& all, const std::vector<LostFigure>& wanted,
                          const OverheadBaseline& baseline, bool from_memory) {
    const std::vector<OverheadRun>& runs = all.runs;
    const Machine on = from_memory ? machine_ : in_first_cache(machine_);
    OverheadFit fit = fit_overhead(runs, wanted, on, baseline);
    if (const std::string doubt = doubt_of(all); !doubt.empty()) {
      fit.doubts.assign(wanted.size(), doubt);
    }
    const auto doubt = std::ranges::find_if(fit.doubts, [](const auto& d) { return !d.empty(); });
    if (doubt != fit.doubts.end()) {
      // What was fitted together holds together; half of it would be set off against a guess.
      const auto doubted = static_cast<std::size_t>(doubt - fit.doubts.begin());
      for (LostFigure field : wanted) {
        leave(field,
              (field == wanted[doubted] ? "" : fmt::format("of {} ", name_of(wanted[doubted]))) +
                  *doubt);
      }
      return fit_overhead(runs, {}, on, baseline).baseline;
    }
    for (std::size_t f = 0; f < wanted.size(); ++f) {
      std::visit(
          [&](auto figure) {
            auto& found = machine_.core.overhead.*figure;
            using Value = decltype(found.value);
            found = {
                Value(rounded(figure, fit.lost[f])), Origin::measured,
                fmt::format("least squares over run times of {} {}", runs.size(),
                            from_memory ? "tensors in memory" : "problems in the first cache")};
          },
          wanted[f]);
    }
    return fit.baseline;
  }

  static constexpr double stages = 9;
  Machine& machine_;
  const OverheadOptions& options_;
  const TimePlan& time_;
  double done_ = 0;
};

Seconds now() {
  return Seconds(
      std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count());
}

}  // namespace

void measure_overhead(Machine& machine, const OverheadOptions& options, const TimePlan& time) {
  Measuring(machine, options, time).all();
}

void measure_overhead(Machine& machine, const OverheadOptions& options) {
  const int wanted = options.quick ? quick_repetitions : repetitions;
  measure_overhead(machine, options, [&](const Plan& plan) {
    Arena arena(plan);
    fill_inputs(arena, plan, 1);
    // What is noted and done again has nothing of what is measured.
    const auto buffer = [&](TensorId t) {
      return plan.pack(t) ? arena.as<double>(plan.pack(t)->buffer) : nullptr;
    };
    Executor<double> executor(plan, {buffer(TensorId::A), buffer(TensorId::B)});
    executor.walk_always();
    const Tensors<double> tensors{arena.as<double>(ArrayId::A), arena.as<double>(ArrayId::B),
                                  arena.as<double>(ArrayId::C)};
    const auto execute = [&] { executor.run(tensors, {1, 0}); };
    std::vector<Repetition> all;
    int undisturbed = 0, executions = 1;
    execute();
    for (int i = 0; i < most_disturbed * wanted && undisturbed < wanted; ++i) {
      if (options.stop.stop_requested()) throw Interrupted();
      const Seconds wall = now(), processor = processor_time();
      for (int e = 0; e < executions; ++e) execute();
      const Repetition r{now() - wall, processor_time() - processor};
      if (r.wall < least_repetition) {
        executions *= 2;
        --i;
        continue;
      }
      const double each = 1.0 / executions;
      all.push_back({each * r.wall, each * r.processor});
      undisturbed += is_disturbed(r, 1) ? 0 : 1;
    }
    // The quickest: whoever shares this core's units slows it by half, for seconds at a time.
    const auto wall = [](const Repetition& r) { return r.wall; };
    return std::ranges::min(all, {}, wall).wall;
  });
}

}  // namespace tcsim
