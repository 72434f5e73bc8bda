// Reading a study file: every fault has its place.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "core/fusion/leaf.hpp"
#include "core/io/toml.hpp"
#include "core/levels/hierarchy.hpp"
#include "core/machine/override.hpp"
#include "core/machine/toml_reader.hpp"
#include "core/model/predict.hpp"
#include "core/study/cost_toml.hpp"
#include "core/study/study.hpp"
#include "core/text/name.hpp"
#include "core/units/nearest.hpp"
#include "core/workload/parse.hpp"
#include "core/workload/request.hpp"

namespace tcsim {

namespace {

constexpr int default_points = 17;
constexpr std::size_t most_workloads = 100000, most_machines = 10000;

const std::vector<std::string> study_keys{
    "schema",  "name",       "description", "workloads", "workload",   "machines",
    "set",     "accounting", "knob",        "sampling",  "samples",    "constraints",
    "compute", "objective",  "seed",        "cost",      "repetitions"};

class StudyReader {
 public:
  StudyReader(const toml::table& root, const std::string& place, const StudySources& sources,
              std::stop_token stop)
      : r_(place), root_(root), sources_(sources), stop_(std::move(stop)) {}

  Study read() {
    known(root_, "a study", study_keys);
    const toml::node& schema = r_.required(root_, "schema", "the study");
    if (schema.value_exact<std::int64_t>() != 1) {
      r_.fail(schema, "unknown schema", "this tcsim reads schema = 1");
    }
    const toml::node& name = r_.required(root_, "name", "the study");
    study_.name = r_.text(name, "name");
    require_name(study_.name, r_.at(name), "the study's name");
    study_.description = r_.text_or(root_, "description", "");
    study_.sampling = r_.choice_or(root_, "sampling", Sampling::grid, all_samplings);
    study_.compute = r_.choice_or(root_, "compute", Compute::optimize, all_computes);
    study_.objective = r_.choice_or(root_, "objective", StudyObjective::time, all_study_objectives);
    if (const toml::node* n = root_.get("seed")) study_.seed = whole_number(*n, "seed");
    if (const toml::node* n = root_.get("repetitions")) {
      study_.repetitions = static_cast<int>(r_.count(*n, "repetitions", 1000));
    }
    read_cost();
    read_machines();
    read_workloads();
    read_knobs();
    count_designs();
    read_constraints();
    check_objective();
    check_each_machine();
    return std::move(study_);
  }

 private:
  static constexpr Sampling all_samplings[] = {Sampling::grid, Sampling::zip,
                                               Sampling::latin_hypercube, Sampling::sobol};

  void known(const toml::table& table, const std::string& what,
             const std::vector<std::string>& keys) const {
    for (const auto& [key, node] : table) {
      const std::string name(key.str());
      if (std::find(keys.begin(), keys.end(), name) != keys.end()) continue;
      throw InputError(r_.at(key.source()), fmt::format("unknown key '{}' in {}", name, what),
                       one_of(name, keys));
    }
  }

  // What `work` finds wrong is told with the place of `node`.
  template <class F>
  auto at(const toml::node& node, F&& work) const {
    try {
      return work();
    } catch (const UsageError& e) {
      throw InputError(r_.at(node), e.what(), "");
    }
  }

  std::uint64_t whole_number(const toml::node& node, const char* key) const {
    const auto* value = node.as_integer();
    if (value == nullptr || value->get() < 0) {
      r_.fail(node, fmt::format("{} is no whole number from 0 up", key), "write one");
    }
    return static_cast<std::uint64_t>(value->get());
  }

  void read_cost() {
    const toml::node* node = root_.get("cost");
    if (node == nullptr) return;
    if (const toml::table* table = node->as_table()) {
      study_.cost = read_cost_model(r_, *table, false);
      return;
    }
    const std::string name = r_.text(*node, "cost");
    const std::string text = at(*node, [&] { return sources_.cost_model(name); });
    study_.cost = parse_cost_model(text, name);
  }

  void add_workload(const toml::node& node, StudyWorkload workload) {
    const std::string& name = workload.name();
    require_name(name, r_.at(node), "the workload's name");
    for (const StudyWorkload& w : study_.workloads) {
      if (w.name() != name) continue;
      r_.fail(node, fmt::format("workload '{}' comes twice", name),
              "take one out, or give it another name");
    }
    if (study_.workloads.size() >= most_workloads) r_.fail(node, "too many workloads", "");
    study_.workloads.push_back(std::move(workload));
  }

