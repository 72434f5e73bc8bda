#include "sim/simulate_chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <memory>

#include "core/error.hpp"
#include "core/plan/walk.hpp"
#include "core/stop.hpp"
#include "sim/general.hpp"
#include "sim/hierarchy.hpp"
#include "sim/line_sink.hpp"
#include "sim/plan_visitor.hpp"
#include "sim/system.hpp"
#include "sim/watch.hpp"

namespace tcsim {

namespace {

using fusion::Leaf;
using fusion::LeafCall;
using fusion::MemoryMap;

// Where the arrays of a leaf's plan are in the chain's memory.
struct Placing {
  ByArray<std::uint64_t> shift;  // bytes from the plan's place to the chain's, modulo 2^64
  ByArray<ArrayId> row;
};

// A sink of a plan's accesses that hands them on at the chain's addresses.
template <class Sink>
class PlacedSink {
 public:
  explicit PlacedSink(Sink& sink) : sink_(sink) {}
  Placing at;

  void enter(Phase phase) { sink_.enter(phase); }
  void begin_row() { sink_.begin_row(); }
  template <bool write>
  void touch(ArrayId a, std::uint64_t address, std::int64_t bytes) {
    sink_.template touch<write>(at.row[a], address + at.shift[a], bytes);
  }
  void read(const sim::TwoStreams& streams) {
    sim::TwoStreams s = streams;
    s.left += at.shift[streams.left_array];
    s.right += at.shift[streams.right_array];
    s.left_array = at.row[streams.left_array];
    s.right_array = at.row[streams.right_array];
    sink_.read(s);
  }

 private:
  Sink& sink_;
};

// The chain on caches that `Engine` has:
//   Sink& sink()
//   Moved moved(int level, int row)   so far, outside cache `level`
//   void drain()
//   Lines touches() const
template <class Engine>
class Runner {
 public:
  Runner(const fusion::FusedNode& node, fusion::LeafSchedules& schedules, const MemoryMap& memory,
         const sim::SystemConfig& config, Engine& engine, const SimulationOptions& options)
      : node_(node),
        schedules_(schedules),
        memory_(memory),
        config_(config),
        engine_(engine),
        watch_(options, schedules.tree().flops() / 2, true) {
    result_.traffic = fusion::ChainTraffic(schedules.tree(), schedules.machine());
    before_ = counted();
  }

  ChainSimulation run() {
    fusion::for_each_call(schedules_.tree(), node_, [&](const LeafCall& call) { add(call); });
    engine_.drain();
    settle();
    result_.traffic.share_out_packed();
    result_.touches = engine_.touches();
    watch_.finish();
    return std::move(result_);
  }

 private:
  using Sink = std::remove_reference_t<decltype(std::declval<Engine>().sink())>;
  using Counts = std::vector<Moved>;  // by cache and row

  struct Prepared {
    Prepared(const fusion::LeafSchedules::Chosen& chosen, Sink& sink)
        : plan(chosen.contraction, chosen.schedule), placed(sink), visitor(plan, placed) {}
    Plan plan;
    PlacedSink<Sink> placed;
    sim::PlanVisitor<PlacedSink<Sink>> visitor;
  };

  Prepared& prepared(const Leaf& leaf) {
    std::unique_ptr<Prepared>& p = prepared_[leaf];
    if (!p) {
      p = std::make_unique<Prepared>(schedules_.of(leaf), engine_.sink());
      sim::check(p->plan, config_);
    }
    return *p;
  }

  void add(const LeafCall& call) {
    if (call.leaf.statement != running_) settle();
    running_ = call.leaf.statement;
    ++result_.calls;
    Prepared& p = prepared(call.leaf);
    place(p, call);
    const double done = p.visitor.tally().multiply_adds;
    const LinkTraffic before = p.visitor.tally().registers;
    walk(p.plan, Visitor{*this, p.visitor, done});
    multiply_adds_ += p.visitor.tally().multiply_adds - done;
    count_registers(call, p, before);
  }

