// What tcsim says of small contractions, against what it said when unchanged.toml was written. A
// change of code that should change no answer is held to this file; one that should writes it anew,
// and the difference of the two files is what it changed:
//
//     TCSIM_WRITE_UNCHANGED=tests/validation/unchanged.toml
//     build/ci/tests/validation/unchanged_tests
//
// The schedules are fixed in the file: which of them the optimizer takes may turn on the last bit
// of a logarithm, which is the processor's library's. How good its choice is may not.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "core/io/read_file.hpp"
#include "core/io/toml.hpp"
#include "core/machine/toml.hpp"
#include "core/model/predict.hpp"
#include "core/plan/plan.hpp"
#include "core/plan/walk.hpp"
#include "core/study/evaluate.hpp"
#include "core/workload/request.hpp"
#include "emit/emit.hpp"
#include "sim/simulate.hpp"
#include "tests/source_dir.hpp"

namespace tcsim {
namespace {

const std::string file = TCSIM_SOURCE_DIR "/tests/validation/unchanged.toml";

const std::string machines[] = {"e5-2680v4", "i7-6700k", "zen5", "gold-6130"};
const std::string accountings[] = {"honest", "paper"};

// Eight of TCCG, then what TCCG lacks. Extents are primes or little else, so every tile has an
// edge.
struct Small {
  const char* label;
  const char* sizes;
  Layout layout = Layout::column_major;
  ElementType type = ElementType::f64;
};
constexpr Small workloads[] = {
    {"ab-cad-dcb", "a=131,b=107,c=23,d=29"},
    {"abc-ad-bdc", "a=67,b=59,c=41,d=53"},
    {"abc-adc-bd", "a=61,b=47,c=37,d=71"},
    {"abc-bda-dc", "a=73,b=61,c=19,d=83"},
    {"abcd-aebf-dfce", "a=17,b=13,c=11,d=19,e=13,f=11"},
    {"abcd-eb-aecd", "a=23,b=37,c=17,d=19,e=29"},
    {"abcde-efbad-cf", "a=13,b=11,c=17,d=7,e=13,f=23"},
    {"abcdef-degc-gfab", "a=11,b=7,c=5,d=11,e=7,f=9,g=19"},
    {"abi-adi-dbi", "a=83,b=71,d=61,i=7"},
    {"ij-ik-kj", "i=193,j=179,k=211", Layout::row_major, ElementType::f32},
};

Contraction contraction_of(const Small& w) {
  return find_workload({w.label, w.sizes, w.layout, w.type});
}

std::vector<Contraction> contractions() {
  std::vector<Contraction> all;
  for (const Small& w : workloads) all.push_back(contraction_of(w));
  return all;
}

Machine machine_of(const std::string& name, const std::string& accounting) {
  Machine m = find_machine(name);
  m.accounting = accounting == "paper" ? Accounting::paper() : Accounting::honest();
  return m;
}

// All packs, piece by piece, and kernel calls in the order of walk(), and the tables that lead to
// the elements.
class Record {
 public:
  explicit Record(const Plan& plan) : plan_(plan) {
    for (TensorId t : all_tensors) add(plan.base(array_of(t)).value());
    // A buffer that there is not has no bytes before C.
    const PackPlan *a = plan.pack(TensorId::A), *b = plan.pack(TensorId::B);
    add(a ? plan.base(a->buffer).value() : 0);
    add(plan.base(b ? b->buffer : ArrayId::C).value());
    add(plan.arena_size().value());
    for (TensorId t : all_tensors) {
      for (DimClass g : all_dim_classes) {
        for (std::int64_t i = 0; i < plan.extent(g); ++i) add(plan.offset(t, g, i));
      }
    }
    walk(plan, *this);
  }

  void pack(const PackPlan& pack, const Tile& tile) {
    add(index(pack.tensor)), add(pack.capacity), add(tile);
    for_each_block(pack, tile, [&](std::span<const PackBlock> blocks) {
      add(std::ssize(blocks));
      for (const PackBlock& b : blocks) {
        for (std::int64_t n : {b.row, b.rows, b.k, b.k_size, b.destination}) add(n);
      }
    });
  }
  void kernel(const KernelCall& call) {
    add(*call.tile), add(call.left_offset), add(call.right_offset), add(call.first_writer ? 1 : 0);
  }

  std::string hash() const { return text_hash(text_); }

 private:
  void add(std::int64_t n) { text_ += std::to_string(n) += ' '; }
  void add(const Tile& tile) {
    for (const auto& i : tile) add(i.begin), add(i.size);
  }

