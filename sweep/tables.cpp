#include "sweep/tables.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>

#include "core/error.hpp"
#include "core/explore/uncertainty.hpp"
#include "core/io/json.hpp"
#include "core/io/on_disk.hpp"
#include "core/text/safe.hpp"

namespace tcsim {

namespace fs = std::filesystem;

namespace {

std::string columns_sql(const std::vector<Column>& columns) {
  std::string text;
  for (const Column& c : columns) {
    text += (text.empty() ? "" : ", ") + quoted_sql(c.name) + " " + c.type;
  }
  return text;
}

std::string places_sql(std::size_t n) {
  std::string text = "?";
  for (std::size_t i = 1; i < n; ++i) text += ", ?";
  return text;
}

std::string members(const std::vector<Column>& columns, const Row& row) {
  std::string text;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row[i].kind == Cell::Kind::nothing) continue;
    if (!text.empty()) text += ", ";
    text += json_line(columns[i].name) + ": " + row[i].json();
  }
  return text;
}

[[noreturn]] void refuse_to_write(const fs::path& file, int error) {
  throw UsageError(file.string(), "cannot be written: " + std::generic_category().message(error),
                   mend_of_writing(error, "see that the folder is writable"));
}

}  // namespace

TableForm::TableForm(const Study& study) : study_(study), bounds_(study.workloads.size()) {
  for (const StudyMachine& m : study.machines) {
    for (std::size_t l = 0; l < link_count(study, m.machine); ++l) {
      const std::string link = link_text(study, m.machine, l);
      if (std::find(links_.begin(), links_.end(), link) == links_.end()) links_.push_back(link);
    }
  }
  design_ = {{"design", "INTEGER"}, {"machine", "TEXT"}, {"base", "INTEGER"}};
  for (std::size_t k = 0; k < study.knobs.size(); ++k) {
    design_.push_back(
        {fmt::format("{}_{}", study.knobs[k], to_text(study.machines.front().axes[k].knob.unit)),
         "REAL"});
  }
  for (const char* name :
       {"area_mm2", "cost", "total_seconds", "total_joules", "total_traffic_bytes"}) {
    design_.push_back({name, "REAL"});
  }
  design_.insert(design_.end(),
                 {{"main_bottleneck", "TEXT"}, {"objective", "REAL"}, {"pareto", "INTEGER"}});

  point_ = {{"workload", "TEXT"},
            {"weight", "REAL"},
            {"seconds", "REAL"},
            {"gflops", "REAL"},
            {"bottleneck", "TEXT"},
            {"predicted_seconds", "REAL"},
            {"compute_seconds", "REAL"},
            {"simulated_seconds", "REAL"},
            {"measured_seconds", "REAL"},
            {"joules", "REAL"},
            {"bound", "REAL"},
            {"gap", "REAL"}};
  for (const StudyMachine& m : study.machines) {
    if (study.of_chains()) break;
    for (Bytes element : {Bytes(4), Bytes(8)}) sure_ |= rate_spread(m.machine, element).known();
  }
  if (sure_) {
    for (const char* name : {"bottleneck_share", "model_seconds_5", "model_seconds_95"}) {
      point_.push_back({name, "REAL"});
    }
  }
  for (const std::string& l : links_) point_.push_back({l + "_bytes", "REAL"});
  for (const std::string& l : links_) point_.push_back({l + "_seconds", "REAL"});
  if (study.compute == Compute::simulate || study.compute == Compute::run) {
    for (const std::string& l : links_) point_.push_back({l + "_simulated_bytes", "REAL"});
  }
  if (!study.of_chains()) {
    for (const std::string& l : links_) point_.push_back({l + "_bound_bytes", "REAL"});
  }
  point_.push_back({"schedule", "TEXT"});
  // SQLite's names differ in more than their case; levels of several machines need not.
  std::vector<std::string> taken;
  for (auto* columns : {&design_, &point_}) {
    for (Column& c : *columns) {
      const auto lower = [](std::string name) {
        for (char& letter : name) {
          letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
        }
        return name;
      };
      while (std::find(taken.begin(), taken.end(), lower(c.name)) != taken.end()) c.name += "_2";
      taken.push_back(lower(c.name));
    }
  }
}

