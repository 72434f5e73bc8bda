// kerncraft's machine files: YAML with the memory hierarchy, clocks, flops per cycle and bandwidth
// tables that likwid-bench measured.
#include <fmt/format.h>

#include <yaml-cpp/yaml.h>
#include <algorithm>
#include <cmath>
#include <set>

#include "core/error.hpp"
#include "exchange/draft.hpp"
#include "exchange/kerncraft.hpp"

namespace tcsim::exchange {

namespace {

constexpr std::size_t largest = 64 << 20;  // bytes; the largest known file has 0.2 MiB
constexpr std::size_t most_caches = 16;
// An alias may stand for a long list many times.
constexpr std::size_t most_measurements = 1 << 20;

class KerncraftReader {
 public:
  KerncraftReader(std::string_view yaml, std::string place)
      : place_(std::move(place)), context_(place_ + ":1") {
    if (yaml.size() > largest) {
      throw InputError(place_, "larger than 64 MiB", "give a machine file of kerncraft");
    }
    try {
      root_ = YAML::Load(std::string(yaml));
    } catch (const YAML::Exception& e) {
      throw InputError(at(e.mark), e.msg, "mend the YAML there");
    }
    if (!root_.IsMap()) fail(root_, "no mapping", "give a machine file of kerncraft");
    draft_.format = "kerncraft machine file";
    draft_.origin = Origin::published;
  }

  Draft read() {
    draft_.description = text_or(root_, "model name", text_or(root_, "model type", ""));
    if (const YAML::Node clock = get(root_, "clock"); given(clock)) {
      const KerncraftUnit unit = quantity(clock, "clock", "2.4 GHz");
      if (unit.unit != "Hz") fail(clock, "clock is no frequency", "write it as in 2.4 GHz");
      draft_.frequency = Hertz(unit.value);
    }
    if (const YAML::Node flops = get(get(root_, "FLOPs per cycle"), "DP"); flops.IsMap()) {
      // A core without a fused multiply-add reaches its total with additions and multiplications.
      const YAML::Node total = get(flops, given(get(flops, "total")) ? "total" : "FMA");
      if (given(total)) draft_.flops_per_cycle = positive(total, "FLOPs per cycle");
    }
    const YAML::Node levels = get(root_, "memory hierarchy");
    if (!levels.IsSequence()) {
      fail(root_, "no memory hierarchy", "add a list \"memory hierarchy\"");
    }
    for (const YAML::Node& level : levels) read_level(level);
    read_measurements();
    guess_vector_bits();
    list_ignored();
    return std::move(draft_);
  }

 private:
  std::string at(const YAML::Mark& mark) const {
    return fmt::format("{}:{}", place_, std::max(mark.line, 0) + 1);
  }
  [[noreturn]] void fail(const YAML::Node& node, const std::string& problem,
                         const std::string& mend) const {
    // What is not there has no line: then that of the level around it.
    const bool has_line = node.IsDefined() && node.Mark().line >= 0;
    throw InputError(has_line ? at(node.Mark()) : context_, problem, mend);
  }

  // A child that is a null node where there is none.
  static YAML::Node get(const YAML::Node& node, const std::string& key) {
    if (!node.IsMap()) return YAML::Node();
    const YAML::Node child = node[key];
    return child.IsDefined() ? child : YAML::Node();
  }
  // kerncraft itself writes INFORMATION_REQUIRED where a person has to fill something in.
  static bool given(const YAML::Node& node) {
    return node.IsScalar() && !node.Scalar().starts_with("INFORMATION_REQUIRED");
  }
  static std::string text_or(const YAML::Node& node, const std::string& key,
                             const std::string& fallback) {
    const YAML::Node child = get(node, key);
    return given(child) ? child.Scalar() : fallback;
  }

