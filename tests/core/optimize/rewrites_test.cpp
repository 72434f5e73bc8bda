#include "core/optimize/rewrites.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "core/machine/toml.hpp"
#include "core/optimize/exposed.hpp"
#include "core/optimize/optimize.hpp"
#include "core/schedule/path.hpp"
#include "core/workload/parse.hpp"
#include "core/workload/random_contraction.hpp"
#include "core/workload/suite.hpp"
#include "tests/draws.hpp"
#include "tests/seed.hpp"

namespace tcsim {
namespace {

std::set<std::string> lines_of(const Contraction& c, const Machine& m, const std::string& from) {
  std::set<std::string> lines;
  for (const Schedule& s : rewrites(c, m, parse_schedule(from, c, "test"))) {
    lines.insert(to_line(s, c));
  }
  return lines;
}

Contraction f32_of(const char* label, const char* sizes) {
  return parse_contraction(label, parse_sizes(sizes), Layout::row_major, ElementType::f32);
}

TEST(Rewrites, Are_legal_and_of_one_path) {
  const Machine m = find_machine("zen5");
  const std::uint64_t seed = test::new_seed();
  SCOPED_TRACE(seed);
  int rewritten = 0;
  for (const Contraction& c : random_contractions(seed, 12)) {
    const Schedule from = optimize(c, m, for_running()).schedule;
    const std::vector<Schedule> all = rewrites(c, m, from);
    const bool two_sizes = to_line(from, c).find("seq") != std::string::npos;
    EXPECT_TRUE(all.empty() || !two_sizes) << to_line(from, c);
    rewritten += all.empty() ? 0 : 1;
    std::set<std::string> lines{to_line(from, c)};
    for (const Schedule& s : all) {
      ASSERT_TRUE(is_legal(s, c)) << to_line(s, c);
      EXPECT_TRUE(lines.insert(to_line(s, c)).second) << to_line(s, c);
      EXPECT_NO_THROW(only_path(c, s));
      // What they say is what they are.
      EXPECT_EQ(parse_schedule(to_line(s, c), c, "test"), s);
    }
  }
  // One loop around a kernel that nothing else fits has none.
  EXPECT_GE(rewritten, 3);
}

// Sums that are too long for any cache are cut where they fit.
TEST(Rewrites, Put_a_loop_along_k_where_a_cache_has_room) {
  const Contraction c = f32_of("ab-ak-bk", "a=17,b=5,k=300000");
  const Machine m = find_machine("i7-6700k");
  int fitting = 0;
  for (const Schedule& s : rewrites(
           c, m,
           parse_schedule("groups m=b n=a k=k for n by 4 { for m by 3 { kernel 3x4 along k } }", c,
                          "test"))) {
    const Path path = only_path(c, s);
    if (path.steps.front().group != DimClass::k) continue;
    const std::int64_t bytes = path.steps.front().tile * (17 + 5) * 4;
    for (int level = 0; level < m.cache_count(); ++level) {
      const std::int64_t half = m.level(LevelId{level}).capacity.value.value() / 2;
      fitting += bytes <= half && bytes > half - 64 * (17 + 5);
    }
  }
  EXPECT_EQ(fitting, m.cache_count());
}

TEST(Exchanged, Rows_are_the_columns_where_few_results_are_neighbours) {
  const Machine m = find_machine("zen5");
  const std::uint64_t seed = test::new_seed();
  SCOPED_TRACE(seed);
  int some = 0;
  for (const Contraction& c : random_contractions(seed, 60)) {
    const Schedule from = optimize(c, m).schedule;
    for (const Schedule& s : exchanged(c, m, from)) {
      ASSERT_TRUE(is_legal(s, c)) << to_line(s, c);
      EXPECT_NO_THROW(only_path(c, s));
      const auto sorted = [](Group g) { return std::ranges::sort(g), g; };
      EXPECT_EQ(sorted(s.groups[DimClass::m]), sorted(from.groups[DimClass::n]));
      EXPECT_EQ(sorted(s.groups[DimClass::n]), sorted(from.groups[DimClass::m]));
      ++some;
    }
  }
  EXPECT_GT(some, 0);
  const auto of = [&](const Contraction& c, const char* schedule) {
    return exchanged(c, m, parse_schedule(schedule, c, "test")).size();
  };
  EXPECT_GT(of(f32_of("abc-bda-dc", "a=200,b=200,c=4,d=200"),
               "groups m=c n=ab k=d for n by 6 { kernel 16x6 }"),
            0u);
  EXPECT_EQ(of(f32_of("abc-bda-dc", "a=200,b=20,c=64,d=20"),
               "groups m=c n=ab k=d for n by 6 { for m by 16 { kernel 16x6 } }"),
            0u)
      << "64 results are neighbours";
  EXPECT_EQ(of(f32_of("ab-a-b", "a=200,b=4"), "groups m=b n=a for n by 6 { kernel 16x6 }"), 0u)
      << "no sums";
  EXPECT_EQ(of(f32_of("abc-bda-dc", "a=20,b=6,c=4,d=20"),
               "groups m=c n=ab k=d for n by 6 { kernel 16x6 }"),
            0u)
      << "20 calls are noted";
}

// Four results are neighbours in C, and 200 rows of A are.
TEST(Exchanged, Is_chosen_to_run_where_it_promises_more) {
  const Machine m = find_machine("zen5");
  const Contraction c = f32_of("abc-bda-dc", "a=200,b=200,c=4,d=200");
  const Schedule s = optimize(c, m, for_running()).schedule;
  EXPECT_EQ(left_operand(c, s.groups), TensorId::A) << to_line(s, c);
}

TEST(Rewrites, Move_a_pack_around_the_batch_and_take_it_out) {
  const Contraction c = f32_of("hab-hka-hbk", "h=20,a=64,b=48,k=30");
  const Machine m = find_machine("zen5");
  const std::set<std::string> all = lines_of(
      c, m,
      "groups m=b n=a k=k batch=h for batch by 1 { pack B in L3 { for n by 8 { kernel 48x8 } } }");
  EXPECT_TRUE(all.contains(
      "groups m=b n=a k=k batch=h pack B in L3 { for batch by 1 { for n by 8 { kernel 48x8 } } }"));
  EXPECT_TRUE(
      all.contains("groups m=b n=a k=k batch=h for batch by 1 { pack A in L3 { pack B in L3 { "
                   "for n by 8 { kernel 48x8 } } } }"));
  // B's places along k are neighbours, its rows are not: kernels do not read it well in place.
  EXPECT_FALSE(
      all.contains("groups m=b n=a k=k batch=h for batch by 1 { for n by 8 { kernel 48x8 } }"));
}

// A's neighbours are places of the batch: a copy of one place would use an element of each line.
TEST(Rewrites, Pack_several_places_of_the_batch_with_as_many_rows_as_a_cache_holds) {
  const Contraction c = f32_of("dcba-c-cadb", "a=20,b=90,c=70,d=130");
  const Contraction turned = parse_contraction(c.label(), parse_sizes("a=20,b=90,c=70,d=130"),
                                               Layout::column_major, ElementType::f32);
  const Machine m = find_machine("zen5");
  const std::set<std::string> all =
      lines_of(turned, m,
               "groups m=dba batch=c for m by 1040 { for batch by 1 { pack B in L3 { for m by 16 { "
               "kernel 16x1 } } } }");
  const std::string inside = "pack B in L3 { for batch by 1 { for m by 16 { kernel 16x1 } } } }";
  // All places, and the rows that lie together in C; a line's places, and rows for half of a cache.
  EXPECT_TRUE(all.contains("groups m=dba batch=c for m by 130 { " + inside));
  EXPECT_TRUE(
      all.contains("groups m=dba batch=c for m by 384 { for batch by 16 { " + inside + " }"));
  // It is what runs.
  const Schedule s = optimize(turned, m, for_running()).schedule;
  bool around = false;
  for (const Step& step : only_path(turned, s).steps) {
    if (step.kind == Step::Kind::move) around = true;
    if (step.kind == Step::Kind::loop && step.group == DimClass::batch && step.tile == 1) {
      EXPECT_TRUE(around) << to_line(s, turned);
    }
  }
  EXPECT_TRUE(around) << to_line(s, turned);
}

// B's places along k are 23 neighbours, 92 bytes, and those of another place of the batch follow.
// Of 92 neighbours, 368 bytes, a place has lines of its own.
TEST(Rewrites, Pack_several_places_of_the_batch_that_lie_behind_a_few_lines) {
  const Machine m = find_machine("zen5");
  const char* from =
      "groups m=ab n=c k=d batch=e for batch by 1 { pack B in L3 { for n by 6 { for m by 52 { "
      "kernel 52x6 } } } }";
  const std::string together =
      "groups m=ab n=c k=d batch=e for m by 52 { pack B in L3 { for batch by 1 { for n by 6 { "
      "kernel 52x6 } } } }";
  EXPECT_TRUE(
      lines_of(f32_of("ebca-dec-baed", "a=52,b=33,c=17,d=23,e=50"), m, from).contains(together));
  EXPECT_FALSE(
      lines_of(f32_of("ebca-dec-baed", "a=52,b=33,c=17,d=92,e=50"), m, from).contains(together));
}

// What lies together in two tensors leads a group.
TEST(Rewrites, Bring_two_dimensions_forward) {
  const Contraction c = f32_of("abdc-b-cbda", "a=129,b=58,c=97,d=135");
  const Machine m = find_machine("zen5");
  const std::set<std::string> all =
      lines_of(c, m,
               "groups m=cda batch=b for m by 13440 { for batch by 1 { pack B in L3 { for m by 32 "
               "{ kernel 32x1 } } } }");
  EXPECT_TRUE(std::ranges::any_of(
      all, [](const std::string& line) { return line.starts_with("groups m=cad batch=b "); }));
}

TEST(Rewrites, Resize_and_leave_out_loops_and_change_orders) {
  const Contraction c = f32_of("abcd-akbe-cedk", "a=30,b=20,c=30,d=40,k=50,e=6");
  const Machine m = find_machine("zen5");
  const char* const from =
      "groups m=dc n=ba k=ke for k by 50 { pack B in L3 { pack A in L3 { for n by 8 { for m by 48 "
      "{ "
      "kernel 48x8 } } } } }";
  const std::set<std::string> all = lines_of(c, m, from);
  const auto with = [&](const char* head) {
    return std::ranges::any_of(all,
                               [&](const std::string& line) { return line.starts_with(head); });
  };
  EXPECT_TRUE(with("groups m=dc n=ba k=ke for k by 100 { pack B"));
  EXPECT_TRUE(with("groups m=dc n=ba k=ke for k by 25 { pack B"));
  EXPECT_TRUE(with("groups m=dc n=ba k=ke pack B"));
  EXPECT_TRUE(with("groups m=dc n=ba k=ke pack B in L3 { for k by 50 {"));
  EXPECT_TRUE(with("groups m=dc n=ba k=ek for k by 50 { pack B"));
}

TEST(Rewrites, Leave_the_kernel_of_lanes_and_along_k) {
  const Machine m = find_machine("zen5");
  const std::uint64_t seed = test::new_seed();
  SCOPED_TRACE(seed);
  for (const Contraction& c : random_contractions(seed, 30)) {
    const Schedule from = optimize(c, m, for_running()).schedule;
    const Kernel kernel = kernels_of(from.root).front();
    if (!kernel.along_k && !holds_lanes(c, from.groups)) continue;
    for (const Schedule& s : rewrites(c, m, from)) {
      EXPECT_EQ(kernels_of(s.root).front(), kernel) << to_line(s, c);
      EXPECT_EQ(s.groups[DimClass::m], from.groups[DimClass::m]) << to_line(s, c);
    }
  }
}

TEST(Rewrites, Keep_to_rows_that_are_neighbours_in_C) {
  const Contraction c = f32_of("cba-ka-kcb", "a=11,b=30,c=7,k=20");
  const Machine m = find_machine("zen5");
  const std::set<std::string> all =
      lines_of(c, m, "groups m=a n=bc k=k for n by 8 { kernel 16x8 }");
  EXPECT_TRUE(all.contains("groups m=a n=bc k=k for n by 14 { kernel 11x14 }"));
  // A row of 70 that no kernel holds is two of 35; or where A is in place, kernels go no further
  // than its end.
  const Contraction wide = f32_of("bca-kba-kc", "a=70,b=30,c=16,k=20");
  EXPECT_TRUE(
      lines_of(wide, m,
               "groups m=ab n=c k=k pack A in L3 { for n by 8 { for m by 48 { kernel 48x8 } } }")
          .contains(
              "groups m=ab n=c k=k pack A in L3 { for n by 8 { for m by 35 { kernel 35x8 } } }"));
  EXPECT_TRUE(
      lines_of(wide, m, "groups m=ab n=c k=k for n by 8 { for m by 48 { kernel 48x8 } }")
          .contains(
              "groups m=ab n=c k=k for m by 70 { for n by 8 { for m by 48 { kernel 48x8 } } }"));
  Machine plain = find_machine("i7-6700k");
  EXPECT_TRUE(lines_of(c, plain, "groups m=a n=bc k=k for n by 6 { kernel 16x6 }")
                  .contains("groups m=a n=bc k=k for n by 6 { kernel 11x6 }"));
  // Without masks, none has such rows.
  plain.core.vector_bits.value = 128;
  for (const std::string& line :
       lines_of(c, plain, "groups m=a n=bc k=k for n by 6 { for m by 8 { kernel 8x6 } }")) {
    EXPECT_EQ(line.find("kernel 11x"), std::string::npos) << line;
  }
}

TEST(Rewrites, Pack_no_more_than_half_of_the_last_cache) {
  const Machine m = find_machine("zen5");
  const char* const from =
      "groups m=b n=a k=k batch=h for batch by 1 { pack B in L3 { for n by 8 { kernel 48x8 } } }";
  const char* const whole =
      "groups m=b n=a k=k batch=h pack B in L3 { for batch by 1 { for n by 8 { kernel 48x8 } } }";
  const std::int64_t half = m.level(LevelId{2}).capacity.value.value() / 2;
  const std::int64_t places = half / (48 * 30 * 4);
  const auto with = [&](std::int64_t h) {
    return f32_of("hab-hka-hbk", ("a=64,b=48,k=30,h=" + std::to_string(h)).c_str());
  };
  EXPECT_TRUE(lines_of(with(places), m, from).contains(whole));
  EXPECT_FALSE(lines_of(with(places + 1), m, from).contains(whole));
  // One that is larger already may stay so.
  EXPECT_TRUE(lines_of(with(places + 1), m, whole)
                  .contains("groups m=b n=a k=k batch=h pack B in L3 { for batch by 1 { for n by "
                            "13 { for m by 32 { kernel 32x13 } } } }"));
}

TEST(Rewrites, Have_no_loop_that_does_nothing) {
  const Contraction c = f32_of("hab-hak-hkb", "h=100,a=4,b=4,k=4");
  const Machine m = find_machine("zen5");
  for (const std::string& line :
       lines_of(c, m, "groups m=b n=a k=k batch=h for batch by 1 { kernel 4x4 }")) {
    const std::size_t batch = line.find("for batch by"), inside = line.find('{', batch) + 2;
    EXPECT_NE(line.compare(inside, 9, "for batch"), 0) << line;
  }
}

TEST(Rewrites, Leave_images_and_loops_of_two_sizes_alone) {
  const Machine m = find_machine("zen5");
  const Contraction image = find_suite("resnet18").workloads[1];
  EXPECT_TRUE(rewrites(image, m, optimize(image, m, for_running()).schedule).empty());
  const Contraction two = f32_of("ab-ak-bk", "a=34,b=300,k=20");
  EXPECT_TRUE(
      lines_of(two, m,
               "groups m=b n=a k=k pack B in L3 { seq over n { part 22 { for n by 11 { for m "
               "by 32 { kernel 32x11 } } } part 12 { for m by 32 { kernel 32x12 } } } }")
          .empty());
}

// Rows of 11 that begin within C's lines: kernels of 16 or 48 rows break them, and the family has
// no others where the left operand is packed.
TEST(Rewrites, Are_chosen_to_run_where_they_promise_more_and_not_else) {
  const Machine m = find_machine("zen5");
  const Contraction c =
      parse_contraction("fbeac-cdafe-dcba", parse_sizes("a=7,b=50,c=26,d=5,e=37,f=11"),
                        Layout::column_major, ElementType::f32);
  const auto takes = [&](const OptimizeOptions& options) {
    const Optimized o = optimize(c, m, options);
    EXPECT_GE(o.certificate.gap, -1e-9);
    EXPECT_LE(o.certificate.any_bound, o.certificate.relaxed_bound * (1 + 1e-9));
    EXPECT_EQ(o.prediction.timing.total, predict(c, o.schedule, m).timing.total);
    const Exposed waits = exposed(c, o.schedule, o.prediction, m);
    return std::max(slowest_link(o.prediction.timing), o.prediction.timing.compute + waits.all());
  };
  OptimizeOptions within = for_running();
  within.rewrite = false;
  const Optimized family = optimize(c, m, within);
  EXPECT_EQ(family.schedule, build(c, m, family.tiling));
  EXPECT_GT(takes(within) / takes(for_running()), 1.05);
  // Tiles that divide stay within the family.
  OptimizeOptions dividing = for_running();
  dividing.dividing = true;
  const Optimized divides = optimize(c, m, dividing);
  EXPECT_EQ(divides.schedule, build(c, m, divides.tiling));
}

// Written by hand, and by the model quicker than anything the family has.
TEST(Rewrites, Are_chosen_where_the_family_leaves_a_gap) {
  const struct {
    const char *label, *sizes, *machine, *schedule;
    Layout layout;
    ElementType type;
  } cases[] = {
      {"abedc-ab-cdeb", "a=18,b=24,c=178,d=85,e=9", "i7-6700k",
       "groups m=a n=edc batch=b for n by 12 { for batch by 1 { pack A in L3 { pack B in L3 { for "
       "m by 8 { kernel 8x12 } } } } }",
       Layout::column_major, ElementType::f32},
      {"acbe-dc-deabc", "a=34,b=90,c=6,d=18,e=15", "gold-6130",
       "groups m=c n=eba k=d for n by 1768 { for n by 888 { for k by 9 { for n by 8 { kernel 6x8 } "
       "} } }",
       Layout::row_major, ElementType::f32},
      {"cae-deab-cdb", "a=7,b=10,c=37,d=11,e=166", "e5-2680v4",
       "groups m=c n=ea k=db pack B in L3 { for n by 12 { for m by 8 { kernel 8x12 } } }",
       Layout::column_major, ElementType::f32},
      // Whose kernels gather rows of A.
      {"edc-eabc-adb", "a=14,b=11,c=5,d=13,e=25", "i7-6700k",
       "groups m=ce n=d k=ba for m by 80 { for m by 8 { for n by 5 { kernel 8x5 } } }",
       Layout::row_major, ElementType::f64},
      {"fecd-abcdf-bae", "a=14,b=43,c=26,d=53,e=8,f=13", "i7-6700k",
       "groups m=fdc n=e k=ab for m by 1056 { for k by 82 { for m by 8 { kernel 8x8 } } }",
       Layout::row_major, ElementType::f32},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.label);
    const Machine m = find_machine(one.machine);
    const Contraction c =
        parse_contraction(one.label, parse_sizes(one.sizes), one.layout, one.type);
    const Optimized o = optimize(c, m);
    EXPECT_TRUE(o.rewritten);
    EXPECT_GE(o.certificate.gap, -1e-9);
    const Schedule by_hand = parse_schedule(one.schedule, c, "by hand");
    EXPECT_LE(o.prediction.timing.total, predict(c, by_hand, m).timing.total * 1.001);
    EXPECT_GT(predict(c, build(c, m, o.tiling), m).timing.total / o.prediction.timing.total, 1.01);
    // Elsewhere it is tried as it is, and goes on from there.
    Machine faster = m;
    for (Level& l : faster.levels) l.bandwidth.value.value *= 1.1;
    faster.levels[2].name = "LLC";
    OptimizeOptions options;
    options.incumbents = {o.incumbent()};
    EXPECT_LE(optimize(c, faster, options).prediction.timing.total,
              predict(c, build(c, faster, o.incumbent()), faster).timing.total);
    EXPECT_NO_THROW(check(build(c, faster, o.incumbent()), c, {"L1", "L2", "LLC"}, "elsewhere"));
  }
}

// One change of an answer seldom makes it better by more than a percent, whatever was drawn.
TEST(Rewrites, Find_little_beside_an_answer) {
  const std::uint64_t seed = test::new_seed();
  SCOPED_TRACE(seed);
  const Machine m = find_machine("i7-6700k");
  int better = 0, all = 0;
  for (const Contraction& c : random_contractions(seed, test::draws(40))) {
    const Optimized o = optimize(c, m);
    const Seconds time = o.prediction.timing.total;
    ++all;
    SharedCounts counts;
    better +=
        std::ranges::any_of(rewrites(c, m, o.schedule, ReadInPlace::any), [&](const Schedule& s) {
          return predict(c, s, m, counts, 1, Detail::coarse).timing.total * 1.01 < time &&
                 predict(c, s, m).timing.total * 1.01 < time;
        });
  }
  EXPECT_LE(10 * better, all + 10);
}

}  // namespace
}  // namespace tcsim