  // All that a name leads to.
  void add_named(const toml::node& node, const std::string& name, double weight) {
    if (explicit_levels_) return add_chains(node, {name, "", {}, ""}, "", weight);
    if (fusion::names_chain(name)) {
      r_.fail(node, fmt::format("'{}' is a chain", name),
              "chains are for studies of machines with explicit levels, such as gpu-cluster-node");
    }
    for (Contraction& c : at(node, [&] { return sources_.workloads(name); })) {
      add_workload(node, {std::move(c), weight});
    }
  }

  // `name`: of the one that it is; empty: their own.
  void add_chains(const toml::node& node, const fusion::ChainRequest& request,
                  const std::string& name, double weight) {
    std::vector<fusion::OperationTree> trees;
    try {
      for (fusion::Chain& chain : at(node, [&] { return sources_.chains(request); })) {
        trees.push_back(fusion::operation_tree(chain.program));
        fusion::element_type(trees.back());  // all tensors have one
      }
    } catch (const UnsupportedError& e) {
      r_.fail(node, e.what(), "");
    }
    for (fusion::OperationTree& tree : trees) {
      if (!name.empty()) tree.name = name;
      add_workload(node, {std::move(tree), weight});
    }
  }

  void read_workloads() {
    for (const toml::node* item : items("workloads")) {
      add_named(*item, r_.text(*item, "workloads"), 1);
    }
    r_.each_table(root_, "workload", "workload", [&](const toml::table& t) { read_workload(t); });
    if (study_.workloads.empty()) {
      throw InputError(r_.place() + ":1:1", "the study has no workload",
                       "add workloads = [\"tccg\"], or a [[workload]]");
    }
  }

  void read_workload(const toml::table& t) {
    double weight = 1;
    if (const toml::node* n = t.get("weight")) weight = r_.number(*n, "weight");
    if (explicit_levels_) return read_chain(t, weight);
    known(t, "[[workload]]", {"name", "label", "sizes", "layout", "type", "weight"});
    const toml::node* label = t.get("label");
    if (label == nullptr) {
      const toml::node& node = r_.required(t, "name", "[[workload]]");
      const std::string name = r_.text(node, "name");
      for (const char* key : {"sizes", "layout", "type"}) {
        if (const toml::node* n = t.get(key)) {
          r_.fail(*n, fmt::format("'{}' is of a suite, which says its {}", name, key),
                  "take it out, or give a label");
        }
      }
      return add_named(node, name, weight);
    }
    const toml::node& sizes = r_.required(t, "sizes", "[[workload]]");
    const std::string layout = r_.text_or(t, "layout", "row-major");
    const std::string type = r_.text_or(t, "type", "f64");
    one_word(t, "layout", layout, {"row-major", "column-major"});
    one_word(t, "type", type, {"f64", "f32"});
    const std::string what = r_.text(*label, "label");
    if (needs_sizes(what) && !is_label(what)) {  // a convolution
      WorkloadRequest request{what, r_.text(sizes, "sizes"), {}, {}};
      if (t.contains("layout")) request.layout = Layout::row_major;  // refused in words
      if (t.contains("type")) request.type = type == "f64" ? ElementType::f64 : ElementType::f32;
      const Contraction c = at(sizes, [&] { return find_workload(request); });
      return add_workload(*label, {c.renamed(r_.text_or(t, "name", c.name())), weight});
    }
    const Sizes extents = at(sizes, [&] { return parse_sizes(r_.text(sizes, "sizes")); });
    const Contraction c = at(*label, [&] {
      return parse_contraction(what, extents,
                               layout == "row-major" ? Layout::row_major : Layout::column_major,
                               type == "f64" ? ElementType::f64 : ElementType::f32);
    });
    add_workload(*label, {c.renamed(r_.text_or(t, "name", c.name())), weight});
  }