  KerncraftUnit quantity(const YAML::Node& node, const std::string& key,
                         const std::string& example) const {
    const auto unit = given(node) ? parse_kerncraft_unit(node.Scalar()) : std::nullopt;
    if (!unit || !(unit->value > 0)) {
      fail(node, fmt::format("{} is no quantity with a unit", key), "write it as in " + example);
    }
    return *unit;
  }
  double positive(const YAML::Node& node, const std::string& key) const {
    const auto value = given(node) ? real_number(node.Scalar()) : std::nullopt;
    if (!value || !(*value > 0)) {
      fail(node, fmt::format("{} is no number greater than 0", key), "write one");
    }
    return *value;
  }
  std::int64_t count(const YAML::Node& node, const std::string& key) const {
    const auto value = given(node) ? whole_number(node.Scalar()) : std::nullopt;
    if (!value || *value < 1 || *value > std::int64_t{1} << 40) {
      fail(node, fmt::format("{} is no count", key), "write a whole number of at least 1");
    }
    return *value;
  }
  int cores(const YAML::Node& node, const std::string& key) const {
    return static_cast<int>(std::min<std::int64_t>(count(node, key), 1 << 20));
  }
  std::optional<bool> flag(const YAML::Node& node, const std::string& key) const {
    const YAML::Node child = get(node, key);
    if (!given(child)) return {};
    const std::string text = child.Scalar();
    if (text == "true" || text == "True") return true;
    if (text == "false" || text == "False") return false;
    fail(child, key + " is neither true nor false", "write true or false");
  }

  void read_level(const YAML::Node& node) {
    static const std::set<std::string> known{
        "level",           "cache per group",   "size per group",     "groups",
        "cores per group", "threads per group", "upstream throughput"};
    if (!node.IsMap()) fail(node, "a level is no mapping", "write \"- level: L1\" and its keys");
    context_ = at(node.Mark());
    if (draft_.caches.size() >= most_caches) fail(node, "too many levels", "give at most 16");
    const std::string name = text_or(node, "level", "");
    if (name.empty()) fail(node, "a level without a name", "add \"level: L1\"");
    const YAML::Node cache = get(node, "cache per group");
    DraftLevel d;
    d.name = name;
    d.place = at(node.Mark());
    if (const YAML::Node n = get(node, "cores per group"); given(n)) {
      d.shared_by = cores(n, "cores per group");
    }
    read_throughput(get(node, "upstream throughput"), d);
    for (const auto& entry : node) {
      if (entry.first.IsScalar() && known.count(entry.first.Scalar()) == 0) {
        ignored(fmt::format("{}: {}", name, entry.first.Scalar()));
      }
    }
    if (!cache.IsMap()) {
      memory_name_ = name;
      draft_.memory = d;
      return;
    }
    read_cache(cache, d);
    if (const YAML::Node size = get(node, "size per group"); given(size)) check_size(size, d);
    draft_.caches.push_back(std::move(d));
  }

  void read_cache(const YAML::Node& node, DraftLevel& d) {
    static const std::set<std::string> known{"sets",       "ways",       "cl_size",
                                             "load_from",  "store_to",   "replacement_policy",
                                             "write_back", "victims_to", "write_allocate"};
    const auto field = [&](const char* key) { return get(node, key); };
    d.sets = count(field("sets"), d.name + ": sets");
    d.ways = count(field("ways"), d.name + ": ways");
    const YAML::Node line = field("cl_size");
    const auto plain = given(line) ? whole_number(line.Scalar()) : std::nullopt;
    d.line = Bytes(
        plain ? count(line, d.name + ": cl_size")
              : std::llround(std::min(quantity(line, d.name + ": cl_size", "64 B").value, 1e6)));
    if (const YAML::Node policy = field("replacement_policy"); given(policy)) {
      d.replacement = pycachesim_replacement(policy.Scalar());
      if (!d.replacement) {
        fail(policy, fmt::format("replacement_policy '{}' is unknown", policy.Scalar()),
             "known are LRU, FIFO, RR");
      }
    }
    if (const auto back = flag(node, "write_back")) {
      d.write = *back ? WritePolicy::write_back : WritePolicy::write_through;
    }
    d.write_allocate = flag(node, "write_allocate");
    d.inclusion = Inclusion::neither;
    if (given(field("victims_to"))) victims_.insert(field("victims_to").Scalar());
    for (const auto& entry : node) {
      if (entry.first.IsScalar() && known.count(entry.first.Scalar()) == 0) {
        ignored(fmt::format("{}: cache per group: {}", d.name, entry.first.Scalar()));
      }
    }
  }

