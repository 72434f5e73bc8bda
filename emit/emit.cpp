#include "emit/emit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "core/error.hpp"
#include "core/text/safe.hpp"
#include "emit/parts.hpp"
#include "emit/text.hpp"

namespace tcsim {

namespace emit {

std::string element_name(const Plan& plan) {
  return plan.contraction().type() == ElementType::f64 ? "double" : "float";
}

namespace {

constexpr std::string_view declarations = R"(
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* madvise(), clock_gettime() and sysconf() under -std=c11 */
#endif
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif
#if defined(__x86_64__) && !defined(TCSIM_PORTABLE)
#define @VECTORS
#include <immintrin.h>
#endif
#ifndef TCSIM_NO_MAIN
#include <math.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#endif

/* C = A B, which must not overlap; what was in C does not matter. Returns 0, or -1 where there is no
   memory for the workspace: the packed copies, which each calling thread keeps from one call to
   the next. */
int @contract(const $T *A, const $T *B, $T *C);
/* Frees the calling thread's workspace. */
void @contract_release(void);
)";

// Defined where they are used.
constexpr std::string_view least = R"(
static inline size_t @least(size_t a, size_t b) { return a < b ? a : b; }
)";
constexpr std::string_view round_up = R"(
static inline size_t @round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }
)";
constexpr std::string_view allocate = R"(
/* Memory for so many elements, in huge pages where there are any; NULL if there is none. */
static void *@allocate(size_t count, size_t element) {
  const size_t huge = (size_t)2 << 20;
  const size_t page = count < huge / element ? 4096 : huge;
  if (count > (SIZE_MAX - page) / element) return NULL;
  const size_t bytes = (count * element + page - 1) / page * page;
  void *const place = aligned_alloc(page, bytes);
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  if (place != NULL && page == huge) madvise(place, bytes, MADV_HUGEPAGE); /* advice only */
#endif
  return place;
}
)";

void check_prefix(const std::string& prefix) {
  const auto allowed = [](char c) {
    return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
  };
  if (std::ranges::all_of(prefix, allowed) && (prefix.empty() || std::isdigit(prefix[0]) == 0)) {
    return;
  }
  throw UsageError("prefix", fmt::format("no name in C begins with '{}'", prefix),
                   "use letters, digits and '_', not a digit first");
}

void check_kernel(const Plan& plan) {
  if (plan.mr() <= max_kernel / plan.nr()) return;
  throw UnsupportedError(
      plan.contraction().name(),
      fmt::format("a kernel of {}x{} results is too large to write", plan.mr(), plan.nr()),
      fmt::format("use one of at most {}", max_kernel));
}

std::string comment(const Plan& plan, const EmitOptions& options) {
  const Contraction& c = plan.contraction();
  std::vector<std::string> lines;
  lines.push_back(fmt::format("C = A B: {}  {}  {}  {} {}", c.name(),
                              c.label() == c.name() ? "" : c.label(), c.sizes(), to_text(c.type()),
                              to_text(c.layout())));
  lines.push_back("");
  lines.push_back("    cc -O3 THIS_FILE.c -o contraction && ./contraction 5");
  lines.push_back("");
  lines.push_back(
      "runs it five times, checks it and prints the median time. For use in a program:");
  lines.push_back(fmt::format(
      "-DTCSIM_NO_MAIN, and {}contract() below. -DTCSIM_PORTABLE leaves out the intrinsics.",
      options.prefix));
  if (!options.remarks.empty()) lines.push_back("");
  lines.insert(lines.end(), options.remarks.begin(), options.remarks.end());
  lines.push_back("");
  lines.push_back("The schedule, as tcsim reads it:");
  lines.push_back("");
  for (const std::string& line : lines_of(to_text(plan.schedule(), plan.contraction()))) {
    lines.push_back("    " + line);
  }
  std::string text = "/*\n";
  for (const std::string& line : lines) {
    const std::string safe = in_comment(line);
    text += safe.empty() ? " *\n" : fmt::format(" * {}\n", safe);
  }
  return text + " */\n";
}

}  // namespace

}  // namespace emit

std::string emit_c(const Plan& plan, const EmitOptions& options) {
  emit::check_prefix(options.prefix);
  emit::check_kernel(plan);
  const emit::Values values{{"T", emit::element_name(plan)}};
  const std::string head = emit::fill_in(emit::declarations, values);
  const std::string body = emit::offset_functions(plan) + emit::kernel_functions(plan) +
                           emit::packing_functions(plan) + emit::contract_functions(plan);
  const std::string main = emit::program(plan, options);
  std::string code = head;
  code += emit::least;
  if (body.find("@round_up(") != body.npos) code += emit::round_up;
  code += std::string(emit::allocate) + "\n" + body + main;
  return emit::comment(plan, options) + emit::with_prefix(code, options.prefix);
}

}  // namespace tcsim
