// What the emitter writes, compiled and run. Without a C compiler these tests are skipped.
#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include "core/workload/contraction_view.hpp"
#include "core/workload/convolution.hpp"
#include "core/workload/parse.hpp"
#include "emit/emit.hpp"
#include "kernels/shapes.hpp"
#include "tests/core/random_convolution.hpp"
#include "tests/groups.hpp"
#include "tests/kernels/build.hpp"
#include "tests/kernels/random_case.hpp"
#include "tests/scratch.hpp"

// Sanitizers take long to compile for at -O3.
#ifdef TCSIM_SANITIZE
#define TCSIM_COMPILED "-O1 " TCSIM_SANITIZE
#else
#define TCSIM_COMPILED "-O3"
#endif

namespace tcsim {
namespace {

namespace fs = std::filesystem;

bool installed(const std::string& program) {
  return std::system(("command -v " + program + " >/dev/null 2>&1").c_str()) == 0;
}

// A folder of its own, which is gone afterwards.
class Emitted : public testing::Test {
 protected:
  void SetUp() override {
    if (!installed("cc")) GTEST_SKIP() << "there is no C compiler called cc";
    folder_ = test::scratch("emit_test");
    fs::create_directories(folder_);
  }
  void TearDown() override {
    if (!folder_.empty()) fs::remove_all(folder_);
  }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }

  struct Ran {
    int code;
    std::string said;
  };
  Ran run(const std::string& command) const {
    const int status = std::system((command + " >" + path("said") + " 2>&1").c_str());
    std::ifstream in(folder_ / "said");
    return {WEXITSTATUS(status), {std::istreambuf_iterator<char>(in), {}}};
  }
  // All warnings are errors.
  Ran compile(const std::string& compiler, const std::string& options, const std::string& from,
              const std::string& to) const {
    return run(fmt::format("{} -std=c11 -Wall -Wextra -Wshadow -Werror {} {} -o {}", compiler,
                           options, path(from), path(to)));
  }

