// The microkernel in intrinsics, every accumulator a variable of its own, and the plain loop that
// stands in for it where the processor lacks the instructions or the shape is no whole vector.
#include <fmt/format.h>

#include "emit/parts.hpp"
#include "emit/text.hpp"
#include "emit/vectors.hpp"

namespace tcsim::emit {

namespace {

constexpr const char* signature =
    "static void @multiply_{0}(size_t kc, const {1} *left, const {1} *right, {1} *c,\n"
    "                          const size_t *columns, int overwrite) {{";

class VectorKernel {
 public:
  VectorKernel(const Plan& plan, const Vectors& vectors)
      : vectors_(vectors),
        type_(plan.contraction().type()),
        element_(element_name(plan)),
        mr_(plan.mr()),
        nr_(plan.nr()),
        lanes_(vectors.lanes(type_)),
        column_(mr_ / lanes_) {}

  std::string text() {
    Lines head;
    if (*vectors_.target) head.add(fmt::format("__attribute__((target(\"{}\")))", vectors_.target));
    lines_.add(fmt::format(fmt::runtime(signature), to_text(vectors_.set), element_));
    lines_.add("/* C is needed after the loop only: its lines come meanwhile. */");
    lines_.add(fmt::format("for (size_t j = 0; j < {}; ++j) {{", nr_));
    for (std::int64_t v = 0; v < column_; ++v) {
      lines_.add(fmt::format("__builtin_prefetch(c + columns[j]{}, 1);", plus(v * lanes_)));
    }
    lines_.add("}");
    lines_.add(
        "/* Else those addresses would be kept through the loop, in vector registers too. */");
    lines_.add("__asm__(\"\" : \"+r\"(columns));");
    sums();
    products();
    results();
    lines_.add("}");
    return head.text() + lines_.text();
  }

 private:
  std::string call(const char* name) const { return vectors_.call(type_, name); }
  static std::string plus(std::int64_t n) { return n == 0 ? "" : fmt::format(" + {}", n); }
  static std::string sum(std::int64_t j, std::int64_t v) { return fmt::format("c{}_{}", j, v); }

  template <class F>
  void each_sum(F&& f) {
    for (std::int64_t j = 0; j < nr_; ++j) {
      for (std::int64_t v = 0; v < column_; ++v) f(j, v);
    }
  }

  void sums() {
    each_sum([&](std::int64_t j, std::int64_t v) {
      lines_.add(fmt::format("{} {} = {}();", vectors_.type(type_), sum(j, v), call("setzero")));
    });
  }

  void products() {
    lines_.add("for (; kc > 0; --kc) {");
    for (std::int64_t v = 0; v < column_; ++v) {
      lines_.add(fmt::format("const {} a{} = {}(left{});", vectors_.type(type_), v, call("loadu"),
                             plus(v * lanes_)));
    }
    for (std::int64_t j = 0; j < nr_; ++j) {
      lines_.add(
          fmt::format("const {} b{} = {}(right[{}]);", vectors_.type(type_), j, call("set1"), j));
      for (std::int64_t v = 0; v < column_; ++v) {
        if (vectors_.set == VectorSet::sse2) {
          lines_.add(fmt::format("{0} = {1}({0}, {2}(a{3}, b{4}));", sum(j, v), call("add"),
                                 call("mul"), v, j));
        } else {
          lines_.add(fmt::format("{0} = {1}(a{2}, b{3}, {0});", sum(j, v), call("fmadd"), v, j));
        }
      }
    }
    lines_.add(fmt::format("left += {};", mr_));
    lines_.add(fmt::format("right += {};", nr_));
    lines_.add("}");
  }

  std::string place(std::int64_t j, std::int64_t v) const {
    return fmt::format("c + columns[{}]{}", j, plus(v * lanes_));
  }

  void results() {
    lines_.add("if (!overwrite) {");
    each_sum([&](std::int64_t j, std::int64_t v) {
      lines_.add(fmt::format("{0} = {1}({0}, {2}({3}));", sum(j, v), call("add"), call("loadu"),
                             place(j, v)));
    });
    lines_.add("}");
    each_sum([&](std::int64_t j, std::int64_t v) {
      lines_.add(fmt::format("{}({}, {});", call("storeu"), place(j, v), sum(j, v)));
    });
  }

  const Vectors& vectors_;
  ElementType type_;
  std::string element_;
  std::int64_t mr_, nr_, lanes_, column_;
  Lines lines_;
};

constexpr std::string_view about = R"(
/* c[columns[j] + i] (+)= sum over p < kc of left[i + $MR p] right[j + $NR p], for i < $MR, j < $NR. */
typedef void @kernel_code(size_t kc, const $T *left, const $T *right, $T *c, const size_t *columns,
                     int overwrite);

)";

constexpr std::string_view portable =
    R"(static void @multiply_portable(size_t kc, const $T *left, const $T *right, $T *c,
                               const size_t *columns, int overwrite) {
  $T sum[$NR][$MR] = {{0}};
  for (; kc > 0; --kc) {
    for (size_t j = 0; j < $NR; ++j) {
      for (size_t i = 0; i < $MR; ++i) sum[j][i] += left[i] * right[j];
    }
    left += $MR;
    right += $NR;
  }
  for (size_t j = 0; j < $NR; ++j) {
    $T *const to = c + columns[j];
    for (size_t i = 0; i < $MR; ++i) to[i] = overwrite ? sum[j][i] : to[i] + sum[j][i];
  }
}
)";

}  // namespace

std::string kernel_functions(const Plan& plan) {
  if (plan.lanes()) return {};  // sums along the rows stand in the loops
  const Values values{{"T", element_name(plan)},
                      {"MR", std::to_string(plan.mr())},
                      {"NR", std::to_string(plan.nr())}};
  const std::string loop = fill_in(portable, values);
  std::string text = fill_in(about, values);
  const Vectors* vectors = find_vectors(plan.mr(), plan.nr(), plan.contraction().type());
  const std::string name =
      vectors ? fmt::format("@multiply_{}", to_text(vectors->set)) : "@multiply_portable";
  if (!vectors) {
    text += loop;
    text += fmt::format("\nstatic @kernel_code *@best_kernel(void) {{ return {}; }}\n", name);
    return text;
  }
  text += "#if defined(@VECTORS)\n" + VectorKernel(plan, *vectors).text();
  if (!*vectors->test) {
    text += fmt::format("static @kernel_code *@best_kernel(void) {{ return {}; }}\n#else\n", name);
    text += loop;
    text += "static @kernel_code *@best_kernel(void) { return @multiply_portable; }\n#endif\n";
    return text;
  }
  text += "#endif\n\n" + loop;
  text += fmt::format(
      "\nstatic @kernel_code *@best_kernel(void) {{\n#if defined(@VECTORS)\n"
      "  if ({}) return {};\n#endif\n  return @multiply_portable;\n}}\n",
      vectors->test, name);
  return text;
}

std::string kernel_name(const Plan& plan) {
  const Vectors* vectors = find_vectors(plan.mr(), plan.nr(), plan.contraction().type());
  const std::string definition = "  const char *const kernel = ";
  if (!vectors || plan.lanes()) return definition + "\"portable\";\n";
  const std::string name = to_text(vectors->set);
  if (*vectors->test) {
    return fmt::format("{}@best_kernel() == @multiply_{} ? \"portable\" : \"{}\";\n", definition,
                       "portable", name);
  }
  return fmt::format("#if defined(@VECTORS)\n{0}\"{1}\";\n#else\n{0}\"portable\";\n#endif\n",
                     definition, name);
}

}  // namespace tcsim::emit