  // "size per group" has decimal or binary prefixes, as its writer liked, and two decimals.
  void check_size(const YAML::Node& node, const DraftLevel& d) const {
    const KerncraftUnit size = quantity(node, d.name + ": size per group", "32.00 kB");
    const double exact = static_cast<double>(*d.sets) * static_cast<double>(*d.ways) *
                         static_cast<double>(d.line->value());
    const double binary = size.value * std::pow(1.024, size.thousands);
    const double nearest = std::min(std::abs(exact - size.value), std::abs(exact - binary));
    if (nearest > 0.02 * exact) {
      fail(node,
           fmt::format("{}: {} sets, {} ways and lines of {} contradict its size {}", d.name,
                       *d.sets, *d.ways, to_text(*d.line), node.Scalar()),
           "check the four numbers");
    }
  }

  // [64 B/cy, half-duplex]; L1's and memory's often name something else than a rate.
  void read_throughput(const YAML::Node& node, DraftLevel& d) const {
    if (!node.IsSequence() || node.size() == 0 || !given(node[0])) return;
    const auto unit = parse_kerncraft_unit(node[0].Scalar());
    if (!unit) return;
    if (unit->unit != "B/cy" || !(unit->value > 0)) {
      fail(node[0], d.name + ": upstream throughput is no rate", "write it as in 64 B/cy");
    }
    d.bandwidth = {{unit->value, Bandwidth::Unit::bytes_per_cycle}, draft_.origin, draft_.format};
  }

  void read_measurements() {
    for (DraftLevel& d : draft_.caches) {
      if (victims_.count(d.name) != 0) d.inclusion = Inclusion::exclusive;
      read_measurements_of(d.name, d);
    }
    read_measurements_of(memory_name_, draft_.memory);
  }

  void read_measurements_of(const std::string& level, DraftLevel& d) {
    const YAML::Node by_threads = get(get(get(root_, "benchmarks"), "measurements"), level);
    if (!by_threads.IsMap()) return;
    for (const auto& entry : by_threads) {
      const std::string threads = entry.first.IsScalar() ? entry.first.Scalar() : "";
      if (threads != "1") {
        ignored(fmt::format("{}: measurements with {} threads per core", level, threads));
      }
    }
    const YAML::Node table = get(by_threads, "1");
    const YAML::Node results = get(table, "results");
    if (!results.IsMap()) return;
    for (const auto& entry : results) {
      const std::string kernel = entry.first.IsScalar() ? entry.first.Scalar() : "";
      const auto mix = mix_of_likwid_kernel(kernel);
      if (!mix) {
        ignored(fmt::format("measurements of {}", kernel));
      } else {
        read_series(table, kernel, *mix, entry.second, d);
      }
    }
    if (!d.bandwidth) take_measured(d);
  }

  void read_series(const YAML::Node& table, const std::string& kernel, AccessMix mix,
                   const YAML::Node& results, DraftLevel& d) {
    const YAML::Node core_counts = get(table, "cores");
    const YAML::Node sizes = get(table, "size per core");
    const YAML::Node stats = get(get(table, "stats"), kernel);
    if (!results.IsSequence() || !core_counts.IsSequence() ||
        core_counts.size() != results.size()) {
      fail(results, fmt::format("measurements of {} do not match the list of cores", kernel),
           "give one for each number of cores");
    }
    for (std::size_t i = 0; i < results.size(); ++i) {
      BandwidthSeries s;
      s.mix = mix;
      s.instruction_set = instruction_set_of_likwid_kernel(text_or(
          get(get(get(root_, "benchmarks"), "kernels"), kernel), "fastest bench kernel", kernel));
      s.cores = cores(core_counts[i], "cores");
      if (sizes.IsSequence() && i < sizes.size()) s.working_set = Bytes(size_of(sizes[i]));
      if (s.working_set < Bytes(1)) fail(table, "no \"size per core\"", "give one for each entry");
      if (stats.IsSequence() && i < stats.size() && stats[i].IsSequence() && stats[i].size() > 0) {
        for (const YAML::Node& rate : stats[i]) s.repetitions.push_back(rate_of(rate));
      } else {
        s.repetitions.push_back(rate_of(results[i]));
      }
      d.series.push_back(std::move(s));
    }
  }