  void read_chain(const toml::table& t, double weight) {
    known(t, "[[workload]] of machines with explicit levels",
          {"name", "statements", "sizes", "type", "weight"});
    const toml::node* statements = t.get("statements");
    if (statements == nullptr) {
      const toml::node& node = r_.required(t, "name", "[[workload]]");
      const std::string name = r_.text(node, "name");
      for (const char* key : {"sizes", "type"}) {
        if (const toml::node* n = t.get(key)) {
          r_.fail(*n, fmt::format("'{}' is of a suite, which says its {}", name, key),
                  "take it out, or give statements");
        }
      }
      return add_named(node, name, weight);
    }
    const std::string type = r_.text_or(t, "type", "f64");
    one_word(t, "type", type, {"f64", "f32"});
    const toml::node& sizes = r_.required(t, "sizes", "[[workload]]");
    add_chains(*statements,
               {r_.text(*statements, "statements"), r_.text(sizes, "sizes"),
                type == "f64" ? ElementType::f64 : ElementType::f32, ""},
               r_.text_or(t, "name", ""), weight);
  }

  void one_word(const toml::table& t, const char* key, const std::string& given,
                const std::vector<std::string>& words) const {
    if (std::find(words.begin(), words.end(), given) != words.end()) return;
    r_.fail(*t.get(key), fmt::format("{} '{}' is unknown", key, given), one_of(given, words));
  }

  // The elements of a list, or a single value in its place.
  std::vector<const toml::node*> items(const char* key) const {
    std::vector<const toml::node*> all;
    const toml::node* node = root_.get(key);
    if (node == nullptr) return all;
    const toml::array* list = node->as_array();
    if (list == nullptr) return {node};
    for (const toml::node& item : *list) all.push_back(&item);
    return all;
  }

  void read_machines() {
    const auto names = items("machines");
    if (names.empty()) {
      throw InputError(r_.place() + ":1:1", "the study has no machine",
                       "add machines = [\"e5-2680v4\"]");
    }
    if (names.size() > most_machines) r_.fail(*names.back(), "too many machines", "");
    for (const toml::node* item : names) {
      const std::string name = r_.text(*item, "machines");
      Machine m = at(*item, [&] { return sources_.machine(name); });
      for (const StudyMachine& other : study_.machines) {
        if (other.machine.name == m.name) {
          r_.fail(*item, fmt::format("machine '{}' comes twice", m.name), "take one out");
        }
      }
      apply_settings(m);
      require_kind(*item, m);
      const toml::node* n = root_.get("accounting");
      if (n != nullptr && explicit_levels_) {
        r_.fail(*n, "accounting is of caches, and the machines have explicit levels",
                "take it out");
      }
      if (n != nullptr) {
        const std::string a = r_.text(*n, "accounting");
        if (a != "honest" && a != "paper") {
          r_.fail(*n, fmt::format("accounting '{}' is unknown", a), one_of(a, {"honest", "paper"}));
        }
        m.accounting = a == "honest" ? Accounting::honest() : Accounting::paper();
      }
      if (study_.cost) m = study_.cost->with_energy(std::move(m));
      study_.machines.push_back({std::move(m), {}, 0, name});
      machine_nodes_.push_back(item);
    }
  }

  // All machines have explicit levels, or none has.
  void require_kind(const toml::node& node, const Machine& m) {
    const bool levels = levels::has_explicit_levels(m);
    if (study_.machines.empty()) explicit_levels_ = levels;
    if (levels == explicit_levels_) return;
    const std::string& other = study_.machines.front().machine.name;
    r_.fail(node,
            fmt::format("{} has explicit levels and {} has caches", levels ? m.name : other,
                        levels ? other : m.name),
            "make two studies");
  }

  void apply_settings(Machine& m) {
    const toml::node* node = root_.get("set");
    if (node == nullptr) return;
    const toml::table* table = node->as_table();
    if (table == nullptr) r_.fail(*node, "set is no table", "write [set] on a line of its own");
    for (const auto& [key, value] : *table) {
      const std::string name(key.str());
      if (value.is_table()) {
        r_.fail(value, fmt::format("{} is a table", name),
                fmt::format("put the knob's name in quotes: \"{}.FIELD\" = \"...\"", name));
      }
      const std::string text = value.is_string()    ? value.as_string()->get()
                               : value.is_integer() ? fmt::format("{}", value.as_integer()->get())
                               : value.is_boolean() ? (value.as_boolean()->get() ? "true" : "false")
                                                    : fmt::format("{}", r_.number(value, name));
      const std::string setting = name + "=" + text;
      m = at(value, [&] { return override_knob(m, setting).machine; });
      if (study_.machines.empty()) study_.settings.push_back(setting);
    }
    try {
      check(m, "");
    } catch (const InputError& e) {
      r_.fail(*node, fmt::format("{} with these settings: {}", m.name, e.problem()), e.mend());
    }
  }