 private:
  fs::path folder_;
};

struct Case {
  Plan plan;
  std::string prefix;
  bool portable;
};

// Whole numbers, small enough that every sum is exact in whatever order it is formed.
template <class T>
std::vector<T> whole_numbers(Random& random, Elements size) {
  std::vector<T> numbers(static_cast<std::size_t>(size.value()));
  for (T& x : numbers) x = static_cast<T>(between(random, -8, 8));
  return numbers;
}

template <class T>
std::vector<long double> exact(const std::vector<T>& numbers) {
  return {numbers.begin(), numbers.end()};
}

template <class T>
void expect_correct(void* library, const Case& one, Random& random) {
  using Contract = int(const T*, const T*, T*);
  auto* contract = reinterpret_cast<Contract*>(dlsym(library, (one.prefix + "contract").c_str()));
  auto* release =
      reinterpret_cast<void (*)()>(dlsym(library, (one.prefix + "contract_release").c_str()));
  ASSERT_TRUE(contract && release) << one.prefix;
  const Contraction& c = one.plan.contraction();
  const auto a = whole_numbers<T>(random, c.size(TensorId::A));
  const auto b = whole_numbers<T>(random, c.size(TensorId::B));
  const auto a_before = a, b_before = b;
  const auto wanted = evaluate(c, exact(a), exact(b));
  // Twice, since the second call finds the workspace of the first.
  for (int call = 0; call < 2; ++call) {
    std::vector<T> result(wanted.size(), std::numeric_limits<T>::quiet_NaN());
    ASSERT_EQ(contract(a.data(), b.data(), result.data()), 0);
    EXPECT_EQ(exact(result), wanted);
  }
  EXPECT_EQ(a, a_before);
  EXPECT_EQ(b, b_before);
  release();
}

// Batch dimensions as the rows of a kernel, whole tiles and parts, packed and in place.
void add_lanes(std::vector<Case>& cases) {
  const auto add = [&](const Contraction& c, const std::string& schedule) {
    const Schedule s = parse_schedule(schedule, c, "test");
    check(s, c, {"L1"}, "test");
    cases.push_back({Plan(c, s), fmt::format("lanes{}_", cases.size()), false});
  };
  const Contraction depthwise = contraction_of(parse_convolution(
      "conv2d", "n=2,k=24,c=24,h=9,w=10,r=3,s=3,stride=2,groups=24,layout=nhwc", ElementType::f32));
  add(depthwise, "groups m=g n=xynk k=csr for n by 4 { for m by 16 { kernel 16x4 } }");
  add(depthwise,
      "groups m=g n=xynk k=csr for k by 3 { pack B in L1 { for m by 8 { for n by 7 { kernel 8x7 "
      "} } } }");
  const Contraction plain = parse_contraction("hab-kahb-kh", parse_sizes("h=11,a=3,b=4,k=7"),
                                              Layout::row_major, ElementType::f64);
  add(plain, "groups m=h n=ab k=k for m by 4 { for k by 2 { for n by 5 { kernel 4x5 } } }");
  const Contraction rows = parse_contraction("hab-kah-kbh", parse_sizes("h=11,a=3,b=4,k=7"),
                                             Layout::row_major, ElementType::f64);
  add(rows,
      "groups m=h n=b k=k batch=a for m by 4 { for batch by 1 { pack A in L1 { for n by 3 { kernel "
      "4x3 } } } }");
}

// A random contraction in a random schedule for every kernel shape of the executor's list and some
// others; of every third only the portable kernel.
std::vector<Case> random_cases(Random& random) {
  std::vector<KernelShape> shapes = kernel_shapes();
  for (ElementType type : {ElementType::f64, ElementType::f32}) {
    for (const auto& [mr, nr] : {std::pair{1, 1}, {5, 7}, {16, 3}, {13, 1}}) {
      shapes.push_back({Elements(mr), Elements(nr), InstructionSet::plain, type});
    }
  }
  std::vector<Case> cases;
  for (const KernelShape& shape : shapes) {
    const Contraction c =
        cases.size() % 2 == 0
            ? random_contraction(random, shape.type, 6000)
            : test::random_convolution(
                  [&](std::int64_t low, std::int64_t high) { return between(random, low, high); },
                  shape.type);
    const Schedule s = random_schedule(random, c, shape.mr.value(), shape.nr.value());
    check(s, c, {"L1", "L2", "L3"}, "test");
    cases.push_back({Plan(c, s), fmt::format("case{}_", cases.size()), cases.size() % 3 == 2});
  }
  // Two kernels that meet within a tile: rows from there on go over the end of a run in C.
  const Contraction c = parse_contraction("znx-zxk-kn", parse_sizes("x=8,z=3,n=2,k=5"),
                                          Layout::row_major, ElementType::f64);
  const Schedule s = parse_schedule(
      "groups m=xz n=n k=k seq over m { part 5 { for m by 4 { kernel 4x2 } }"
      " part 19 { for m by 4 { kernel 4x2 } } }",
      c, "test");
  check(s, c, {"L1"}, "test");
  cases.push_back({Plan(c, s), "meeting_", false});
  add_lanes(cases);
  return cases;
}

TEST_F(Emitted, Random_contractions_in_random_schedules_are_computed_exactly) {
  constexpr std::uint64_t seed = 1;
  SCOPED_TRACE(fmt::format("seed {}", seed));
  Random random(seed);
  const std::vector<Case> cases = random_cases(random);
  std::string all = "#define TCSIM_NO_MAIN\n";
  for (const Case& one : cases) {
    const std::string text = emit_c(one.plan, {one.prefix, 1, {}});
    all += one.portable ? "#define TCSIM_PORTABLE\n" + text + "#undef TCSIM_PORTABLE\n" : text;
  }
  write("cases.c", all);
  const Ran compiled = compile("cc", TCSIM_COMPILED " -shared -fPIC", "cases.c", "cases.so");
  ASSERT_EQ(compiled.code, 0) << compiled.said.substr(0, 4000);
  void* library = dlopen(path("cases.so").c_str(), RTLD_NOW);
  ASSERT_TRUE(library) << dlerror();
  for (const Case& one : cases) {
    const Contraction& c = one.plan.contraction();
    SCOPED_TRACE(fmt::format("{}: {} {} {} {}{}: {}", one.prefix, c.label(), c.sizes(),
                             to_text(c.layout()), to_text(c.type()),
                             one.portable ? " portable" : "",
                             to_line(one.plan.schedule(), one.plan.contraction())));
    if (c.type() == ElementType::f64) {
      expect_correct<double>(library, one, random);
    } else {
      expect_correct<float>(library, one, random);
    }
  }
  dlclose(library);
}

// Partial tiles on every side, k in pieces, one operand packed and one read in place.
Plan small_product() {
  const Contraction c = contraction("ijl", "ik", "kjl", {{'i', 53}, {'j', 5}, {'l', 6}, {'k', 70}});
  Schedule s;
  s.groups = test::groups(c, {"i", "jl", "k", ""});
  s.root =
      loop(DimClass::k, 30,
           pack(TensorId::A, "L2", loop(DimClass::n, 8, loop(DimClass::m, 24, kernel(24, 8)))));
  check(s, c, {"L1", "L2"}, "test");
  return Plan(c, s);
}

TEST_F(Emitted, A_program_times_itself_and_checks_its_result) {
  const std::string text = emit_c(small_product());
  write("good.c", text);
  for (const std::string compiler : {"cc", "clang"}) {
    if (!installed(compiler)) continue;
    const Ran compiled = compile(compiler, "-O3", "good.c", "good");
    ASSERT_EQ(compiled.code, 0) << compiled.said;
    const Ran ran = run(path("good") + " 1");
    EXPECT_EQ(ran.code, 0) << ran.said;
    EXPECT_NE(ran.said.find("GFLOPS (median of 1"), ran.said.npos) << ran.said;
    EXPECT_NE(ran.said.find("check passed"), ran.said.npos) << ran.said;
  }
  EXPECT_EQ(run(path("good") + " none").code, 2);

  // One wrong element of 1590, or one that is no number.
  for (const std::string damage : {"C[7] += 1e-9;", "C[1589] = 0.0 / 0.0;"}) {
    const std::string end = "  return 0;\n}\n\n#ifndef TCSIM_NO_MAIN";
    const auto place = text.find(end);
    ASSERT_NE(place, text.npos);
    write("bad.c", std::string(text).insert(place, damage));
    ASSERT_EQ(compile("cc", "-O1", "bad.c", "bad").code, 0);
    const Ran ran = run(path("bad") + " 1");
    EXPECT_EQ(ran.code, 1) << ran.said;
    EXPECT_NE(ran.said.find("check FAILED"), ran.said.npos) << ran.said;
  }
}

// With a prefix a name at file level cannot be one inside a function; without one it must not be.
TEST_F(Emitted, Names_do_not_clash_without_a_prefix) {
  const Contraction c =
      contraction("amn", "mka", "nka", {{'a', 2}, {'m', 50}, {'n', 20}, {'k', 40}});
  std::string files;
  for (const std::string body :
       {"pack A in L2 { pack B in L1 { $ } }", "pack A in L2 { $ }", "pack B in L2 { $ }", "$"}) {
    std::string schedule =
        "groups m=m n=n k=k batch=a for batch by 1 { for k by 30 { " + body + " } }";
    schedule.replace(schedule.find('$'), 1,
                     "for m by 48 { for m by 24 { for n by 8 { kernel 24x8 } } }");
    const Schedule s = parse_schedule(schedule, c, "test");
    check(s, c, {"L1", "L2"}, "test");
    const std::string name = fmt::format("bare{}.c", files.size());
    write(name, emit_c(Plan(c, s)));
    files += " " + path(name);
  }
  const Ran ran = run("cc -std=c11 -fsyntax-only -Wall -Wextra -Wshadow -Werror" + files);
  EXPECT_EQ(ran.code, 0) << ran.said;
}

}  // namespace
}  // namespace tcsim