Row TableForm::design_row(const DesignResult& d, bool on_front) const {
  const StudyMachine& m = study_.machines[d.design.machine];
  Row row{d.design.number, m.machine.name, std::int64_t{d.design.base ? 1 : 0}};
  for (double v : d.design.values) row.emplace_back(v);
  const auto number = [](std::optional<double> x) { return x ? Cell(*x) : Cell(); };
  row.push_back(number(d.design.area));
  row.push_back(number(d.design.cost));
  row.emplace_back(d.seconds);
  row.emplace_back(d.joules);
  row.emplace_back(d.traffic_bytes);
  row.emplace_back(bottleneck_text(study_, m.machine, static_cast<int>(d.bottleneck())));
  row.emplace_back(d.objective);
  row.push_back(d.design.base ? Cell() : Cell(std::int64_t{on_front ? 1 : 0}));
  return row;
}

const RateSpread& TableForm::spread_of(const DesignResult& d, Bytes element) const {
  const int cores = d.design.with.core.cores;
  const auto [at, added] = spreads_.try_emplace({d.design.machine, cores, element});
  if (added) {
    // Knobs scale what was measured, so all designs of a machine have its spread.
    Machine m = study_.machines[d.design.machine].machine;
    m.core.cores = cores;
    at->second = rate_spread(m, element);
  }
  return at->second;
}

Row TableForm::sure_cells(const DesignResult& d, std::size_t workload) const {
  const PointResult& r = d.points[workload];
  const RateSpread& spread = spread_of(d, size_of(study_.workloads[workload].type()));
  if (!spread.known()) return Row(3);
  Timing t;
  for (std::size_t l = 0; l < r.link_seconds.size(); ++l) {
    const bool simulated = !r.simulated_bytes.empty() && r.link_bytes[l] > 0;
    t.links.emplace_back(r.link_seconds[l] *
                         (simulated ? r.simulated_bytes[l] / r.link_bytes[l] : 1));
  }
  t.compute = Seconds(r.compute_seconds);
  return {shares_of_deciding(t, spread)[static_cast<std::size_t>(r.bottleneck)],
          time_quantile(t, spread, band_low).value(), time_quantile(t, spread, band_high).value()};
}

Row TableForm::point_row(const DesignResult& d, std::size_t workload) const {
  const Machine& m = study_.machines[d.design.machine].machine;
  const StudyWorkload& w = study_.workloads[workload];
  const PointResult& r = d.points[workload];
  const bool energy = study_.schedule_objective() == Objective::energy;
  double moved = 0;  // energy that schedules are compared by
  for (std::size_t l = 0; energy && l < r.link_bytes.size(); ++l) {
    moved += r.link_bytes[l] * d.design.with.levels[l].energy->value.value();
  }
  const double achieved = energy ? moved : r.predicted_seconds;
  Row row{w.name(),
          w.weight,
          r.seconds(),
          w.flops() / r.seconds() / 1e9,
          bottleneck_text(study_, m, r.bottleneck),
          r.predicted_seconds,
          r.compute_seconds,
          r.simulated_seconds,
          r.measured_seconds,
          r.joules,
          r.bound_seconds,
          study_.compute == Compute::predict ? Cell() : Cell(achieved / r.bound_seconds - 1)};
  if (sure_) std::ranges::copy(sure_cells(d, workload), std::back_inserter(row));
  const auto by_link = [&](const std::vector<double>& values) {
    for (const std::string& link : links_) {
      Cell cell;
      for (std::size_t l = 0; l < values.size(); ++l) {
        if (link_text(study_, m, l) == link) cell = Cell(values[l]);
      }
      row.push_back(std::move(cell));
    }
  };
  by_link(r.link_bytes);
  by_link(r.link_seconds);
  if (study_.compute == Compute::simulate || study_.compute == Compute::run) {
    by_link(r.simulated_bytes);
  }
  if (!w.is_chain()) {
    if (!bounds_[workload]) bounds_[workload].emplace(w.contraction());
    std::vector<double> least;
    for (Bytes b : bounds_[workload]->at(d.design.with)) {
      least.push_back(static_cast<double>(b.value()));
    }
    by_link(least);
  }
  row.emplace_back(text_hash(r.schedule));
  return row;
}

