// The microkernels of this machine by themselves (ttile, Fig. 7).
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "gui/charts/charts.hpp"
#include "gui/charts/words.hpp"

namespace tcsim::gui {

namespace {

using Kernels = std::vector<const MeasuredKernel*>;

// What the design computes with, f64 without one.
Bytes elementOf(const Scene& scene) {
  return scene.now ? size_of(scene.now->subject.contraction.type()) : Bytes(8);
}

std::string typeOf(Bytes element) { return fmt::format("f{}", 8 * element.value()); }

// Kernels of a type, of the instruction set of the fastest one.
Kernels kernelsOf(const KernelCatalog& catalog, Bytes element) {
  Kernels all;
  for (const MeasuredKernel& m : catalog.kernels) {
    if (m.element == element) all.push_back(&m);
  }
  const auto share = [](const MeasuredKernel* m) { return m->longest().of_peak; };
  if (all.empty()) return all;
  const std::string& set = (*std::ranges::max_element(all, {}, share))->instruction_set;
  std::erase_if(all, [&](const MeasuredKernel* m) { return m->instruction_set != set; });
  return all;
}

std::set<const MeasuredKernel*> candidatesOf(const KernelCatalog& catalog) {
  std::set<const MeasuredKernel*> all;
  for (Bytes element : {Bytes(4), Bytes(8)}) {
    for (KernelScheme scheme : all_kernel_schemes) {
      const Kernels some = catalog.candidates(element, scheme);
      all.insert(some.begin(), some.end());
    }
  }
  return all;
}

// Schemes side by side, with an empty column between two.
class Grid {
 public:
  explicit Grid(const Kernels& kernels) {
    for (const MeasuredKernel* m : kernels) {
      vectors_ = std::max(vectors_, m->vectors);
      rows_ = std::max(rows_, static_cast<int>(std::min(m->columns.value(), most)));
      schemes_.insert(m->scheme);
    }
    vectors_ = std::min(vectors_, static_cast<int>(most));
  }

  std::size_t columns() const { return schemes_.size() * step() - 1; }
  std::size_t rows() const { return static_cast<std::size_t>(rows_); }
  const std::set<KernelScheme>& schemes() const { return schemes_; }
  int vectors() const { return vectors_; }
  bool has(const MeasuredKernel& m) const {
    return m.vectors <= vectors_ && m.columns.value() <= rows_;
  }
  std::size_t column(KernelScheme scheme, int vectors) const {
    const auto before = std::distance(schemes_.begin(), schemes_.find(scheme));
    return static_cast<std::size_t>(before) * step() + static_cast<std::size_t>(vectors - 1);
  }
  std::size_t cell(const MeasuredKernel& m) const {
    return static_cast<std::size_t>(m.columns.value() - 1) * columns() +
           column(m.scheme, m.vectors);
  }

 private:
  static constexpr std::int64_t most = 64;  // a file may say anything
  std::size_t step() const { return static_cast<std::size_t>(vectors_) + 1; }