  std::int64_t size_of(const YAML::Node& node) const {
    const double size = quantity(node, "size per core", "21.12 kB").value;
    return size < 1e17 ? std::llround(size) : 0;
  }
  BytesPerSecond rate_of(const YAML::Node& node) {
    const KerncraftUnit rate = quantity(node, "a measurement", "270.23 GB/s");
    if (++measured_ > most_measurements) fail(node, "too many measurements", "give fewer");
    if (rate.unit != "B/s") fail(node, "a measurement is no bandwidth", "write it as in 40 GB/s");
    return BytesPerSecond(rate.value);
  }

  // A link without a rate of its own is as fast as an update in place was on one core.
  void take_measured(DraftLevel& d) const {
    for (const BandwidthSeries& s : d.series) {
      if (s.mix != AccessMix::load_fma_store || s.cores != 1) continue;
      d.bandwidth = {{s.median().value(), Bandwidth::Unit::bytes_per_second},
                     Origin::measured,
                     draft_.format + ": median of update on one core"};
      return;
    }
  }

  // Compiler flags tell how wide the vectors are, otherwise the benchmark kernels do.
  void guess_vector_bits() {
    std::string flags;
    for (const char* key : {"compiler", "in-core model"}) {
      const YAML::Node node = get(root_, key);
      for (const auto& entry : node) {
        const YAML::Node map = node.IsSequence() ? YAML::Node(entry) : YAML::Node(entry.second);
        if (map.IsScalar()) flags += map.Scalar() + " ";
        if (!map.IsMap()) continue;
        for (const auto& pair : map) {
          if (pair.second.IsScalar()) flags += pair.second.Scalar() + " ";
        }
      }
    }
    std::string kernels;
    for (const DraftLevel& d : draft_.caches) {
      for (const BandwidthSeries& s : d.series) kernels += s.instruction_set + " ";
    }
    draft_.vector_bits = vector_bits_of(flags);
    if (!draft_.vector_bits) draft_.vector_bits = vector_bits_of(kernels);
  }

  // The widest that a text speaks of.
  static std::optional<int> vector_bits_of(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const auto has = [&](std::initializer_list<const char*> words) {
      return std::any_of(words.begin(), words.end(),
                         [&](const char* word) { return text.find(word) != text.npos; });
    };
    if (has({"avx512", "avx-512"})) return 512;
    if (has({"avx", "haswell", "broadwell", "znver"})) return 256;
    if (has({"sse"})) return 128;
    return {};
  }

  void list_ignored() {
    static const std::set<std::string> known{"kerncraft version",
                                             "model name",
                                             "model type",
                                             "clock",
                                             "FLOPs per cycle",
                                             "compiler",
                                             "memory hierarchy",
                                             "benchmarks",
                                             "cacheline size",
                                             "isa",
                                             "in-core model",
                                             "sockets",
                                             "cores per socket",
                                             "cores per NUMA domain",
                                             "NUMA domains per socket"};
    for (const auto& entry : root_) {
      if (entry.first.IsScalar() && known.count(entry.first.Scalar()) == 0) {
        ignored(entry.first.Scalar());
      }
    }
  }

  void ignored(const std::string& what) {
    std::vector<std::string>& all = draft_.ignored;
    if (std::find(all.begin(), all.end(), what) == all.end()) all.push_back(what);
  }

  std::string place_, context_;
  std::size_t measured_ = 0;
  YAML::Node root_;
  std::string memory_name_ = "MEM";
  std::set<std::string> victims_;
  Draft draft_;
};

}  // namespace

Draft read_kerncraft(std::string_view yaml, const std::string& place) {
  try {
    return KerncraftReader(yaml, place).read();
  } catch (const YAML::Exception& e) {
    throw InputError(fmt::format("{}:{}", place, std::max(e.mark.line, 0) + 1), e.msg,
                     "mend the YAML there");
  }
}

}  // namespace tcsim::exchange