  void read_knobs() {
    r_.each_table(root_, "knob", "knob", [&](const toml::table& t) {
      known(t, "[[knob]]", {"name", "range", "values", "points", "scale"});
      const toml::node& node = r_.required(t, "name", "[[knob]]");
      const std::string name = r_.text(node, "name");
      if (std::find(study_.knobs.begin(), study_.knobs.end(), name) != study_.knobs.end()) {
        r_.fail(node, fmt::format("{} varies twice", name), "take one out");
      }
      if (study_.knobs.size() >= most_sampled_knobs) r_.fail(node, "too many knobs", "vary fewer");
      study_.knobs.push_back(name);
      // One column of the results holds the knob of all machines: in the first one's unit.
      std::optional<KnobUnit> unit;
      for (StudyMachine& m : study_.machines) {
        m.axes.push_back(read_axis(t, node, name, m.machine, unit));
        unit = m.axes.back().knob.unit;
      }
      knob_nodes_.push_back(&node);
    });
  }

  // Asked for every value of a knob, of which there may be millions.
  void go_on() const {
    if (stop_.stop_requested()) throw Interrupted();
  }

  // Values in the knob's unit, which the first absolute value chooses.
  std::vector<double> read_values(
      const Machine& m, Knob& knob,
      const std::vector<std::pair<const toml::node*, std::string>>& texts) const {
    std::optional<KnobUnit> given;
    KnobUnit unit{};
    for (const auto& [node, words] : texts) {
      go_on();
      const std::string& text = words;  // clang 14 captures no structured binding
      at(*node, [&] { return parse_value(knob, text, unit); });
      if (text.ends_with('x')) continue;
      if (given && *given != unit) {
        r_.fail(*node, fmt::format("{}: some values are per second, others per cycle", knob.name),
                "use one unit");
      }
      given = unit;
    }
    if (given && *given != knob.unit) knob = find_knob(m, knob.name, given);
    std::vector<double> values;
    for (const auto& [node, text] : texts) {
      go_on();
      values.push_back(parse_value(knob, text, unit));
    }
    return values;
  }

  std::string value_text(const toml::node& node) const {
    if (const auto* whole = node.as_integer()) return fmt::format("{}", whole->get());
    if (const auto* real = node.as_floating_point()) return fmt::format("{}", real->get());
    return r_.text(node, "a value");
  }

  // The value that a machine can have.
  double settled(const toml::node& node, const Machine& m, const Knob& knob, double value) const {
    go_on();
    if (!std::isfinite(value)) r_.fail(node, knob.name + ": value out of range", "");
    return at(node, [&] { return value_of(with_knob(m, knob, value), knob); });
  }

  Axis read_axis(const toml::table& t, const toml::node& name_node, const std::string& name,
                 const Machine& m, std::optional<KnobUnit> unit) {
    Axis axis;
    axis.knob = at(name_node, [&] { return find_knob(m, name, unit); });
    const toml::node* range = t.get("range");
    const toml::node* values = t.get("values");
    if ((range == nullptr) == (values == nullptr)) {
      r_.fail(name_node, fmt::format("{} has {}", name, range ? "a range and values" : "no values"),
              "give range = \"LOW..HIGH\" or values = [...]");
    }
    if (values != nullptr) {
      read_list(t, *values, m, axis);
    } else {
      read_range(t, *range, m, axis);
    }
    return axis;
  }

  void read_list(const toml::table& t, const toml::node& values, const Machine& m, Axis& axis) {
    for (const char* key : {"points", "scale"}) {
      if (const toml::node* n = t.get(key)) {
        r_.fail(*n, fmt::format("{} belongs to a range", key), "take it out");
      }
    }
    const toml::array* list = values.as_array();
    if (list == nullptr || list->empty()) r_.fail(values, "values is no list", "write [a, b, c]");
    std::vector<std::pair<const toml::node*, std::string>> texts;
    for (const toml::node& n : *list) texts.emplace_back(&n, value_text(n));
    axis.listed = true;
    const std::vector<double> wanted = read_values(m, axis.knob, texts);
    std::unordered_set<double> seen;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const double v = settled(*texts[i].first, m, axis.knob, wanted[i]);
      if (study_.sampling != Sampling::zip && !seen.insert(v).second) {
        r_.fail(*texts[i].first,
                fmt::format("{}: {} comes twice on {} (values move to what a machine can have)",
                            axis.knob.name, display(axis.knob, v), m.name),
                "take one out");
      }
      axis.values.push_back(v);
    }
    const auto [low, high] = std::minmax_element(axis.values.begin(), axis.values.end());
    axis.low = *low;
    axis.high = *high;
  }

