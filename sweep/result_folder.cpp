#include "sweep/result_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "core/io/read_file.hpp"
#include "core/machine/toml.hpp"
#include "core/text/safe.hpp"
#include "core/units/nearest.hpp"
#include "sweep/database.hpp"
#include "sweep/results.hpp"

namespace tcsim {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t first_knob = 3;  // behind design, machine, base

// By its name where a suite that ships has exactly that; it is shorter to read.
WorkloadRequest shortest(const std::string& name, const WorkloadRequest& request) {
  if (is_label(name)) return request;
  try {
    const Contraction shipped = find_workload({name, "", {}, {}}), wanted = find_workload(request);
    if (shipped.label() == wanted.label() && shipped.sizes() == wanted.sizes() &&
        shipped.layout() == wanted.layout() && shipped.type() == wanted.type()) {
      return {name, "", {}, {}};
    }
  } catch (const Error&) {  // no suite of that name
  }
  return request;
}

}  // namespace

fs::path results_file(const fs::path& folder) {
  std::error_code ignored;
  const fs::path file = fs::is_directory(folder, ignored) ? folder / "results.sqlite" : folder;
  if (fs::is_regular_file(file, ignored)) return file;
  if (fs::exists(folder / "store.sqlite", ignored)) {
    throw InputError(folder.string(), "the study is not complete", "go on with sweep --resume");
  }
  throw InputError(folder.string(), "there are no results",
                   "name a folder that tcsim sweep has written");
}

ResultFolder::ResultFolder(const fs::path& folder) : path_(folder) {
  try {
    read_columns();
    read_manifest();
  } catch (const UsageError& e) {
    throw InputError(e.place(), e.problem(), e.mend());
  }
}

void ResultFolder::read_columns() {
  const fs::path file = results_file(path_);
  if (fs::is_regular_file(path_)) path_ = path_.parent_path();
  Database db(file, Database::Mode::read);
  Statement schema(db, "SELECT value FROM meta WHERE what = 'schema'");
  if (!schema.step() || schema.text(0) != fmt::format("{}", sweep_schema)) {
    throw InputError(file.string(), "unknown schema",
                     fmt::format("this tcsim reads schema {}", sweep_schema));
  }
  for (const char* table : {"designs", "points"}) {
    Statement s(db, "SELECT name, type FROM pragma_table_info(?1) ORDER BY cid");
    s.bind(0, std::string_view(table));
    while (s.step()) {
      if (!columns_.empty() && s.text(0) == "design") continue;  // of both tables
      columns_.push_back(s.text(0));
      numbers_.push_back(s.text(1) != "TEXT");
    }
    if (design_columns_ == 0) design_columns_ = columns_.size();
  }
}

void ResultFolder::read_manifest() {
  const fs::path file = path_ / "manifest.json";
  const std::string text = read_file(file, "copy it to the results as well");
  try {
    const auto j = nlohmann::json::parse(text);
    j.at("study").get_to(study_);
    j.at("verdict").get_to(verdict_);
    j.at("designs").get_to(designs_);
    j.at("points").get_to(points_);
    if (!j.at("knobs").is_null()) j.at("knobs").get_to(knobs_);
    for (const auto& m : j.at("machines")) {
      machines_.push_back({m.at("name"), m.value("given", m.at("name").get<std::string>()),
                           m.at("accounting").at("name")});
    }
    for (const auto& w : j.at("workloads")) {
      WorkloadRequest r{w.at("label"), w.at("sizes"), {}, {}};
      // A convolution's label says its memory orders itself.
      if (is_label(r.name)) {
        r.layout = w.at("layout") == "column-major" ? Layout::column_major : Layout::row_major;
      }
      r.type = w.at("type") == "f32" ? ElementType::f32 : ElementType::f64;
      const bool chain = w.at("layout").is_null();
      workloads_.push_back({w.at("name"), r, chain});
    }
    for (const std::string setting : j.value("set", nlohmann::json::array())) {
      const auto equals = setting.find('=');
      set_.push_back({setting.substr(0, equals), setting.substr(equals + 1)});
    }
  } catch (const nlohmann::json::exception&) {
    throw InputError(file.string(), "it is damaged", "copy the results again");
  }
}

