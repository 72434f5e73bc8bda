// What the chain window shows, against what the fusion library says.
#include "gui/chain/chain_scene.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "chains/plan_chain.hpp"
#include "core/error.hpp"
#include "core/machine/toml.hpp"
#include "core/units/text.hpp"
#include "gui/chain/chain_views.hpp"

namespace tcsim::gui {
namespace {

// T is what may stay in memory.
ChainDesign twoStatements(const char* memory) {
  ChainDesign d;
  d.chain = "T[a,q] += C[a,p] * A[p,q]; B[a,b] += T[a,q] * D[b,q]";
  d.sizes = "a=400,b=300,p=350,q=500";
  d.memory = parse_bytes(memory);
  d.tilesAlone = true;
  return d;
}

ChainSubjectPtr subjectNamed(const ChainDesign& design) {
  return chainSubject(design, {find_machine(design.machine), {}});
}

ChainAnswerPtr answerTo(const ChainDesign& design) {
  return answerOf(subjectNamed(design), {}, {});
}

ChainScene sceneOf(const ChainAnswerPtr& answer) {
  ChainScene scene;
  scene.answer = answer;
  scene.current = true;
  scene.points[answer->design().memory.value()] = pointOf(*answer);
  return scene;
}

ChainScene explored(const ChainAnswerPtr& answer) {
  ChainScene scene = sceneOf(answer);
  int asked = 0;
  while (const std::optional<Bytes> memory = nextMemory(scene)) {
    EXPECT_FALSE(scene.points.contains(memory->value())) << "asked for again";
    scene.points[memory->value()] = pointAt(*answer->subject, *memory, {});
    EXPECT_LT(++asked, 40);
    if (asked >= 40) break;
  }
  return scene;
}

TEST(Chain_design, Statements_stand_on_one_line) {
  EXPECT_EQ(onOneLine(" T[a] += A[a] * B[a] \n\n C[a] += T[a] * D[a];\n"),
            "T[a] += A[a] * B[a]; C[a] += T[a] * D[a]");
  EXPECT_EQ(onOneLine("\n"), "");
}

TEST(Chain_design, Sizes_follow_the_indices) {
  EXPECT_EQ(sizesOf("T[h6,p1] += A[h6,k] * B[k,p1]", "k=9, x=3"), "h6=64,p1=64,k=9");
  EXPECT_EQ(sizesOf("ap,pq,bq->ab", "q=7"), "a=64,p=64,q=7,b=64");
  EXPECT_EQ(sizesOf("ap,pq->aq", "nonsense"), "nonsense");
  EXPECT_EQ(sizesOf("T1[a,b] += X[a,k] * Y[k,b]", ""), "a=64,b=64,k=64");
}

TEST(Chain_design, Its_command_is_quoted_for_a_shell) {
  ChainDesign d = twoStatements("3MiB");
  d.diskRead = "3GB/s";
  d.overlap = true;
  EXPECT_EQ(commandLine(d),
            "tcsim fuse 'T[a,q] += C[a,p] * A[p,q]; B[a,b] += T[a,q] * D[b,q]' --size "
            "a=400,b=300,p=350,q=500 --machine zen5 --tiles 3MiB --disk-read 3GB/s --overlap");
  ChainDesign suite;
  suite.chain = "fourindex:2";
  suite.sizes = "left over";
  EXPECT_EQ(commandLine(suite), "tcsim fuse fourindex:2 --machine zen5 --memory 256MiB");
  suite.knobs = "L3.capacity=2x,  memory.bandwidth=1e9";
  EXPECT_EQ(commandLine(suite),
            "tcsim fuse fourindex:2 --machine zen5 --set L3.capacity=2x --set memory.bandwidth=1e9 "
            "--memory 256MiB");
}

TEST(Chain_scene, An_answer_is_what_fuse_says) {
  const ChainAnswerPtr answer = answerTo(twoStatements("1MiB"));
  const ChainSubject& s = *answer->subject;
  const fusion::Fusion found = fusion::fuse(s.tree, {s.limits, {}});
  EXPECT_EQ(answer->chosen().program.node, found.chosen.node);
  EXPECT_EQ(answer->unfused().program.node, found.unfused.node);
  ASSERT_EQ(answer->programs.size(), found.fully_fused ? 3u : 2u);
  EXPECT_EQ(answer->programs[1].program.node, found.fully_fused->node);
  const chains::RunFigures run = chains::run_figures(s.tree, found.chosen.node, s.machine, {});
  EXPECT_EQ(answer->chosen().arithmetic, run.arithmetic);
  EXPECT_GT(answer->chosen().arithmetic.value(), 0);
  EXPECT_EQ(answer->chosen().disk, s.limits.costs.disk(found.chosen.traffic.sum()));
  EXPECT_EQ(answer->chosen().time, answer->chosen().disk + answer->chosen().arithmetic);
}

TEST(Chain_scene, The_memory_of_a_run_is_that_of_plan_chain) {
  ChainDesign design = twoStatements("9MiB");
  design.tilesAlone = false;
  const ChainAnswerPtr answer = answerTo(design);
  const ChainSubject& s = *answer->subject;
  chains::ChainPlanOptions options;
  options.limits = s.limits;
  const chains::ChainPlan plan = chains::plan_chain(s.tree, s.machine, options);
  EXPECT_EQ(answer->chosen().program.node, plan.fusion.chosen.node);
  EXPECT_EQ(answer->chosen().inAll, plan.chosen.memory.all());
  EXPECT_LE(answer->chosen().inAll, design.memory);
  const std::optional<MemoryPoint> other = pointAt(s, parse_bytes("9MiB"), {});
  ASSERT_TRUE(other);
  EXPECT_EQ(other->moved, pointOf(*answer).moved);
  EXPECT_FALSE(pointAt(s, parse_bytes("1MiB"), {}));
}

TEST(Chain_scene, The_table_has_the_figures_of_each_program) {
  ChainDesign design = twoStatements("1MiB");
  design.overlap = true;
  const ChainAnswerPtr answer = answerTo(design);
  const Table table = chainTable(*answer), file = chainFileTable(*answer);
  ASSERT_EQ(table.rows.size(), answer->programs.size());
  EXPECT_EQ(table.columns.back(), "overlapped");
  EXPECT_EQ(file.columns.size(), table.columns.size());
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const ChainProgram& p = answer->programs[i];
    const fusion::DiskTraffic::OfArray sum = p.program.traffic.sum();
    const double want[] = {static_cast<double>(p.program.cut_points.size()),
                           static_cast<double>(sum.read),
                           static_cast<double>(sum.written),
                           static_cast<double>(sum.reads + sum.writes),
                           static_cast<double>(p.program.traffic.memory.value()),
                           static_cast<double>(p.inAll.value()),
                           p.disk.value(),
                           p.program.gap(),
                           p.arithmetic.value(),
                           std::max(p.disk.value(), p.arithmetic.value())};
    EXPECT_EQ(table.rows[i][0].text, p.name);
    for (std::size_t c = 0; c < std::size(want); ++c) {
      EXPECT_EQ(table.rows[i][c + 1].value, want[c]) << p.name << " " << table.columns[c + 1];
    }
  }
}

// The disk is the machine's, then what was measured of it, then what is said.
TEST(Chain_scene, A_disk_is_assumed_only_where_nothing_is_known_of_it) {
  ChainDesign design = twoStatements("1MiB");
  ChainMachine machine{find_machine("zen5"), {}};
  EXPECT_TRUE(chainSubject(design, machine)->diskAssumed);
  EXPECT_EQ(chainSubject(design, machine)->limits.costs.read, BytesPerSecond(2e9));
  machine.disk = DiskFigures{"", BytesPerSecond(5e8), BytesPerSecond(4e8), Seconds(1e-3)};
  const ChainSubjectPtr measured = chainSubject(design, machine);
  EXPECT_FALSE(measured->diskAssumed);
  EXPECT_EQ(measured->limits.costs.write, BytesPerSecond(4e8));
  EXPECT_EQ(measured->limits.costs.transfer, Seconds(1e-3));
  design.diskWrite = "7GB/s";
  EXPECT_EQ(chainSubject(design, machine)->limits.costs.write, BytesPerSecond(7e9));
  machine.disk.reset();
  EXPECT_TRUE(chainSubject(design, machine)->diskAssumed);
  design.diskRead = "7GB/s";
  EXPECT_FALSE(chainSubject(design, machine)->diskAssumed);
}

TEST(Chain_scene, The_tree_has_cut_points_where_the_program_has) {
  ChainDesign design;
  design.chain = "fourindex:1";
  design.memory = parse_bytes("4MiB");
  design.tilesAlone = true;
  const ChainScene scene = sceneOf(answerTo(design));
  using Place = ChainTree::Place;
  for (std::size_t i = 0; i < scene.answer->programs.size(); ++i) {
    const fusion::FusedProgram& program = scene.answer->programs[i].program;
    const ChainTree tree = chainTree(scene, i);
    ASSERT_EQ(tree.nodes.size(), 9u);
    ASSERT_EQ(tree.roots.size(), 1u);
    EXPECT_EQ(tree.nodes[static_cast<std::size_t>(tree.roots[0])].name, "B[a,b,c,d]");
    EXPECT_EQ(std::ranges::count(tree.nodes, Place::input, &ChainTree::Node::place), 5);
    EXPECT_EQ(std::ranges::count(tree.nodes, Place::output, &ChainTree::Node::place), 1);
    std::vector<std::string> cut, drawn;
    for (int s : program.cut_points) {
      cut.push_back(scene.answer->subject->tree.text(scene.answer->subject->tree.statement(s).out));
    }
    for (const ChainTree::Node& n : tree.nodes) {
      if (n.place == Place::cutPoint) drawn.push_back(n.name);
      EXPECT_EQ(n.about.find("cut-point") != std::string::npos, n.place == Place::cutPoint);
      EXPECT_EQ(n.moved == "fused", n.place == Place::memory) << n.name;
    }
    std::ranges::sort(cut);
    std::ranges::sort(drawn);
    EXPECT_EQ(drawn, cut) << scene.answer->programs[i].name;
  }
  // Every result of the unfused program is written once and read again.
  const ChainTree unfused = chainTree(scene, scene.answer->programs.size() - 1);
  EXPECT_EQ(std::ranges::count(unfused.nodes, Place::cutPoint, &ChainTree::Node::place), 3);
  for (const ChainTree::Node& n : unfused.nodes) {
    if (n.name == "T3[a,b,c,s]") {
      EXPECT_EQ(n.moved, "60 MB out, 60 MB in");
    }
  }
}

TEST(Chain_scene, Other_memories_are_asked_for_until_it_is_known_what_more_would_bring) {
  const ChainAnswerPtr answer = answerTo(twoStatements("64KiB"));
  ASSERT_FALSE(answer->chosen().program.cut_points.empty());
  EXPECT_FALSE(moreMemory(sceneOf(answer)).twice);
  EXPECT_EQ(nextMemory(sceneOf(answer)), parse_bytes("128KiB"));
  const ChainScene scene = explored(answer);
  const MoreMemory more = moreMemory(scene);
  ASSERT_TRUE(more.twice && more.fewerCuts);
  EXPECT_EQ(more.twice->memory, parse_bytes("128KiB"));
  EXPECT_LE(more.twice->disk, answer->chosen().disk);
  EXPECT_TRUE(more.fewerCuts->cutPoints.empty());
  // Nearly as much memory is not enough.
  const Bytes less(
      static_cast<std::int64_t>(static_cast<double>(more.fewerCuts->memory.value()) / 1.12));
  EXPECT_EQ(pointAt(*answer->subject, less, {})->cutPoints.size(), 1u);
  // The curve reaches from where a tile fits to where all do, or six doublings.
  EXPECT_LE(scene.points.begin()->first,
            std::max(leastShown(*answer->subject), Bytes(1024)).value());
  EXPECT_GE(std::prev(scene.points.end())->first, (Bytes(4 << 20)).value());
  const ChainVerdict verdict = chainVerdict(scene);
  ASSERT_EQ(verdict.more.size(), 2u);
  EXPECT_NE(verdict.more[0].find("no cut-point"), std::string::npos) << verdict.more[0];
  EXPECT_EQ(verdict.more[1].find("With twice the memory, 128 KiB: "), 0u) << verdict.more[1];
}

TEST(Chain_scene, Where_all_tensors_fit_more_memory_changes_nothing) {
  const ChainAnswerPtr answer = answerTo(twoStatements("64MiB"));
  const ChainScene scene = explored(answer);
  EXPECT_FALSE(moreMemory(scene).twice);
  const ChainVerdict verdict = chainVerdict(scene);
  ASSERT_EQ(verdict.more.size(), 1u);
  EXPECT_EQ(verdict.more[0], "All tensors fit: more memory changes nothing.");
  EXPECT_EQ(verdict.sentences[0].find("No cut-point: the intermediate stays in memory."), 0u);
}

TEST(Chain_scene, Too_little_memory_is_refused_and_no_point_of_the_curve) {
  const ChainSubjectPtr subject = subjectNamed(twoStatements("8B"));
  EXPECT_EQ(subject->least, Bytes(24));  // three elements
  EXPECT_THROW(answerOf(subject, {}, {}), UnsupportedError);
  EXPECT_FALSE(pointAt(*subject, Bytes(8), {}));
}

TEST(Chain_scene, The_curve_has_each_memory_and_bands_of_cut_points) {
  const ChainScene scene = explored(answerTo(twoStatements("64KiB")));
  for (const MemoryCurve what : {MemoryCurve::diskTime, MemoryCurve::bytesMoved}) {
    const Plot plot = memoryPlot(scene, what);
    ASSERT_EQ(plot.lines.size(), 3u);
    EXPECT_EQ(plot.lines[1].x.size(), scene.points.size());
    EXPECT_TRUE(std::ranges::is_sorted(plot.lines[1].x));
    ASSERT_EQ(plot.regions.size(), 2u);
    EXPECT_EQ(plot.regions[0].label, "1 cut-point");
    EXPECT_EQ(plot.regions[1].label, "no cut-point");
    EXPECT_EQ(plot.regions[0].to, plot.regions[1].from);
    EXPECT_EQ(plot.rules.at(0).at, 65536);
  }
  ChainScene none;
  EXPECT_EQ(memoryPlot(none, MemoryCurve::diskTime).missing.find("Nothing is planned yet"), 0u);
  none.asked = true;
  EXPECT_EQ(memoryPlot(none, MemoryCurve::diskTime).missing, "It is being planned.");
  EXPECT_FALSE(chainTree({}, 0).missing.empty());
}

TEST(Chain_scene, A_stop_ends_a_plan) {
  ChainDesign design;
  design.chain = "fourindex:6";
  design.memory = parse_bytes("16MiB");
  std::stop_source stop;
  stop.request_stop();
  const ChainSubjectPtr subject = subjectNamed(design);
  EXPECT_THROW(answerOf(subject, {}, stop.get_token()), Interrupted);
  EXPECT_THROW(pointAt(*subject, design.memory, stop.get_token()), Interrupted);
}

}  // namespace
}  // namespace tcsim::gui