  void read_range(const toml::table& t, const toml::node& range, const Machine& m, Axis& axis) {
    const std::string text = r_.text(range, "range");
    const auto dots = text.find("..");
    if (dots == text.npos) {
      r_.fail(range, fmt::format("'{}' is no range", text), "write \"LOW..HIGH\"");
    }
    const auto ends = read_values(
        m, axis.knob, {{&range, text.substr(0, dots)}, {&range, text.substr(dots + 2)}});
    axis.low = settled(range, m, axis.knob, ends[0]);
    axis.high = settled(range, m, axis.knob, ends[1]);
    if (!(axis.low < axis.high)) {
      r_.fail(range,
              fmt::format("{} begins at {} and ends at {}", axis.knob.name,
                          display(axis.knob, axis.low), display(axis.knob, axis.high)),
              "let it begin with the smaller of two different values");
    }
    const std::string scale = r_.text_or(t, "scale", "log");
    if (t.contains("scale")) one_word(t, "scale", scale, {"log", "linear"});
    axis.linear = scale == "linear";
    const bool sampled =
        study_.sampling == Sampling::latin_hypercube || study_.sampling == Sampling::sobol;
    std::int64_t points = default_points;
    if (const toml::node* n = t.get("points")) {
      if (sampled) {
        r_.fail(
            *n,
            fmt::format("points of a knob mean nothing with sampling {}", to_text(study_.sampling)),
            "say samples = N for the whole study");
      }
      points = r_.count(*n, "points", 1'000'000);
      if (points < 2) r_.fail(*n, "points is 1", "a range has at least 2; or use values");
    }
    if (sampled) return;
    for (std::int64_t i = 0; i < points; ++i) {
      const double u = static_cast<double>(i) / static_cast<double>(points - 1);
      const double v = i + 1 == points ? axis.high : settled(range, m, axis.knob, axis.at(u));
      const bool same = !axis.values.empty() && v <= axis.values.back() * (1 + 1e-9);
      if (same && study_.sampling == Sampling::grid) continue;
      axis.values.push_back(v);
    }
  }

  void count_designs() {
    const bool sampled =
        study_.sampling == Sampling::latin_hypercube || study_.sampling == Sampling::sobol;
    const toml::node* samples = root_.get("samples");
    if (sampled) {
      study_.samples = r_.count(r_.required(root_, "samples", "the study"), "samples");
      if (study_.knobs.empty()) {
        r_.fail(*samples, "there is nothing to sample", "add a [[knob]]");
      }
    } else if (samples != nullptr) {
      r_.fail(*samples, fmt::format("sampling {} takes no samples", to_text(study_.sampling)),
              "take it out, or use latin-hypercube or sobol");
    }
    std::int64_t all = std::ssize(study_.machines);
    for (StudyMachine& m : study_.machines) {
      m.designs = sampled ? study_.samples : listed_designs(m);
      if (__builtin_add_overflow(all, m.designs, &all)) all = most_study_points + 1;
      std::int64_t points = 0;
      if (__builtin_mul_overflow(all, std::ssize(study_.workloads), &points) ||
          points > most_study_points) {
        r_.fail(knob_nodes_.empty() ? root_ : *knob_nodes_.back(),
                fmt::format("the study has more than {} points", most_study_points),
                "use fewer values, or sample");
      }
    }
  }

  std::int64_t listed_designs(const StudyMachine& m) const {
    if (m.axes.empty()) return 0;
    if (study_.sampling == Sampling::zip) {
      for (std::size_t k = 1; k < m.axes.size(); ++k) {
        if (m.axes[k].values.size() == m.axes[0].values.size()) continue;
        r_.fail(*knob_nodes_[k],
                fmt::format("{} has {} values and {} has {}", study_.knobs[k],
                            m.axes[k].values.size(), study_.knobs[0], m.axes[0].values.size()),
                "zipped knobs have equally many; or use sampling = \"grid\"");
      }
      return std::ssize(m.axes[0].values);
    }
    std::int64_t product = 1;
    for (const Axis& a : m.axes) {
      if (__builtin_mul_overflow(product, std::ssize(a.values), &product)) {
        return most_study_points + 1;
      }
    }
    return product;
  }

