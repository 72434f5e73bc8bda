// What the sets of a cache are asked for, hold and miss: over windows of the run, or by tensor.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "core/machine/share.hpp"
#include "gui/charts/charts.hpp"
#include "gui/charts/words.hpp"
#include "sim/set_words.hpp"

namespace tcsim::gui {

namespace {

constexpr SetsShow shows[] = {
    {"wanted", "lines wanted, over time", true},
    {"conflicts", "conflict misses, over time", true},
    {"wanted-by-tensor", "lines wanted, by tensor", false},
    {"resident-by-tensor", "lines resident, by tensor", false},
    {"requests-by-tensor", "requests, by tensor", false},
    {"misses-by-tensor", "misses, by tensor", false},
    {"conflicts-by-tensor", "conflict misses, by tensor", false},
};

// More columns than that are too thin to be seen; each then has several sets.
constexpr std::int64_t mostColumns = 128;

// Of one array in one set: what is shown of it.
double valueOf(const SetUse& use, const SetTally& t, const std::string& show) {
  if (show == "wanted-by-tensor") return use.a_window(t.wanted);
  if (show == "resident-by-tensor") return use.a_touch(t.resident);
  if (show == "requests-by-tensor") return static_cast<double>(t.requests.value());
  if (show == "misses-by-tensor") return static_cast<double>(t.misses.total().value());
  return static_cast<double>(t.misses.conflict.value());
}

// The tensors that are shown: the one that the view names, or all of them.
std::vector<ArrayId> shownArrays(const SetUse& use, const std::string& tensor) {
  std::vector<ArrayId> all;
  for (ArrayId a : use.arrays.ids()) {
    if (to_text(use.arrays[a]) == tensor) return {a};
    all.push_back(a);
  }
  return all;
}

// Sets next to one another that share a column.
class SetBins {
 public:
  explicit SetBins(std::int64_t sets)
      : sets_(sets), each_((sets + mostColumns - 1) / mostColumns) {}
  std::int64_t each() const { return each_; }
  std::size_t count() const { return static_cast<std::size_t>((sets_ + each_ - 1) / each_); }
  std::size_t first(std::size_t bin) const { return bin * static_cast<std::size_t>(each_); }
  std::size_t end(std::size_t bin) const {
    return std::min(first(bin + 1), static_cast<std::size_t>(sets_));
  }
  std::string name(std::size_t bin) const {
    const std::size_t last = end(bin) - 1;
    return first(bin) == last ? fmt::format("{}", last) : fmt::format("{}-{}", first(bin), last);
  }