  void place(Prepared& p, const LeafCall& call) const {
    const Plan& plan = p.plan;
    Placing& at = p.placed.at;
    at = {ByArray<std::uint64_t>(plan.arrays().size()), ByArray<ArrayId>(plan.arrays().size())};
    for (ArrayId a : plan.arrays().ids()) {
      at.row[a] = ArrayId{memory_.packed()};
      if (plan.arrays().is_buffer(a)) continue;
      const TensorId t = plan.arrays().tensor_of(a);
      const int row = memory_.of(fusion::array_of(schedules_.tree(), call.leaf.statement, t));
      const Bytes begin =
          memory_.arrays()[static_cast<std::size_t>(row)].base + call.offset[t] * plan.element();
      at.row[a] = ArrayId{row};
      at.shift[a] = static_cast<std::uint64_t>(begin.value()) -
                    static_cast<std::uint64_t>(plan.base(a).value());
    }
  }

  // What the core loads and stores. The first call of a tile does not load what it overwrites; that
  // of a later call does.
  void count_registers(const LeafCall& call, Prepared& p, const LinkTraffic& before) {
    const LinkTraffic& after = p.visitor.tally().registers;
    for (Phase phase : all_phases) {
      for (ArrayId a : after.arrays.ids()) {
        const Moved &now = after.at(phase, a), &then = before.at(phase, a);
        Moved& moved =
            result_.traffic.at(call.leaf.statement, 0, static_cast<int>(index(p.placed.at.row[a])));
        moved += {now.in - then.in, now.out - then.out};
      }
    }
    if (!call.adds) return;
    const Contraction& c = p.plan.contraction();
    const std::int64_t results = (c.extent(DimClass::m).value() * c.extent(DimClass::n).value()) *
                                 c.extent(DimClass::batch).value();
    result_.traffic.at(call.leaf.statement, 0, index(p.placed.at.row[ArrayId::C])).in +=
        results * p.plan.element();
  }

  struct Visitor {
    Runner& runner;
    sim::PlanVisitor<PlacedSink<Sink>>& visitor;
    double before;
    void look() const {
      runner.watch_.look(runner.multiply_adds_ + visitor.tally().multiply_adds - before);
    }
    void pack(const PackPlan& pack, const Tile& tile) {
      look();
      visitor.pack(pack, tile);
    }
    void kernel(const KernelCall& call) {
      look();
      visitor.kernel(call);
    }
  };

  Counts counted() {
    engine_.sink().enter(Phase::compute);  // runs what waits
    Counts all;
    for (int l = 0; l < static_cast<int>(config_.levels.size()); ++l) {
      for (int row = 0; row <= memory_.packed(); ++row) all.push_back(engine_.moved(l, row));
    }
    return all;
  }

  // What came in until now is the running statement's.
  void settle() {
    if (running_ < 0) return;
    const Counts now = counted();
    std::size_t i = 0;
    for (int l = 0; l < static_cast<int>(config_.levels.size()); ++l) {
      for (int row = 0; row <= memory_.packed(); ++row, ++i) {
        const int writer = memory_.writer(row) < 0 ? running_ : memory_.writer(row);
        result_.traffic.at(running_, l + 1, row).in += now[i].in - before_[i].in;
        result_.traffic.at(writer, l + 1, row).out += now[i].out - before_[i].out;
      }
    }
    before_ = now;
  }

  const fusion::FusedNode& node_;
  fusion::LeafSchedules& schedules_;
  const MemoryMap& memory_;
  const sim::SystemConfig& config_;
  Engine& engine_;
  sim::Watch watch_;
  std::map<Leaf, std::unique_ptr<Prepared>> prepared_;
  int running_ = -1;  // the statement
  double multiply_adds_ = 0;
  Counts before_;
  ChainSimulation result_;
};

int line_bits_of(const sim::SystemConfig& config) {
  return std::countr_zero(static_cast<std::uint64_t>(config.levels.front().line.value()));
}

// Caches that are plain (sim/config.hpp).
class PlainEngine {
 public:
  PlainEngine(const sim::SystemConfig& config, const MemoryMap& memory)
      : line_(config.levels.front().line),
        caches_(hierarchy_of(config, memory)),
        sink_(caches_, line_bits_of(config)) {}

