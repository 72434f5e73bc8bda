// Sessions as files, as arguments, and as machines.
#include "core/saved/session.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "core/machine/toml.hpp"

namespace tcsim {
namespace {

Session full() {
  Session s;
  s.design.workload = {"aebf,dfce->abcd", "a=2,b=3,c=4,d=5,e=6,f=7", Layout::column_major,
                       ElementType::f32};
  s.design.machine = "e5-2680v4";
  s.design.overrides = {{"L3.capacity", "64MiB"}, {"L3.ways", "16"}, {"core.cores", "2"}};
  s.design.accounting = "paper";
  s.design.schedule = "groups m=ab n=cd k=ef\nkernel 8x6\n";
  Design pinned;
  pinned.workload.name = "tccg:29";
  s.pins = {{"a larger L3", pinned.with("L3.capacity", "70MiB")}, {"B", pinned}};
  s.view = {"map", "L3.capacity", "memory.bandwidth", "0.5x..2x", "L2", "misses-by-tensor",
            "B",   {1000, 2000}};
  return s;
}

TEST(Session, Comes_back_from_its_file_as_it_was) {
  for (const Session& s : {full(), [] {
                             Session plain;
                             plain.design.workload.name = "tccg:1";
                             return plain;
                           }()}) {
    EXPECT_EQ(parse_session(to_toml(s), "s.toml"), s) << to_toml(s);
  }
}

TEST(Session, A_baseline_of_an_older_file_is_a_pin) {
  const Session s = parse_session(
      "schema = 1\n[design]\nworkload = \"tccg:1\"\n[baseline]\nworkload = \"tccg:2\"\n"
      "[[pin]]\nname = \"B\"\nworkload = \"tccg:3\"\n",
      "s.toml");
  ASSERT_EQ(s.pins.size(), 2u);
  EXPECT_EQ(s.pins[0].name, "A");
  EXPECT_EQ(s.pins[0].design.workload.name, "tccg:2");
  EXPECT_EQ(s.pins[1].name, "B");
  EXPECT_EQ(parse_session(to_toml(s), "s.toml"), s);
}

// What is empty is as if it were not there, so that what is written reads back the same.
TEST(Session, Empty_texts_say_nothing) {
  const Session s = parse_session(
      "schema = 1\n[design]\nworkload = \"tccg:1\"\nmachine = \"\"\n[view]\nname = \"\"\n",
      "s.toml");
  EXPECT_EQ(s.design.machine, "host");
  EXPECT_EQ(s.view.name, "time");
  EXPECT_EQ(parse_session(to_toml(s), "s.toml"), s);
}

TEST(Session, Pins_that_nobody_named_are_letters) {
  std::vector<Pin> pins;
  EXPECT_EQ(free_pin_name(pins), "A");
  pins.push_back({"B", {}});
  EXPECT_EQ(free_pin_name(pins), "A");
  while (pins.size() < 26) pins.push_back({free_pin_name(pins), {}});
  EXPECT_EQ(free_pin_name(pins), "A2");
  pins.erase(pins.begin());
  EXPECT_EQ(free_pin_name(pins), "B");
}

TEST(Session, Faults_are_named_with_their_place_and_mend) {
  const std::string head = "schema = 1\n[design]\nworkload = \"tccg:1\"\n";
  const std::pair<std::string, std::string> cases[] = {
      {"", "s.toml:1:1: no schema"},
      {"schema = 2\n", "write schema = 1"},
      {"schema = 1\n", "no design; add a table [design]"},
      {"schema = 1\ndesign = 3\n", "s.toml:2:10: design is no table"},
      {"schema = 1\n[design]\n", "no workload; add one, such as workload = \"tccg:29\""},
      {head + "colour = \"red\"\n", "s.toml:4:1: unknown key 'colour' in a design; known are "},
      {head + "accounting = \"mine\"\n", "use honest or paper"},
      {head + "layout = \"diagonal\"\n", "use row-major or column-major"},
      {head + "set = \"L1.ways=4\"\n", "set is no list"},
      {head + "set = [\"L1.ways\"]\n", "s.toml:4:8: this is no override"},
      {head + "set = [4]\n", "this is no override"},
      {head + "machine = 7\n", "machine is no text"},
      {head + "[view\n", "s.toml:4:"},
      {head + "[pin]\nname = \"A\"\n", "pin is no list of tables; write [[pin]]"},
      {head + "[[pin]]\nworkload = \"tccg:1\"\n", "s.toml:4:1: no name"},
      {head + "[[pin]]\nname = \"A\"\n", "no workload"},
      {head + "[[pin]]\nname = \"A\"\ncolour = 1\n", "unknown key 'colour' in a design"},
      {head + "[baseline]\nworkload = \"tccg:1\"\n[[pin]]\nname = \"A\"\nworkload = \"tccg:1\"\n",
       "s.toml:7:8: two pins are named 'A'; give each a name of its own"},
      {head + "[view]\nzoom = \"1\"\n", "unknown key 'zoom' in [view]"},
      {head + "[view]\npart = \"9..3\"\n", "s.toml:5:8: there is nothing in it"},
      {head + "[view]\npart = \"all\"\n", "s.toml:5:8: that is no range; write FROM..TO"},
  };
  for (const auto& [text, said] : cases) {
    try {
      parse_session(text, "s.toml");
      ADD_FAILURE() << text;
    } catch (const InputError& e) {
      EXPECT_NE(std::string(e.what()).find(said), std::string::npos) << e.what();
    }
  }
  EXPECT_THROW(load_session("/nonexistent/s.toml"), InputError);
  EXPECT_THROW(load_session("/"), InputError);
}

TEST(Session, A_knob_is_set_in_its_place_and_unset) {
  Design d = full().design;
  EXPECT_EQ(d.value_of("L3.ways"), "16");
  EXPECT_EQ(d.value_of("L3.way"), "");
  d = d.with("L3.capacity", "8MiB");
  EXPECT_EQ(d.overrides.front(), (Override{"L3.capacity", "8MiB"}));
  EXPECT_EQ(d.with("L3.capacity", "").overrides.size(), 2u);
  EXPECT_EQ(d.with("L1.ways", "4").overrides.back(), (Override{"L1.ways", "4"}));
  EXPECT_EQ(d.with("L1.ways", ""), d);
}

TEST(Session, A_design_that_differs_by_one_knob_names_it) {
  Design a;
  a.workload.name = "tccg:29";
  a.overrides = {{"L2.capacity", "1MiB"}};
  EXPECT_EQ(changed_knob(a, a), "");
  EXPECT_EQ(changed_knob(a, a.with("L3.capacity", "64MiB")), "L3.capacity");
  EXPECT_EQ(changed_knob(a, a.with("L2.capacity", "")), "L2.capacity");
  EXPECT_EQ(changed_knob(a, a.with("L2.capacity", "2MiB")), "L2.capacity");
  EXPECT_EQ(changed_knob(a, a.with("L3.capacity", "64MiB").with("L2.capacity", "")), "");
  Design other = a.with("L3.capacity", "64MiB");
  other.accounting = "paper";
  EXPECT_EQ(changed_knob(a, other), "");
}

TEST(Session, A_cost_model_goes_to_the_command_that_takes_one) {
  Design d;
  d.workload.name = "tccg:29";
  d.machine = "e5-2680v4";
  d.cost = "45nm";
  EXPECT_EQ(command_line("whatif", d), "tcsim whatif tccg:29 --machine e5-2680v4 --cost 45nm");
  EXPECT_EQ(command_line("simulate", d), "tcsim simulate tccg:29 --machine e5-2680v4");
  Session s;
  s.design = d;
  EXPECT_EQ(parse_session(to_toml(s), "s.toml"), s);
}

TEST(Session, Says_the_same_as_a_command_line) {
  Design d;
  d.workload = {"ij,jk->ik", "i=4,j=5,k=6", {}, {}};
  d.machine = "my machine.toml";
  d.overrides = {{"L3.capacity", "64MiB"}};
  EXPECT_EQ(command_line("whatif", d, {"--vary", "L3.capacity=1x..2x"}),
            "tcsim whatif 'ij,jk->ik' --size i=4,j=5,k=6 --machine 'my machine.toml' --set "
            "L3.capacity=64MiB --vary L3.capacity=1x..2x");
  d.machine = "it's";
  EXPECT_NE(command_line("run", d).find("'it'\\''s'"), std::string::npos);
}

TEST(Session, Overrides_make_a_machine_or_say_why_not) {
  const Machine base = find_machine("e5-2680v4");
  Design d;
  d.accounting = "paper";
  d.overrides = {{"L3.capacity", "1000000"}};
  std::vector<std::string> notes;
  const Machine m = changed_machine(base, d, &notes);
  EXPECT_EQ(m.accounting, Accounting::paper());
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("not a whole number of 20-way sets"), std::string::npos);
  EXPECT_THROW(changed_machine(base, d.with("memory.bandwidth", "500GB/s")), InputError);
  EXPECT_THROW(changed_machine(base, d.with("L9.ways", "3")), UsageError);
}

}  // namespace
}  // namespace tcsim
