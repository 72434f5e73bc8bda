// Chains on explicit levels in the window, against what tcsim fuse says of them.
#include <gtest/gtest.h>

#include <QComboBox>
#include <QLineEdit>
#include <QSlider>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <nlohmann/json.hpp>

#include "gui/chain/chain_inputs.hpp"
#include "gui/chain/chain_planner.hpp"
#include "gui/chain/chain_window.hpp"
#include "gui/chain/level_views.hpp"
#include "gui/chain/tree_view.hpp"
#include "gui/headless.hpp"
#include "gui/widgets/knob_row.hpp"
#include "gui/widgets/plot_view.hpp"
#include "tests/cli/run.hpp"

namespace tcsim::gui {
namespace {

using nlohmann::json;

constexpr int levelPatienceMs = 60'000;

ChainDesign onCluster(const char* chain) {
  ChainDesign d;
  d.chain = chain;
  d.machine = "gpu-cluster-node";
  return d;
}

class Levels : public testing::Test {
 protected:
  Levels() { window.show(); }
  ChainPlanner& planner() { return window.planner(); }
  const ChainScene& scene() { return window.planner().scene(); }
  void open(const ChainDesign& design) {
    window.open(design);
    waitFor(planner());
    ASSERT_TRUE(scene().current) << scene().error;
    ASSERT_TRUE(scene().answer->levels);
  }
  KnobRow& row(const std::string& name) {
    for (KnobRow* r : window.inputs().levelKnobs()) {
      if (r->knob().name == name) return *r;
    }
    ADD_FAILURE() << "no row " << name;
    return *window.inputs().levelKnobs().front();
  }
  json said(const QString& command, std::vector<std::string> more) {
    std::vector<std::string> args;
    for (const QString& word : command.split(' ').mid(1)) args.push_back(word.toStdString());
    args.insert(args.end(), more.begin(), more.end());
    args.insert(args.end(), {"--format", "json"});
    const cli::Ran ran = cli::tcsim(args);
    EXPECT_EQ(ran.code, cli::Exit::done) << ran.err;
    return json::parse(ran.out);
  }