  sim::LineSink& sink() { return sink_; }
  void drain() { caches_.drain(); }
  Lines touches() const { return caches_.touches(); }
  Moved moved(int level, int row) const {
    Moved all;
    for (Phase p : all_phases) {
      all += {caches_.fills(level + 1, p, ArrayId{row}).value() * line_,
              caches_.write_backs(level + 1, p, ArrayId{row}).value() * line_};
    }
    return all;
  }

 private:
  static sim::Hierarchy hierarchy_of(const sim::SystemConfig& config, const MemoryMap& memory) {
    std::vector<sim::CacheShape> caches;
    for (const sim::LevelConfig& l : config.levels) caches.push_back({l.sets, l.ways});
    ByArray<std::uint32_t> first_lines(static_cast<int>(memory.arrays().size()));
    for (ArrayId a : first_lines.ids()) {
      first_lines[a] = static_cast<std::uint32_t>(
          memory.arrays()[static_cast<std::size_t>(index(a))].base.value() >> line_bits_of(config));
    }
    return sim::Hierarchy(caches, first_lines, line_bits_of(config));
  }

  Bytes line_;
  sim::Hierarchy caches_;
  sim::LineSink sink_;
};

// Arrays of a chain in the order of addresses, and where each ends.
struct RowOrder {
  explicit RowOrder(const MemoryMap& memory) : place(memory.arrays().size()) {
    std::vector<std::size_t> rows(memory.arrays().size());
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = i;
    std::ranges::sort(rows, {}, [&](std::size_t row) { return memory.arrays()[row].base; });
    for (std::size_t i = 0; i < rows.size(); ++i) {
      place[rows[i]] = i;
      ends.push_back(i + 1 < rows.size()
                         ? static_cast<std::uint64_t>(memory.arrays()[rows[i + 1]].base.value())
                         : ~std::uint64_t{0});
    }
  }
  std::vector<std::size_t> place;  // by row
  std::vector<std::uint64_t> ends;
};

// Caches with any rules.
class GeneralEngine {
 public:
  GeneralEngine(const sim::SystemConfig& config, const MemoryMap& memory, Bytes element)
      : drain_(config.drain),
        order_(memory),
        system_(config, order_.ends),
        sink_(system_, config.levels.front(), element.value()) {}

  sim::SystemSink<sim::NoObserver>& sink() { return sink_; }
  void drain() {
    if (drain_) system_.drain();
    sink_.collect();
  }
  Lines touches() const { return sink_.touches(); }
  Moved moved(int level, int row) const {
    Moved all;
    const std::size_t place = order_.place[static_cast<std::size_t>(row)];
    if (sink_.bytes().empty()) return all;
    for (Phase p : all_phases) {
      const auto& by_owner = sink_.bytes()[static_cast<std::size_t>(level)][p];
      if (by_owner.empty()) continue;
      all += {by_owner[place].in, by_owner[place].out};
    }
    return all;
  }

 private:
  bool drain_;
  RowOrder order_;
  sim::System<> system_;
  sim::SystemSink<sim::NoObserver> sink_;
};

}  // namespace

ChainSimulation simulate_chain(const fusion::FusedNode& node, fusion::LeafSchedules& schedules,
                               const SimulationOptions& options) {
  const StopScope scope(options.stop);
  const sim::SystemConfig config = sim::system_of(schedules.machine());
  sim::check(config);
  const MemoryMap memory(node, schedules);
  const Bytes element = size_of(fusion::element_type(schedules.tree()));
  if (!is_plain(config)) {
    GeneralEngine engine(config, memory, element);
    return Runner(node, schedules, memory, config, engine, options).run();
  }
  if (memory.size() / config.levels.front().line >= sim::max_lines) {
    throw UnsupportedError(
        schedules.tree().name,
        fmt::format("its arrays have {} bytes, 2^31 - 1 lines or more", memory.size().value()),
        "use smaller sizes or longer lines");
  }
  PlainEngine engine(config, memory);
  return Runner(node, schedules, memory, config, engine, options).run();
}

}  // namespace tcsim
