// The catalog of this machine's kernels: what is measured, and when the kept one counts.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <tuple>

#include "bench/kernels.hpp"
#include "core/error.hpp"
#include "core/units/text.hpp"
#include "kernels/shapes.hpp"
#include "microbench/host.hpp"
#include "microbench/keep.hpp"
#include "tests/core/made_up_catalog.hpp"
#include "tests/core/refusal.hpp"
#include "tests/scratch.hpp"

namespace tcsim::bench {
namespace {

using test::refusal_of;

// With a cache folder of its own.
class Kept_kernel_catalog : public testing::Test {
 protected:
  Kept_kernel_catalog() {
    std::filesystem::remove_all(folder_);
    setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
  }
  ~Kept_kernel_catalog() override {
    setenv("XDG_CACHE_HOME", before_.c_str(), 1);
    if (before_.empty()) unsetenv("XDG_CACHE_HOME");
    std::filesystem::remove_all(folder_);
  }

  static KernelCatalog of_this_machine() {
    KernelCatalog c = test::made_up_catalog();
    c.processor = this_processor();
    c.first_cache = first_cache();
    for (MeasuredKernel& m : c.kernels) m.instruction_set = to_text(best_instruction_set());
    return c;
  }
  static std::string refusal(const KernelCatalog& c) {
    EXPECT_TRUE(keep(to_toml(c), kernel_catalog_file()));
    return refusal_of([] { host_kernel_catalog(); });
  }

  const std::filesystem::path folder_ = test::scratch("kernel_catalog");
  const std::string before_ = getenv("XDG_CACHE_HOME") ? getenv("XDG_CACHE_HOME") : "";
};

TEST_F(Kept_kernel_catalog, Is_beside_the_machine_file) {
  EXPECT_EQ(kernel_catalog_file(), folder_ / "tcsim" / "kernels.toml");
  EXPECT_EQ(kernel_catalog_file().parent_path(), host_file().parent_path());
}

TEST_F(Kept_kernel_catalog, Is_read_where_it_is_of_this_machine) {
  EXPECT_EQ(refusal(of_this_machine()), "");
  EXPECT_EQ(host_kernel_catalog(), of_this_machine());
}

TEST_F(Kept_kernel_catalog, Is_refused_where_there_is_none_or_it_is_of_another_machine) {
  const std::string missing = refusal_of([] { host_kernel_catalog(); });
  EXPECT_EQ(missing, kernel_catalog_file().string() +
                         ": the kernels of this machine have not been measured; run 'tcsim probe "
                         "--kernels'");
  KernelCatalog c = of_this_machine();
  c.processor = "another";
  EXPECT_NE(refusal(c).find("it is of another processor (another; this one is "),
            std::string::npos);
  c = of_this_machine();
  c.first_cache = first_cache() * 2;
  EXPECT_NE(refusal(c).find("it is of a first cache of " + to_text(c.first_cache)),
            std::string::npos);
  c = of_this_machine();
  for (MeasuredKernel& m : c.kernels) m.instruction_set = "avx4096";
  EXPECT_NE(refusal(c).find("it has no kernel of"), std::string::npos);
  std::ofstream(kernel_catalog_file()) << "{";
  EXPECT_NE(refusal_of([] { host_kernel_catalog(); }).find("kernels.toml:1:1: "),
            std::string::npos);
}

KernelOptions quick() {
  KernelOptions options;
  options.repetitions = 1;
  options.at_least = Seconds(1e-6);
  return options;
}

TEST(Measured_kernels, Have_every_shape_that_runs_here_and_read_back) {
  KernelOptions options = quick();
  options.sets = {InstructionSet::avx512, InstructionSet::avx2, InstructionSet::plain};
  options.schemes = {KernelScheme::packed};
  double before = 0;
  options.progress = [&](const std::string& what, double share) {
    EXPECT_FALSE(what.empty());
    EXPECT_TRUE(before <= share && share < 1) << share;
    before = share;
  };
  const KernelCatalog catalog = measure_kernels(options, "0.1.0");
  EXPECT_GT(before, 0.9);
  EXPECT_EQ(catalog.processor, this_processor());
  EXPECT_TRUE(catalog.day.ok());
  // Those that schedules name are among them.
  for (const KernelShape& s : kernel_shapes()) {
    if (!can_run(s.needs)) continue;
    EXPECT_TRUE(std::ranges::any_of(catalog.kernels,
                                    [&](const MeasuredKernel& m) {
                                      return m.rows == s.mr && m.columns == s.nr &&
                                             m.instruction_set == to_text(s.needs) &&
                                             m.element == size_of(s.type);
                                    }))
        << to_text(s.needs) << " " << s.mr.value() << "x" << s.nr.value();
  }
  EXPECT_EQ(parse_kernel_catalog(to_toml(catalog), "text"), catalog);
}

TEST(Measured_kernels, Are_of_the_best_instruction_set_in_both_types_and_schemes) {
  const KernelCatalog catalog = measure_kernels(quick(), "0.1.0");
  std::set<std::tuple<Bytes, KernelScheme>> classes;
  for (const MeasuredKernel& m : catalog.kernels) {
    EXPECT_EQ(m.instruction_set, to_text(best_instruction_set()));
    classes.insert({m.element, m.scheme});
  }
  EXPECT_EQ(classes.size(), 4u);
}

TEST(Measured_kernels, Stop_between_two_repetitions) {
  std::stop_source stop;
  KernelOptions options = quick();
  options.stop = stop.get_token();
  int begun = 0;
  options.progress = [&](const std::string&, double) {
    if (++begun == 3) stop.request_stop();
  };
  EXPECT_THROW(measure_kernels(options, "0.1.0"), Interrupted);
  EXPECT_EQ(begun, 3);
}

}  // namespace
}  // namespace tcsim::bench