std::size_t ResultFolder::column(const std::string& name) const {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i] == name) return i;
  }
  for (std::size_t k = 0; k < knobs_.size(); ++k) {
    if (knobs_[k] == name) return first_knob + k;
  }
  throw UsageError(name, "no such column", one_of(name, columns_));
}

std::optional<Knob> ResultFolder::knob(std::size_t column) const {
  if (column < first_knob || column >= first_knob + knobs_.size()) return {};
  Knob knob;
  knob.name = knobs_[column - first_knob];
  for (const KnobUnit unit :
       {KnobUnit::bytes, KnobUnit::count, KnobUnit::bits, KnobUnit::cycles, KnobUnit::hertz,
        KnobUnit::bytes_per_cycle, KnobUnit::bytes_per_second, KnobUnit::number}) {
    if (columns_[column] == knob.name + "_" + to_text(unit)) knob.unit = unit;
  }
  return knob;
}

std::string ResultFolder::column_sql(std::size_t column) const {
  return (column < design_columns_ ? "d." : "p.") + quoted_sql(columns_[column]);
}

Row ResultFolder::row(const PointKey& key) const {
  Database db(results_file(path_), Database::Mode::read);
  std::string names;
  for (std::size_t i = 0; i < columns_.size(); ++i) names += (i ? ", " : "") + column_sql(i);
  Statement s(db,
              fmt::format("SELECT {} {} WHERE p.design = ?1 AND p.workload = ?2", names, join()));
  s.bind(0, key.design).bind(1, std::string_view(key.workload));
  if (!s.step()) {
    throw InputError(path_.string(), fmt::format("no point {} {}", key.design, key.workload), "");
  }
  Row row;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    row.push_back(s.cell(static_cast<int>(i)));
  }
  return row;
}

Design ResultFolder::design(const PointKey& key) const {
  const Row values = row(key);
  const auto workload =
      std::find_if(workloads_.begin(), workloads_.end(),
                   [&](const NamedWorkload& w) { return w.name == key.workload; });
  const std::string& name = values[column("machine")].text;
  const auto machine = std::find_if(machines_.begin(), machines_.end(),
                                    [&](const NamedMachine& m) { return m.name == name; });
  if (workload == workloads_.end() || machine == machines_.end()) {
    throw InputError((path_ / "manifest.json").string(),
                     fmt::format("it does not have {} on {}", key.workload, name),
                     "it is of another study than the tables");
  }
  if (workload->chain) {
    throw UsageError(workload->name, "it is a chain on explicit levels",
                     "look at it with tcsim fuse, its knobs given by --set");
  }
  Design d;
  d.workload = shortest(workload->name, workload->request);
  // A file that the study names from where it lies, which is beside its results unless they moved.
  const fs::path beside = (path_ / ".." / machine->given).lexically_normal();
  std::error_code ignored;
  d.machine = fs::is_regular_file(beside, ignored) ? beside.string() : machine->given;
  d.overrides = set_;
  const Machine base = find_machine(d.machine);
  if (machine->accounting != base.accounting.name) d.accounting = machine->accounting;
  if (values[column("base")].integer == 0) {
    for (std::size_t k = 0; k < knobs_.size(); ++k) {
      const Knob knob = *this->knob(first_knob + k);
      // Behind what the study sets, in the order in which the sweep sets them.
      std::erase_if(d.overrides, [&](const Override& o) { return o.knob == knob.name; });
      d.overrides.push_back({knob.name, exact(knob, values[first_knob + k].real)});
    }
  }
  Database db(results_file(path_), Database::Mode::read);
  Statement text(db, "SELECT text FROM schedules WHERE schedule = ?1");
  text.bind(0, std::string_view(values[column("schedule")].text));
  if (text.step()) d.schedule = text.text(0);
  return d;
}

}  // namespace tcsim