  ChainWindow window;
  QTemporaryDir folder;
};

TEST_F(Levels, Say_what_tcsim_fuse_says) {
  open(onCluster("multilevel:1"));
  EXPECT_EQ(window.equivalentCommand(), "tcsim fuse multilevel:1 --machine gpu-cluster-node");
  const json j = said(window.equivalentCommand(), {});
  for (const LevelProgram& p : scene().answer->levels->programs) {
    EXPECT_EQ(j[p.name]["predicted_seconds"], p.plan.time().value()) << p.name;
    for (std::size_t l = 0; l < 2; ++l) {
      EXPECT_EQ(j[p.name]["levels"][l]["predicted_bytes"], p.plan.counts.links[l].sum().bytes());
    }
  }
  EXPECT_EQ(scene().answer->levels->programs.size(), 3U);
  EXPECT_EQ(j["certificate"]["gap"], scene().answer->levels->optimum.gap());
  EXPECT_EQ(j["optimum"]["schedule"], window.schedule().toStdString());
  EXPECT_TRUE(window.verdict().startsWith("Limited by global-disk\nC in local."))
      << window.verdict().toStdString();
  EXPECT_TRUE(window.verdict().contains("What helps most: With global-disk twice as fast"))
      << window.verdict().toStdString();
  ASSERT_EQ(static_cast<int>(j["whatif"].size()), window.changes().model()->rowCount());
  EXPECT_EQ(window.changes().model()->index(0, 0).data().toString().toStdString(),
            j["whatif"][0]["change"]);
  // C stays in local memory, and moves over no link.
  int held = 0;
  for (const ChainTree::Node& n : window.tree().tree().nodes) {
    if (n.place != ChainTree::Place::memory) continue;
    ++held;
    EXPECT_EQ(n.level, 0);
    EXPECT_EQ(n.moved, "- | -");
  }
  EXPECT_EQ(held, 1);
  // Unfused it goes to disk.
  window.table().selectRow(2);
  for (const ChainTree::Node& n : window.tree().tree().nodes) {
    EXPECT_NE(n.place, ChainTree::Place::memory);
  }
  EXPECT_EQ(window.links().model()->rowCount(), 2);
}

TEST_F(Levels, Every_knob_is_live) {
  open(onCluster("multilevel:1"));
  std::vector<std::string> names;
  for (KnobRow* r : window.inputs().levelKnobs()) names.push_back(r->knob().name);
  for (const char* name :
       {"local.capacity", "global.capacity", "global.bandwidth", "global.transfer",
        "global.processes", "disk.bandwidth", "disk.transfer"}) {
    EXPECT_EQ(std::ranges::count(names, name), 1) << name;
  }
  const double before = scene().answer->levels->optimum.plan.time().value();
  QSlider& slider = *row("disk.bandwidth").slider();
  slider.setSliderDown(true);
  for (int i = 0; i < 6; ++i) slider.setValue(slider.value() + 10);  // twice as fast
  slider.setSliderDown(false);
  waitFor(planner());
  ASSERT_TRUE(scene().current) << scene().error;
  EXPECT_EQ(planner().design().knobs, "disk.bandwidth=0.2GB/s");
  const double twice = scene().answer->levels->optimum.plan.time().value();
  EXPECT_LT(twice, 0.6 * before);
  EXPECT_EQ(said(window.equivalentCommand(), {"--no-whatif"})["predicted_seconds"], twice);
  QLineEdit& field = *row("global.processes").field();
  field.setFocus();
  field.selectAll();
  QTest::keyClicks(&field, "16");
  QTest::keyClick(&field, Qt::Key_Return);
  waitFor(planner());
  EXPECT_EQ(planner().design().knobs, "disk.bandwidth=0.2GB/s, global.processes=16");
  EXPECT_EQ(scene().answer->subject->hierarchy->instances(0), 16);
  row("disk.bandwidth").resetButton()->click();
  waitFor(planner());
  EXPECT_EQ(planner().design().knobs, "global.processes=16");

  // Local memory larger than all of global memory is refused; the last answer stays.
  ChainDesign wrong = onCluster("multilevel:1");
  wrong.knobs = "local.capacity=64GB";
  window.open(wrong);
  ASSERT_TRUE(QTest::qWaitFor([&] { return !scene().error.empty(); }, levelPatienceMs));
  EXPECT_TRUE(window.isStale());
  // Back to a machine of caches.
  ChainDesign disk = onCluster("ap,pq,bq->ab");
  disk.sizes = sizesOf(disk.chain, "");
  disk.machine = "zen5";
  window.open(disk);
  waitFor(planner());
  ASSERT_TRUE(scene().current) << scene().error;
  EXPECT_FALSE(scene().answer->levels);
  EXPECT_TRUE(window.inputs().levelKnobs().empty());
  EXPECT_TRUE(window.equivalentCommand().contains("--memory"));
}

TEST_F(Levels, The_curve_is_that_of_vary) {
  ChainDesign d = onCluster("ik,kj->ij");
  d.sizes = "i=4000,k=4000,j=4000";
  d.knobs = "local.capacity=100kB, core.efficiency=1, global.transfer=0";
  open(d);
  planner().chooseKnob("global.bandwidth");
  waitFor(planner());
  ASSERT_TRUE(scene().curve) << scene().curveError;
  EXPECT_EQ(window.across().currentText(), "global.bandwidth");
  QString command = window.curveCommand();
  EXPECT_TRUE(command.endsWith("--vary global.bandwidth=0.25x..4x"));
  const json curve = said(command.remove('\''), {})["curves"][0];
  const levels::LevelGrid& grid = scene().curve->grid;
  ASSERT_EQ(curve["points"].size(), grid.points.size());
  for (std::size_t i = 0; i < grid.points.size(); ++i) {
    EXPECT_EQ(curve["points"][i]["value"], grid.points[i].values.front());
    EXPECT_EQ(curve["points"][i]["predicted_seconds"], grid.points[i].answer->plan.time().value());
  }
  ASSERT_EQ(curve["crossovers"].size(), 1U);
  const Plot plot = window.plot().plot();
  ASSERT_EQ(plot.rules.size(), 1U);
  EXPECT_EQ(plot.rules[0].at, curve["crossovers"][0]["value"]);
  ASSERT_EQ(plot.regions.size(), 2U);
  EXPECT_EQ(plot.regions[0].label, "local-global");
  EXPECT_EQ(plot.regions[1].label, "global-disk");
  EXPECT_EQ(plot.regions[0].to, plot.rules[0].at);
  EXPECT_EQ(plot.lines[0].x.size(), grid.points.size());
}

TEST_F(Levels, Of_what_is_asked_in_a_row_the_newest_is_answered) {
  ChainDesign d = onCluster("multilevel:1");
  for (const char* rate : {"0.2GB/s", "0.3GB/s", "0.4GB/s"}) {
    d.knobs = std::string("disk.bandwidth=") + rate;
    window.open(d);
  }
  waitFor(planner());
  ASSERT_TRUE(scene().current) << scene().error;
  EXPECT_EQ(scene().answer->design().knobs, "disk.bandwidth=0.4GB/s");
}

TEST_F(Levels, Tables_and_pictures_are_written) {
  open(onCluster("multilevel:5"));
  window.saveTable(folder.filePath("t.csv"));
  QFile file(folder.filePath("t.csv"));
  ASSERT_TRUE(file.open(QIODevice::ReadOnly));
  EXPECT_TRUE(file.readAll().startsWith(
      "program,global-disk_bytes,global-disk_seconds,local-global_bytes,"));
  window.saveTree(folder.filePath("tree.svg"));
  EXPECT_TRUE(QFile::exists(folder.filePath("tree.svg")));
}

}  // namespace
}  // namespace tcsim::gui