  int vectors_ = 1, rows_ = 1;
  std::set<KernelScheme> schemes_;
};

// Around the candidates.
std::vector<Segment> outlinesOf(const std::vector<bool>& inside, std::size_t columns,
                                std::size_t rows) {
  std::vector<Segment> all;
  const auto in = [&](std::size_t c, std::size_t r) {
    return c < columns && r < rows && inside[r * columns + c];
  };
  for (std::size_t r = 0; r <= rows; ++r) {
    for (std::size_t c = 0; c <= columns; ++c) {
      const double x = static_cast<double>(c) - 0.5, y = static_cast<double>(r) - 0.5;
      // Before the first one there is none: its index wraps around.
      if (in(c, r) != in(c - 1, r)) all.push_back({x, y, x, y + 1});
      if (in(c, r) != in(c, r - 1)) all.push_back({x, y, x + 1, y});
    }
  }
  return all;
}

std::string readingOf(const MeasuredKernel& m, bool candidate) {
  return fmt::format("{} \u00d7 {}, {}, k = {}: {:.1f} % of the peak, {:.4g} GFLOPS{}",
                     m.rows.value(), m.columns.value(), to_text(m.scheme), m.longest().k,
                     100 * m.longest().of_peak, m.longest().rate.value() / 1e9,
                     candidate ? ", a candidate" : "");
}

}  // namespace

Plot kernelsPlot(const Scene& scene) {
  Plot p;
  p.title = "Microkernels by themselves";
  const Bytes element = elementOf(scene);
  if (!scene.kernels) {
    p.missing = scene.kernels.error.empty() ? "The catalog of kernels has not been read."
                                            : scene.kernels.error;
    return p;
  }
  const KernelCatalog& catalog = *scene.kernels.value;
  const Kernels kernels = kernelsOf(catalog, element);
  if (kernels.empty()) {
    p.missing =
        fmt::format("The catalog has no kernels of {}; {}.", typeOf(element), kernel_catalog_mend);
    return p;
  }
  const Grid grid(kernels);
  std::string schemes;
  for (KernelScheme s : grid.schemes()) {
    schemes += fmt::format("{}{}", schemes.empty() ? "" : " | ", to_text(s));
  }
  p.title = fmt::format("Microkernels by themselves, {}, {}", typeOf(element),
                        kernels[0]->instruction_set);
  p.subtitle = fmt::format(
      "{}, measured {:04}-{:02}-{:02}; outlined: at least {:.0f} % of the best", catalog.processor,
      static_cast<int>(catalog.day.year()), static_cast<unsigned>(catalog.day.month()),
      static_cast<unsigned>(catalog.day.day()), 100 * candidate_share);
  p.cells.columns = grid.columns();
  p.cells.rows = grid.rows();
  p.cells.values.assign(grid.columns() * grid.rows(), std::nan(""));
  p.cells.readings.resize(p.cells.values.size());
  p.cells.scale = "% of the multiply-add peak";
  p.cells.logarithmic = false;
  p.cells.brightHigh = true;
  const auto candidates = candidatesOf(catalog);
  std::vector<bool> inside(p.cells.values.size());
  std::map<std::size_t, std::int64_t> rows;  // of each column of cells
  for (const MeasuredKernel* m : kernels) {
    if (!grid.has(*m)) continue;
    const std::size_t at = grid.cell(*m);
    p.cells.values[at] = 100 * m->longest().of_peak;
    p.cells.readings[at] = readingOf(*m, candidates.contains(m));
    inside[at] = candidates.contains(m);
    rows[at % grid.columns()] = m->rows.value();
  }
  p.outlines = outlinesOf(inside, grid.columns(), grid.rows());
  p.x = {
      "rows of the tile: " + schemes, false, -0.5, static_cast<double>(grid.columns()) - 0.5, {}};
  for (const auto& [column, n] : rows) {
    p.x.ticks.emplace_back(static_cast<double>(column), fmt::format("{}", n));
  }
  p.y = {"columns of the tile", false, -0.5, static_cast<double>(grid.rows()) - 0.5, {}};
  for (std::size_t r = 0; r < grid.rows(); ++r) {
    p.y.ticks.emplace_back(static_cast<double>(r), fmt::format("{}", r + 1));
  }
  return p;
}

Table kernelsTable(const Scene& scene) {
  Table table{{"kernel", "type", "instruction_set", "scheme", "vectors", "k", "gflops",
               "percent_of_peak", "candidate"},
              {}};
  if (!scene.kernels) return table;
  const auto candidates = candidatesOf(*scene.kernels.value);
  for (const MeasuredKernel& m : scene.kernels->kernels) {
    const KernelPoint& p = m.longest();
    table.rows.push_back(
        {fmt::format("{}x{}", m.rows.value(), m.columns.value()), typeOf(m.element),
         m.instruction_set, to_text(m.scheme), numberCell(m.vectors, "{:.0f}"),
         numberCell(static_cast<double>(p.k), "{:.0f}"), numberCell(p.rate.value() / 1e9),
         numberCell(100 * p.of_peak, "{:.1f}"), candidates.contains(&m) ? "yes" : "no"});
  }
  return table;
}

}  // namespace tcsim::gui
