// The kernels' catalog: what is measured, its text, and where it is kept.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "bench/kernels.hpp"
#include "core/error.hpp"
#include "kernels/shapes.hpp"
#include "microbench/host.hpp"

namespace tcsim::bench {
namespace {

KernelCatalog catalog() {
  return {"0.1.0",
          this_processor(),
          {{{Elements(24), Elements(8), InstructionSet::avx512, ElementType::f64},
            {{8, FlopsPerSecond(40e9), 0.5}, {16, FlopsPerSecond(60e9), 0.75}}},
           {{Elements(4), Elements(12), InstructionSet::plain, ElementType::f32}, {}}}};
}

TEST(Kernel_catalog, Reads_back_what_it_writes) {
  const KernelCatalog c = parse_catalog(to_json(catalog()), "test");
  EXPECT_EQ(c.tcsim_version, "0.1.0");
  EXPECT_EQ(c.processor, this_processor());
  ASSERT_EQ(c.kernels.size(), 2u);
  EXPECT_EQ(c.kernels[0].shape.mr, Elements(24));
  EXPECT_EQ(c.kernels[0].shape.needs, InstructionSet::avx512);
  ASSERT_EQ(c.kernels[0].points.size(), 2u);
  EXPECT_EQ(c.kernels[0].points[1].k, 16);
  EXPECT_DOUBLE_EQ(c.kernels[0].points[1].rate.value(), 60e9);
  EXPECT_DOUBLE_EQ(c.kernels[0].best_of_peak(), 0.75);
  EXPECT_EQ(c.kernels[1].shape.type, ElementType::f32);
  EXPECT_EQ(to_json(c), to_json(catalog()));
}

TEST(Kernel_catalog, Refuses_what_is_none) {
  std::string newer = to_json(catalog());
  newer.replace(newer.find("\"schema\": 1"), 11, "\"schema\": 2");
  for (const std::string& text : {std::string(), std::string("{}"), std::string("[1"), newer}) {
    EXPECT_THROW(parse_catalog(text, "file"), InputError) << text;
  }
}

TEST(Kernel_catalog, Is_kept_in_the_cache_folder_for_this_processor) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / "tcsim_kernel_catalog";
  std::filesystem::remove_all(folder);
  const char* before = getenv("XDG_CACHE_HOME");
  const std::string old = before == nullptr ? "" : before;
  setenv("XDG_CACHE_HOME", folder.c_str(), 1);
  EXPECT_EQ(catalog_file(), folder / "tcsim" / "kernels.json");
  EXPECT_FALSE(kept_catalog());
  EXPECT_TRUE(keep(catalog()));
  ASSERT_TRUE(kept_catalog());
  EXPECT_EQ(to_json(*kept_catalog()), to_json(catalog()));
  KernelCatalog other = catalog();
  other.processor = "another";
  EXPECT_TRUE(keep(other));
  EXPECT_FALSE(kept_catalog());
  std::ofstream(catalog_file()) << "{";
  EXPECT_FALSE(kept_catalog());
  setenv("XDG_CACHE_HOME", old.c_str(), 1);
  if (before == nullptr) unsetenv("XDG_CACHE_HOME");
  std::filesystem::remove_all(folder);
}

TEST(Kernel_catalog, Has_every_shape_that_runs_here) {
  KernelOptions options;
  options.repetitions = 1;
  options.at_least = Seconds(1e-6);
  const std::vector<MeasuredKernel> all = bench_kernels(options);
  // Those that schedules name are among them.
  for (const KernelShape& s : kernel_shapes()) {
    if (!can_run(s.needs)) continue;
    EXPECT_TRUE(std::ranges::any_of(all,
                                    [&](const MeasuredKernel& m) {
                                      return m.shape.mr == s.mr && m.shape.nr == s.nr &&
                                             m.shape.needs == s.needs && m.shape.type == s.type;
                                    }))
        << to_text(s.needs) << " " << s.mr.value() << "x" << s.nr.value();
  }
  for (const MeasuredKernel& m : all) {
    ASSERT_FALSE(m.points.empty());
    for (const KernelPoint& p : m.points) EXPECT_GT(p.rate.value(), 0);
  }
  std::stop_source stop;
  stop.request_stop();
  options.stop = stop.get_token();
  EXPECT_THROW(bench_kernels(options), Interrupted);
}

}  // namespace
}  // namespace tcsim::bench