 private:
  std::int64_t sets_, each_;
};

// Of the sets of a column: the largest value and the sum.
struct Binned {
  double most = 0, sum = 0;
};
template <class Value>
Binned binned(const SetBins& bins, std::size_t bin, const Value& value) {
  Binned all;
  for (std::size_t s = bins.first(bin); s < bins.end(bin); ++s) {
    const double v = value(s);
    all.most = std::max(all.most, v);
    all.sum += v;
  }
  return all;
}

// Of a window in one set, of the arrays that are shown together.
struct WindowValue {
  const SetUse& use;
  const SetWindow& window;
  const std::vector<ArrayId>& arrays;
  bool conflicts;
  double operator()(std::size_t set) const {
    const auto& all = conflicts ? window.conflicts : window.wanted;
    std::uint64_t sum = 0;
    for (ArrayId a : arrays) {
      sum += all[static_cast<std::size_t>(index(a)) * static_cast<std::size_t>(use.sets()) + set];
    }
    return static_cast<double>(sum);
  }
};

std::string number(double v) {
  return v == std::floor(v) ? fmt::format("{:.0f}", v) : fmt::format("{:.4g}", v);
}

std::string setsWords(const SetBins& bins, std::size_t bin) {
  return (bins.end(bin) - bins.first(bin) == 1 ? "set " : "sets ") + bins.name(bin);
}

std::string readingWords(const SetBins& bins, std::size_t bin, const Binned& b,
                         const std::string& what) {
  if (bins.end(bin) - bins.first(bin) == 1) return fmt::format("{} {}", number(b.most), what);
  return fmt::format("{} {} in one set at most, {} in all of these", number(b.most), what,
                     number(b.sum));
}

// What a cell means: "lines wanted of a set (it has 8 ways)".
std::string scaleWords(const SetUse& use, const SetBins& bins, const SetsShow& show) {
  std::string words = show.title;
  words.resize(words.find(','));
  words += use.sets() == 1 ? " of the set" : " of one set";
  if (words.starts_with("lines")) words += fmt::format(", which has {} ways", use.level.ways);
  if (bins.each() > 1) words += fmt::format("; the most of {} sets", bins.each());
  return words;
}

// The sentence about the tensor that is shown, if it crowds, or the first that is about one.
std::string crowdWords(const Scene& scene, const std::vector<ArrayId>& shown) {
  const SetUse& use = scene.sets->use;
  const std::vector<std::string> words = set_words(use, scene.now->subject.contraction);
  const std::string name = shown.size() == 1 ? to_text(use.arrays[shown[0]]) : "";
  const auto found = std::ranges::find_if(
      words, [&](const std::string& w) { return w.starts_with(name + " crowds"); });
  return name.empty() || found == words.end() ? words.at(1) : *found;
}

void setAxis(Plot& p, const SetUse& use, const SetBins& bins) {
  p.x = {fmt::format("sets of {}", use.level.name),
         false,
         -0.5,
         static_cast<double>(bins.count()) - 0.5,
         {}};
  constexpr std::size_t ticks = 8;
  const std::size_t step = std::max<std::size_t>(1, bins.count() / ticks);
  for (std::size_t b = 0; b < bins.count(); b += step) {
    p.x.ticks.emplace_back(static_cast<double>(b), fmt::format("{}", bins.first(b)));
  }
  const std::int64_t slices = use.level.index.slices(), inSlice = use.level.sets_in_slice();
  if (slices == 1 || inSlice % bins.each() != 0) return;
  p.x.label += fmt::format(", {} slices", slices);
  for (std::int64_t slice = 1; slice < slices; ++slice) {
    const double at = static_cast<double>(slice * inSlice / bins.each()) - 0.5;
    p.outlines.push_back({at, -0.5, at, static_cast<double>(p.cells.rows) - 0.5});
  }
}

void drawWindows(Plot& p, const SetUse& use, const SetBins& bins, const SetsShow& show,
                 const std::vector<ArrayId>& arrays) {
  const bool conflicts = std::string(show.id) == "conflicts";
  p.cells.rows = use.film.size();
  for (const SetWindow& w : use.film) {
    const WindowValue value{use, w, arrays, conflicts};
    for (std::size_t b = 0; b < bins.count(); ++b) {
      const Binned all = binned(bins, b, value);
      p.cells.values.push_back(all.most);
      p.cells.readings.push_back(
          fmt::format("window {} of {}, from touch {} on, {}: {}", w.number + 1, use.windows,
                      w.touch.value(), setsWords(bins, b),
                      readingWords(bins, b, all, conflicts ? "conflict misses" : "lines wanted")));
    }
  }
  p.y = {use.step == 1 ? "window" : fmt::format("window, every {}th", use.step),
         false,
         -0.5,
         static_cast<double>(p.cells.rows) - 0.5,
         {}};
  constexpr std::size_t ticks = 8;
  const std::size_t step = std::max<std::size_t>(1, p.cells.rows / ticks);
  for (std::size_t i = 0; i < p.cells.rows; i += step) {
    p.y.ticks.emplace_back(static_cast<double>(i), fmt::format("{}", use.film[i].number + 1));
  }
}

// A row for each tensor, A at the top.
void drawTensors(Plot& p, const SetUse& use, const SetBins& bins, const SetsShow& show) {
  std::string what = show.title;
  what.resize(what.find(','));
  const int rows = use.arrays.size();
  p.cells.rows = static_cast<std::size_t>(rows);
  for (int row = 0; row < rows; ++row) {
    const ArrayId a{rows - 1 - row};
    for (std::size_t b = 0; b < bins.count(); ++b) {
      const Binned all =
          binned(bins, b, [&](std::size_t s) { return valueOf(use, use.of(a)[s], show.id); });
      p.cells.values.push_back(all.most);
      p.cells.readings.push_back(fmt::format("{}, {}: {}", to_text(use.arrays[a]),
                                             setsWords(bins, b), readingWords(bins, b, all, what)));
    }
    p.y.ticks.emplace_back(row, to_text(use.arrays[a]));
  }
  p.y.low = -0.5;
  p.y.high = rows - 0.5;
}

Table windowsTable(const SetUse& use, const SetBins& bins, const std::vector<ArrayId>& arrays) {
  Table table{
      {"window", "from_line_touch", "sets", "wanted_lines", "most_of_one_set", "conflict_misses"},
      {}};
  const auto count = [](double v) { return numberCell(v, "{:.0f}"); };
  for (const SetWindow& w : use.film) {
    for (std::size_t b = 0; b < bins.count(); ++b) {
      const Binned wanted = binned(bins, b, WindowValue{use, w, arrays, false});
      const Binned conflicts = binned(bins, b, WindowValue{use, w, arrays, true});
      table.rows.push_back({count(static_cast<double>(w.number + 1)),
                            count(static_cast<double>(w.touch.value())), bins.name(b),
                            count(wanted.sum), count(wanted.most), count(conflicts.sum)});
    }
  }
  return table;
}

Table tensorsTable(const SetUse& use, const SetBins& bins) {
  Table table{{"tensor", "sets", "requests", "misses", "compulsory", "capacity", "conflict",
               "resident_lines", "wanted_lines"},
              {}};
  for (ArrayId a : use.arrays.ids()) {
    for (std::size_t b = 0; b < bins.count(); ++b) {
      SetTally all;
      for (std::size_t s = bins.first(b); s < bins.end(b); ++s) all += use.of(a)[s];
      std::vector<Cell> row{to_text(use.arrays[a]), bins.name(b)};
      for (const Lines n : {all.requests, all.misses.total(), all.misses.compulsory,
                            all.misses.capacity, all.misses.conflict}) {
        row.push_back(numberCell(static_cast<double>(n.value()), "{:.0f}"));
      }
      row.push_back(numberCell(use.a_touch(all.resident)));
      row.push_back(numberCell(use.a_window(all.wanted)));
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

}  // namespace

Table cachesTable(const Scene& scene) {
  Table table{{"level", "sets", "ways", "line_bytes", "index"}, {}};
  if (!scene.now) return table;
  const Machine& machine = scene.now->subject.machine;
  if (machine.cache_count() == 0) return table;
  for (const sim::LevelConfig& l : sim::system_of(view_of_one_core(machine)).levels) {
    const auto count = [](std::int64_t n) { return numberCell(static_cast<double>(n), "{:.0f}"); };
    table.rows.push_back(
        {l.name, count(l.sets), count(l.ways), count(l.line.value()), to_text(l.index)});
  }
  return table;
}

std::span<const SetsShow> setsShows() { return shows; }

const SetsShow& setsShow(const std::string& id) {
  const auto found = std::ranges::find(shows, id, &SetsShow::id);
  return found == std::end(shows) ? shows[0] : *found;
}

Plot setsPlot(const Scene& scene) {
  Plot p;
  p.title = "Sets of a cache";
  if (!scene.now || !scene.sets) {
    p.missing = whyMissing(scene, scene.sets.error);
    if (scene.now && scene.error.empty() && scene.sets.error.empty()) {
      p.missing =
          cacheNamed(scene.now->subject.machine, "").empty() ? "This machine has no cache."
          : simulatedSoon(*scene.now)
              ? "The sets are being simulated."
              : "This workload has so many accesses that simulating them one by one takes a "
                "while. Press Simulate the sets; Esc stops it.";
    }
    return p;
  }
  const SetUse& use = scene.sets->use;
  const SetsShow& show = setsShow(scene.view.show);
  const SetBins bins(use.sets());
  const std::vector<ArrayId> arrays = shownArrays(use, scene.view.tensor);
  p.hollow = !scene.sets.current;
  p.title = fmt::format("{}: {}", use.level.name, show.title);
  if (show.overTime) {
    p.title += arrays.size() == 1 ? ", " + to_text(use.arrays[arrays[0]]) : ", all tensors";
  }
  p.subtitle = subtitleOf(*scene.now) + "\n" + crowdWords(scene, arrays);
  p.cells.columns = bins.count();
  p.cells.logarithmic = false;
  p.cells.scale = scaleWords(use, bins, show);
  if (show.overTime) {
    drawWindows(p, use, bins, show, arrays);
  } else {
    drawTensors(p, use, bins, show);
  }
  setAxis(p, use, bins);
  if (std::ranges::all_of(p.cells.values, [](double v) { return v == 0; })) {
    p.title += ": none anywhere";
  }
  return p;
}

Table setsTable(const Scene& scene) {
  if (!scene.sets) return cachesTable(scene);
  const SetUse& use = scene.sets->use;
  const SetBins bins(use.sets());
  if (!setsShow(scene.view.show).overTime) return tensorsTable(use, bins);
  return windowsTable(use, bins, shownArrays(use, scene.view.tensor));
}

}  // namespace tcsim::gui