  const Plan& plan_;
  std::string text_;
};

// What is compared for one workload on one machine.
struct Answers {
  std::string schedule;
  std::vector<std::vector<std::int64_t>> predicted, simulated;  // of each link: numbers()
  std::string emitted, walked;                                  // hashes
  // What the optimizer reaches by its own choice, and what a sweep says of that: seconds() and
  // figures() of the machine as it is and of one with half its L1 and a quarter of its memory's
  // bandwidth.
  std::string chosen;
  double achieved = 0;
  std::vector<std::vector<double>> seconds, figures;
};

// Bytes of each array, in and out, while kernels run, then while operands are packed.
std::vector<std::int64_t> numbers(const LinkTraffic& link) {
  std::vector<std::int64_t> all;
  for (Phase p : all_phases) {
    for (const Array& a : printed_arrays) {
      const Moved moved = sum_of(link.arrays, link.moved[p], a);
      all.push_back(moved.in.value());
      all.push_back(moved.out.value());
    }
  }
  return all;
}

std::vector<std::vector<std::int64_t>> numbers(const Traffic& traffic) {
  std::vector<std::vector<std::int64_t>> all;
  for (const LinkTraffic& link : traffic.links) all.push_back(numbers(link));
  return all;
}

// Of a sweep's row: those that say how good the choice is, and those that say what it is.
std::vector<double> seconds(const PointResult& r) {
  return {r.predicted_seconds, r.compute_seconds, r.bound_seconds};
}
std::vector<double> figures(const PointResult& r) {
  std::vector<double> all{static_cast<double>(r.bottleneck)};
  all.insert(all.end(), r.link_bytes.begin(), r.link_bytes.end());
  all.insert(all.end(), r.link_seconds.begin(), r.link_seconds.end());
  return all;
}

// Of every workload. `schedules` has their texts; without them the optimizer's are taken.
std::vector<Answers> answers(const std::string& machine, const std::string& accounting,
                             const std::optional<std::vector<std::string>>& schedules) {
  const Machine m = machine_of(machine, accounting);
  const std::vector<Contraction> all = contractions();
  StudySources sources;
  sources.machine = [&](const std::string&) { return m; };
  sources.workloads = [&](const std::string&) { return all; };
  const Study study =
      parse_study(fmt::format("schema = 1\nname = \"unchanged\"\nworkloads = [\"small\"]\n"
                              "machines = [\"{}\"]\naccounting = \"{}\"\ncompute = \"predict\"\n"
                              "[[knob]]\nname = \"L1.capacity\"\nvalues = [\"0.5x\"]\n"
                              "[[knob]]\nname = \"memory.bandwidth\"\nvalues = [\"0.25x\"]\n",
                              machine, accounting),
                  "unchanged", sources);
  Anchors anchors(study, {});

  std::vector<Answers> list(all.size());
  for (std::size_t w = 0; w < all.size(); ++w) {
    Answers& a = list[w];
    const Contraction& c = all[w];
    const Optimized& best = anchors.at(0, w);
    a.chosen = to_line(best.schedule, c);
    a.achieved = best.prediction.timing.total.value();
    a.schedule = schedules ? (*schedules)[w] : a.chosen;
    const Schedule schedule = parse_schedule(a.schedule, c, "unchanged");
    const Plan plan(c, schedule);
    a.predicted = numbers(predict(c, schedule, m).traffic);
    a.simulated = numbers(simulate(plan, m).traffic);
    a.emitted = text_hash(emit_c(plan));
    a.walked = Record(plan).hash();
  }
  Evaluator evaluator(study, anchors, {});
  const Chains chains(study);
  for (std::int64_t i = 0; i < chains.size(); ++i) {
    for (const PointResult& r : evaluator.evaluate(i).points) {
      Answers& a = list[static_cast<std::size_t>(r.point) % all.size()];
      a.seconds.push_back(seconds(r));
      a.figures.push_back(figures(r));
    }
  }
  return list;
}

// Lists of lists, a line each.
template <class T>
std::string text_of(const char* key, const std::vector<std::vector<T>>& lists) {
  std::string text = fmt::format("{} = [\n", key);
  for (const auto& list : lists) text += fmt::format("  [{}],\n", fmt::join(list, ","));
  return text + "]\n";
}

int write(const char* name) {
  std::ofstream out(name);
  out << "# Written by tests/validation/unchanged_test.cpp, which says how and what for.\n";
  for (const std::string& machine : machines) {
    for (const std::string& accounting : accountings) {
      const std::vector<Answers> list = answers(machine, accounting, {});
      for (std::size_t w = 0; w < list.size(); ++w) {
        const Answers& a = list[w];
        out << fmt::format("\n[[{}.{}]] # {} {}\n", machine, accounting, workloads[w].label,
                           workloads[w].sizes)
            << fmt::format("schedule = \"{}\"\n", a.schedule)
            << fmt::format("emitted = \"{}\"\nwalked = \"{}\"\n", a.emitted, a.walked)
            << text_of("predicted", a.predicted) << text_of("simulated", a.simulated)
            << fmt::format("achieved = {}\n", a.achieved) << text_of("seconds", a.seconds)
            << text_of("figures", a.figures);
      }
    }
  }
  return out.flush() ? 0 : 1;
}

template <class T>
std::vector<std::vector<T>> lists(const toml::table& table, const char* key) {
  std::vector<std::vector<T>> all;
  for (const toml::node& row : *table[key].as_array()) {
    all.emplace_back();
    for (const toml::node& n : *row.as_array()) all.back().push_back(n.value<T>().value());
  }
  return all;
}

std::vector<Answers> expected(const std::string& machine, const std::string& accounting) {
  const toml::table root = parse_toml(read_file(file, "it ships with the tests"), file);
  std::vector<Answers> list;
  for (const toml::node& node : *root[machine][accounting].as_array()) {
    const toml::table& t = *node.as_table();
    Answers a;
    a.schedule = t["schedule"].value<std::string>().value();
    a.emitted = t["emitted"].value<std::string>().value();
    a.walked = t["walked"].value<std::string>().value();
    a.predicted = lists<std::int64_t>(t, "predicted");
    a.simulated = lists<std::int64_t>(t, "simulated");
    a.achieved = t["achieved"].value<double>().value();
    a.seconds = lists<double>(t, "seconds");
    a.figures = lists<double>(t, "figures");
    list.push_back(std::move(a));
  }
  return list;
}

// Equal but for `relative`, and for `absolute` where a number is rounded.
template <class T>
void expect_near(const std::vector<std::vector<T>>& now, const std::vector<std::vector<T>>& then,
                 double relative, double absolute, const char* what) {
  ASSERT_EQ(now.size(), then.size()) << what;
  for (std::size_t i = 0; i < now.size(); ++i) {
    ASSERT_EQ(now[i].size(), then[i].size()) << what;
    for (std::size_t j = 0; j < now[i].size(); ++j) {
      const auto a = static_cast<double>(now[i][j]), b = static_cast<double>(then[i][j]);
      if (std::isnan(a) && std::isnan(b)) continue;
      EXPECT_NEAR(a, b, relative * std::abs(b) + absolute) << what << " " << i << ", " << j;
    }
  }
}

class Unchanged : public testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(Unchanged, Answers_are_those_of_the_file) {
  const auto& [machine, accounting] = GetParam();
  const std::vector<Answers> then = expected(machine, accounting);
  ASSERT_EQ(then.size(), std::size(workloads));
  std::vector<std::string> schedules;
  for (const Answers& a : then) schedules.push_back(a.schedule);
  const std::vector<Answers> now = answers(machine, accounting, schedules);
  for (std::size_t w = 0; w < now.size(); ++w) {
    SCOPED_TRACE(workloads[w].label);
    SCOPED_TRACE(then[w].schedule);
    EXPECT_EQ(now[w].walked, then[w].walked);
    EXPECT_EQ(now[w].emitted, then[w].emitted);
    EXPECT_EQ(now[w].simulated, then[w].simulated);
    expect_near(now[w].predicted, then[w].predicted, 1e-9, 1, "predicted");
    EXPECT_NEAR(now[w].achieved, then[w].achieved, 1e-6 * then[w].achieved);
    expect_near(now[w].seconds, then[w].seconds, 1e-6, 0, "seconds");
    if (now[w].chosen == then[w].schedule) {
      expect_near(now[w].figures, then[w].figures, 1e-6, 0, "figures");
    }
  }
}

std::string name_of(const testing::TestParamInfo<Unchanged::ParamType>& test) {
  const auto& [machine, accounting] = test.param;
  std::string name = fmt::format("{}_{}", machine, accounting);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Small, Unchanged,
                         testing::Combine(testing::ValuesIn(machines),
                                          testing::ValuesIn(accountings)),
                         name_of);

// The file is worth something only if it has every kind of schedule.
TEST(UnchangedFile, Has_every_kind_of_schedule) {
  const std::vector<Contraction> all = contractions();
  bool both = false, left_only = false, right_only = false, none = false;
  bool exchanged = false, several = false, batch = false;
  for (const std::string& machine : machines) {
    for (const std::string& accounting : accountings) {
      const std::vector<Answers> list = expected(machine, accounting);
      for (std::size_t w = 0; w < list.size(); ++w) {
        const Schedule s = parse_schedule(list[w].schedule, all[w], file);
        const Plan plan(all[w], s);
        const bool left = plan.pack(plan.left()), right = plan.pack(plan.right());
        both |= left && right, left_only |= left && !right, right_only |= !left && right;
        none |= !left && !right;
        exchanged |= plan.left() == TensorId::B;
        several |= s.groups[DimClass::m].size() > 1 && s.groups[DimClass::n].size() > 1 &&
                   s.groups[DimClass::k].size() > 1;
        batch |= !s.groups[DimClass::batch].empty();
      }
    }
  }
  EXPECT_TRUE(both && left_only && right_only && none);
  EXPECT_TRUE(exchanged && several && batch);
}

}  // namespace
}  // namespace tcsim

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (const char* name = std::getenv("TCSIM_WRITE_UNCHANGED")) return tcsim::write(name);
  return RUN_ALL_TESTS();
}