  void read_constraints() {
    for (const toml::node* node : items("constraints")) {
      Constraint c{read_expression(r_, *node, "constraints"), false};
      if (!c.expression.compares()) {
        r_.fail(*node, fmt::format("'{}' does not compare", c.expression.text()),
                "write something like L3.capacity >= 2 * L2.capacity");
      }
      for (const std::string& v : c.expression.variables()) require_quantity(*node, v, c);
      study_.constraints.push_back(std::move(c));
    }
  }

  void require_quantity(const toml::node& node, const std::string& v, Constraint& c) const {
    if (v == "area" || v == "cost") {
      const Machine& m = study_.machines.front().machine;
      if (!study_.cost || (v == "area" ? !study_.cost->area(m) : !study_.cost->cost(m))) {
        r_.fail(node, fmt::format("nothing says what the {} is", v),
                v == "area" ? "add a cost model with areas, such as cost = \"45nm\""
                            : "add a cost model with a price");
      }
      c.on_cost = true;
      return;
    }
    for (const StudyMachine& m : study_.machines) {
      if (quantity(m.machine, v)) continue;
      std::vector<std::string> names = quantities(m.machine);
      names.insert(names.end(), {"area", "cost"});
      r_.fail(node, fmt::format("{} has no {}", m.machine.name, v), one_of(v, names));
    }
  }

  void check_objective() const {
    const toml::node* node = root_.get("objective");
    if (explicit_levels_ && study_.compute == Compute::run) {
      r_.fail(*root_.get("compute"), "a study does not run chains on explicit levels",
              "use compute = \"simulate\", or tcsim fuse CHAIN --run FOLDER");
    }
    if (explicit_levels_ && study_.objective == StudyObjective::energy) {
      r_.fail(*node, "nothing says what a byte between explicit levels costs in energy",
              "use objective = \"time\" or \"traffic\"");
    }
    for (const StudyMachine& m : study_.machines) {
      if (study_.objective == StudyObjective::energy) {
        for (const Level& l : m.machine.levels) {
          if (l.energy) continue;
          r_.fail(*node,
                  fmt::format("nothing says what a byte of {}'s {} costs in energy", m.machine.name,
                              l.name),
                  "add a cost model with energies, such as cost = \"45nm\"");
        }
      }
      const bool area = study_.objective == StudyObjective::area;
      if (!area && study_.objective != StudyObjective::cost) continue;
      if (!study_.cost || (area ? !study_.cost->area(m.machine) : !study_.cost->cost(m.machine))) {
        r_.fail(*node, fmt::format("nothing says what the {} is", to_text(study_.objective)),
                "add a cost model");
      }
    }
  }

  // What a machine costs must be a number, and the model must cover it.
  void check_each_machine() const {
    for (std::size_t i = 0; i < study_.machines.size(); ++i) {
      const Machine& m = study_.machines[i].machine;
      try {
        if (explicit_levels_) {
          levels::hierarchy(m, Bytes(8));
        } else {
          common_line(m);
        }
      } catch (const UnsupportedError& e) {
        r_.fail(*machine_nodes_[i], e.what(), "");
      }
      if (!study_.cost) continue;
      const auto bad = [](double x) { return !(x >= 0) || !std::isfinite(x); };
      const auto refuse = [&](const char* what) {
        r_.fail(*root_.get("cost"), fmt::format("the {} of {} is no number", what, m.name),
                "mend the formulas (a level without a capacity has none to count with)");
      };
      if (bad(study_.cost->area(m).value_or(0))) refuse("area");
      if (bad(study_.cost->cost(m).value_or(0))) refuse("cost");
      if (bad(study_.cost->power(m))) refuse("power");
      if (bad(study_.cost->fma_energy(m, Bytes(8)))) refuse("energy of a multiply-add");
      for (const Level& l : m.levels) {
        if (l.energy && bad(l.energy->value.value())) refuse("energy of a byte");
      }
    }
  }

  MachineReader r_;
  const toml::table& root_;
  const StudySources& sources_;
  Study study_;
  std::stop_token stop_;
  std::vector<const toml::node*> machine_nodes_, knob_nodes_;
  bool explicit_levels_ = false;  // of all machines
};

}  // namespace

Study parse_study(std::string_view toml, const std::string& place, const StudySources& sources,
                  std::stop_token stop) {
  const toml::table root = parse_toml(toml, place);
  return StudyReader(root, place, sources, std::move(stop)).read();
}

}  // namespace tcsim
