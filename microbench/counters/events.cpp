#include "microbench/counters/events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "core/data/shipped.hpp"
#include "core/error.hpp"
#include "core/io/read_file.hpp"
#include "core/io/toml.hpp"

namespace tcsim {

namespace fs = std::filesystem;

namespace {

// One file; every fault of it becomes an InputError with its place.
class Reader {
 public:
  explicit Reader(std::string place) : place_(std::move(place)) {}

  std::string at(const toml::source_region& source) const {
    return fmt::format("{}:{}:{}", place_, source.begin.line, source.begin.column);
  }

  void known_keys(const toml::table& table, std::initializer_list<std::string_view> known) const {
    for (const auto& [key, node] : table) {
      if (std::find(known.begin(), known.end(), key.str()) != known.end()) continue;
      std::string all;
      for (std::string_view k : known) all += (all.empty() ? "" : ", ") + std::string(k);
      throw InputError(at(key.source()), fmt::format("unknown key '{}'", key.str()),
                       "known here are " + all);
    }
  }

  std::string text(const toml::table& table, std::string_view key) const {
    const toml::node* node = table.get(key);
    if (node == nullptr) {
      throw InputError(at(table.source()), fmt::format("no '{}'", key), "add it");
    }
    return text(*node, key);
  }
  std::string text_or(const toml::table& table, std::string_view key, std::string fallback) const {
    const toml::node* node = table.get(key);
    return node == nullptr ? fallback : text(*node, key);
  }

  double bytes(const toml::table& table) const {
    const toml::node* node = table.get("bytes");
    if (node == nullptr) return LinkEvents().bytes;
    const auto value = node->is_number() ? node->value<double>() : std::nullopt;
    if (!value || !std::isfinite(*value) || *value <= 0) {
      throw InputError(at(node->source()), "'bytes' is no number greater than 0",
                       "write the bytes that one count stands for");
    }
    return *value;
  }

  // ["A", "B + C"]: alternatives, of which each is a sum.
  std::vector<EventSum> sums(const toml::table& table, std::string_view key) const {
    const toml::node* node = table.get(key);
    if (node == nullptr) return {};
    const toml::array* list = node->as_array();
    if (list == nullptr) {
      throw InputError(at(node->source()), fmt::format("'{}' is no list", key),
                       "write [\"EVENT\", \"ANOTHER + THIRD\"]");
    }
    std::vector<EventSum> all;
    for (const toml::node& item : *list) all.push_back(sum(item, key));
    return all;
  }

  std::vector<const toml::table*> tables(const toml::table& top, std::string_view key) const {
    const toml::node* node = top.get(key);
    if (node == nullptr) return {};
    const toml::array* list = node->as_array();
    if (list == nullptr || !list->is_homogeneous(toml::node_type::table)) {
      throw InputError(at(node->source()), fmt::format("'{}' is no list of tables", key),
                       fmt::format("write [[{}]]", key));
    }
    std::vector<const toml::table*> all;
    for (const toml::node& item : *list) all.push_back(item.as_table());
    return all;
  }

  void check_schema(const toml::table& top) const {
    const toml::node* schema = top.get("schema");
    // Not value<std::int64_t>(): toml++ casts any floating-point number to an integer first.
    if (schema != nullptr && schema->is_integer() && **schema->as_integer() == 1) return;
    throw InputError(at(schema != nullptr ? schema->source() : top.source()),
                     "no 'schema' that this version of tcsim reads", "write schema = 1");
  }

 private:
  std::string text(const toml::node& node, std::string_view key) const {
    if (const auto* value = node.as_string(); value != nullptr && !value->get().empty()) {
      return value->get();
    }
    throw InputError(at(node.source()), fmt::format("'{}' is no text", key),
                     "write it in double quotes");
  }

  EventSum sum(const toml::node& node, std::string_view key) const {
    constexpr std::string_view plus = " + ";
    const std::string all = text(node, key);
    EventSum events;
    for (std::size_t begin = 0;;) {
      const std::size_t end = std::min(all.find(plus, begin), all.size());
      events.push_back(all.substr(begin, end - begin));
      if (events.back().empty()) {
        throw InputError(at(node.source()), fmt::format("'{}' adds up nothing", key),
                         "write an event on both sides of ' + '");
      }
      if (end == all.size()) return events;
      begin = end + plus.size();
    }
  }

  std::string place_;
};

}  // namespace

EventFile parse_events(std::string_view toml, const std::string& place) {
  const Reader reader(place);
  const toml::table top = parse_toml(toml, place);
  reader.check_schema(top);
  reader.known_keys(top, {"schema", "source", "description", "link", "event"});
  EventFile file;
  file.name = fs::path(place).stem().string();
  file.source = reader.text(top, "source");
  file.description = reader.text_or(top, "description", "");
  if (file.source != "papi" && file.source != "likwid") {
    throw InputError(reader.at(top.get("source")->source()),
                     fmt::format("'{}' is no source of counts", file.source), "use papi or likwid");
  }
  for (const toml::table* link : reader.tables(top, "link")) {
    reader.known_keys(*link, {"name", "in", "out", "bytes"});
    file.links.push_back({reader.text(*link, "name"), reader.sums(*link, "in"),
                          reader.sums(*link, "out"), reader.bytes(*link)});
  }
  for (const toml::table* event : reader.tables(top, "event")) {
    reader.known_keys(*event, {"name", "event", "unit"});
    file.events.push_back({reader.text(*event, "name"), reader.text(*event, "event"),
                           reader.text_or(*event, "unit", "")});
  }
  return file;
}

EventFile load_events(const fs::path& file) {
  return parse_events(read_file(file, "check its name and rights"), file.string());
}

std::vector<EventFile> shipped_events() {
  std::vector<fs::path> paths;
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(data_dir() / "data" / "counters", missing)) {
    if (entry.path().extension() == ".toml") paths.push_back(entry.path());
  }
  if (missing) {
    throw InputError((data_dir() / "data" / "counters").string(), "there is no such folder",
                     "install tcsim again, or set TCSIM_DATA_DIR to a folder that has it");
  }
  std::sort(paths.begin(), paths.end());
  std::vector<EventFile> files;
  for (const fs::path& path : paths) files.push_back(load_events(path));
  return files;
}

}  // namespace tcsim