TableWriter::TableWriter(const Study& study, const fs::path& folder)
    : study_(study),
      form_(study),
      folder_(folder),
      csv_(folder, "results.csv"),
      jsonl_(folder, "results.jsonl"),
      tables_(std::in_place, folder, "results.sqlite") {
  std::vector<std::string> heads;
  for (const Column& c : form_.design_columns()) heads.push_back(c.name);
  for (const Column& c : form_.point_columns()) heads.push_back(c.name);
  csv_.write(csv_line(heads));

  // An empty file is a database without tables. It is synced as a whole in the end.
  tables_->end();
  database_ = std::make_unique<Database>(tables_->path(), Database::Mode::write);
  database_->run(fmt::format(
      "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA page_size = 4096; BEGIN;"
      "CREATE TABLE meta(what TEXT PRIMARY KEY, value TEXT);"
      "CREATE TABLE designs({}, PRIMARY KEY(design));"
      "CREATE TABLE points(design INTEGER, {}, PRIMARY KEY(design, workload)) WITHOUT ROWID;"
      "CREATE TABLE schedules(schedule TEXT PRIMARY KEY, text TEXT) WITHOUT ROWID;",
      columns_sql(form_.design_columns()), columns_sql(form_.point_columns())));
  const auto insert_into = [&](const char* table, std::size_t n) {
    return std::make_unique<Statement>(
        *database_, fmt::format("INSERT OR IGNORE INTO {} VALUES({})", table, places_sql(n)));
  };
  insert_design_ = insert_into("designs", form_.design_columns().size());
  insert_point_ = insert_into("points", form_.point_columns().size() + 1);
  insert_schedule_ = insert_into("schedules", 2);
}

TableWriter::~TableWriter() = default;

void TableWriter::insert(Statement& statement, const Row& row) {
  int i = 0;
  for (const Cell& c : row) {
    if (c.kind == Cell::Kind::text) statement.bind(i, std::string_view(c.text));
    if (c.kind == Cell::Kind::real) statement.bind(i, c.real);
    if (c.kind == Cell::Kind::integer) statement.bind(i, c.integer);
    ++i;
  }
  statement.run();
}

void TableWriter::add(const DesignResult& d, bool on_front) {
  const Row design = form_.design_row(d, on_front);
  insert(*insert_design_, design);
  std::string prefix;
  for (const Cell& c : design) prefix += c.csv() + ",";
  jsonl_.write("{" + members(form_.design_columns(), design) + ", \"points\": [");
  for (std::size_t w = 0; w < d.points.size(); ++w) {
    Row row = form_.point_row(d, w);
    csv_.write(prefix);
    for (const Cell& c : row) csv_.write(c.csv() + (&c == &row.back() ? '\n' : ','));
    jsonl_.write((w == 0 ? "{" : ", {") + members(form_.point_columns(), row) + "}");
    insert_schedule_->bind(0, std::string_view(row.back().text))
        .bind(1, std::string_view(d.points[w].schedule))
        .run();
    row.insert(row.begin(), Cell(d.design.number));
    insert(*insert_point_, row);
  }
  jsonl_.write("]}\n");
}

void TableWriter::finish(const std::vector<std::pair<std::string, std::string>>& meta) {
  {
    Statement insert_meta(*database_, "INSERT INTO meta VALUES(?, ?)");
    for (const auto& [what, value] : meta) {
      insert_meta.bind(0, std::string_view(what)).bind(1, std::string_view(value)).run();
    }
  }
  ResultPart schedules(folder_, "schedules.csv");
  schedules.write("schedule,text\n");
  {
    Statement all(*database_, "SELECT schedule, text FROM schedules ORDER BY schedule");
    while (all.step()) schedules.write(csv_line({all.text(0), all.text(1)}));
  }
  database_->run("COMMIT");
  insert_design_.reset();
  insert_point_.reset();
  insert_schedule_.reset();
  database_->close();
  if (!on_disk(tables_->path())) refuse_to_write(folder_ / "results.sqlite", errno);
  for (ResultPart* part : {&csv_, &jsonl_, &schedules}) part->end();
  for (ResultPart* part : {&csv_, &jsonl_, &schedules, &*tables_}) part->keep();
}

ResultPart::ResultPart(const fs::path& folder, const std::string& name) : named_(folder / name) {
  const fs::path part = folder / (name + ".part");
  ::unlink(part.c_str());  // of a process that was killed: the folder is ours as long as its store
  try {
    file_ = std::make_unique<NewFile>(part);
  } catch (const std::system_error& e) {
    refuse_to_write(named_, e.code().value());
  }
}

void ResultPart::write(std::string_view text) {
  try {
    file_->write(text);
  } catch (const std::system_error& e) {
    refuse_to_write(named_, e.code().value());
  }
}

void ResultPart::end() {
  try {
    file_->end();
  } catch (const std::system_error& e) {
    refuse_to_write(named_, e.code().value());
  }
}

void ResultPart::keep() { file_->keep(); }

void ResultPart::name_all(const fs::path& folder, std::span<const char* const> names) {
  for (const char* name : names) {
    const fs::path part = folder / (std::string(name) + ".part");
    if (::rename(part.c_str(), (folder / name).c_str()) != 0) {
      refuse_to_write(folder / name, errno);
    }
  }
  try {
    sync_folder(folder);
  } catch (const std::system_error& e) {
    refuse_to_write(folder, e.code().value());
  }
}

}  // namespace tcsim
