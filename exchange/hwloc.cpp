// hwloc's XML: objects inside one another, caches around the cores that share them.
#include <expat.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "core/error.hpp"
#include "exchange/draft.hpp"

namespace tcsim::exchange {

namespace {

constexpr std::size_t most_objects = 1 << 20, deepest = 64;

struct Object {
  std::string type;
  std::int64_t line = 0;  // of the file
  std::map<std::string, std::string> attributes, infos;
  std::vector<std::unique_ptr<Object>> children;

  std::string attribute(const std::string& key) const {
    const auto found = attributes.find(key);
    return found == attributes.end() ? "" : found->second;
  }
};

// Expat's callbacks build the tree; what is wrong is kept until Expat has returned.
class Builder {
 public:
  Builder(std::string_view xml, const std::string& place)
      : place_(place), parser_(XML_ParserCreate(nullptr)) {
    XML_SetUserData(parser_.get(), this);
    XML_SetElementHandler(parser_.get(), on_start, on_end);
    if (xml.size() > (std::size_t{1} << 28)) {
      throw InputError(place, "larger than 256 MiB", "give a topology of one machine");
    }
    const auto status = XML_Parse(parser_.get(), xml.data(), static_cast<int>(xml.size()), 1);
    if (!fault_.empty()) throw InputError(at(fault_line_), fault_, "give the output of lstopo");
    if (status != XML_STATUS_OK) {
      throw InputError(at(line()), XML_ErrorString(XML_GetErrorCode(parser_.get())),
                       "mend the XML there");
    }
  }

  std::unique_ptr<Object> root() { return std::move(root_); }

 private:
  struct Free {
    void operator()(XML_Parser p) const { XML_ParserFree(p); }
  };

  static void on_start(void* self, const XML_Char* name, const XML_Char** attributes) {
    static_cast<Builder*>(self)->start(name, attributes);
  }
  static void on_end(void* self, const XML_Char* name) { static_cast<Builder*>(self)->end(name); }

  void start(const std::string& name, const XML_Char** attributes) {
    std::map<std::string, std::string> given;
    for (; *attributes != nullptr; attributes += 2) given[attributes[0]] = attributes[1];
    if (elements_++ == 0 && name != "topology") return stop("no topology of hwloc");
    if (name == "info" && !open_.empty()) {
      open_.back()->infos[given["name"]] = given["value"];
    } else if (name == "object") {
      if (++objects_ > most_objects) return stop("too many objects");
      if (open_.size() >= deepest) return stop("objects are nested too deep");
      auto object = std::make_unique<Object>();
      object->type = given["type"];
      object->line = line();
      object->attributes = std::move(given);
      Object* const raw = object.get();
      if (!open_.empty()) {
        open_.back()->children.push_back(std::move(object));
      } else if (!root_) {
        root_ = std::move(object);
      } else {
        return stop("a second machine");
      }
      open_.push_back(raw);
    }
  }

  void end(const std::string& name) {
    if (name == "object" && !open_.empty()) open_.pop_back();
  }

  void stop(const std::string& fault) {
    fault_ = fault;
    fault_line_ = line();
    XML_StopParser(parser_.get(), XML_FALSE);
  }
  std::int64_t line() const {
    return static_cast<std::int64_t>(XML_GetCurrentLineNumber(parser_.get()));
  }
  std::string at(std::int64_t line) const { return fmt::format("{}:{}", place_, line); }

  std::string place_;
  std::unique_ptr<XML_ParserStruct, Free> parser_;
  std::unique_ptr<Object> root_;
  std::vector<Object*> open_;
  std::size_t elements_ = 0, objects_ = 0;
  std::string fault_;
  std::int64_t fault_line_ = 0;
};

// hwloc 2 names caches L1Cache to L5Cache and L1iCache; hwloc 1 has one type for all.
bool holds_data(const Object& o) {
  if (o.attribute("cache_type") == "2") return false;
  return o.type == "Cache" || (o.type.size() == 7 && o.type[0] == 'L' && o.type.ends_with("Cache"));
}

std::int64_t number(const Object& o, const std::string& key, const std::string& place) {
  const std::string text = o.attribute(key);
  if (text.empty()) return 0;
  const auto value = whole_number(text);
  if (!value) {
    throw InputError(fmt::format("{}:{}", place, o.line),
                     fmt::format("{} '{}' is no number", key, text), "give the output of lstopo");
  }
  return *value;
}

int count(const Object& o, const std::string& type) {
  int n = o.type == type ? 1 : 0;
  for (const auto& child : o.children) n += count(*child, type);
  return n;
}

// The data caches around each core (or processing unit where there are no cores), outermost first.
using Path = std::vector<const Object*>;
void find_paths(const Object& o, const std::string& leaf, Path& now, std::vector<Path>& found) {
  if (o.type == leaf) {
    found.push_back(now);
    return;
  }
  if (holds_data(o)) now.push_back(&o);
  for (const auto& child : o.children) find_paths(*child, leaf, now, found);
  if (holds_data(o)) now.pop_back();
}

DraftLevel cache_of(const Object& o, const std::string& leaf, const std::string& place) {
  DraftLevel d;
  d.place = fmt::format("{}:{}", place, o.line);
  d.name = fmt::format("L{}", number(o, "depth", place));
  d.capacity = Bytes(number(o, "cache_size", place));
  if (*d.capacity < Bytes(1)) d.capacity.reset();
  if (const std::int64_t line = number(o, "cache_linesize", place); line > 0) d.line = Bytes(line);
  const std::int64_t ways = number(o, "cache_associativity", place);
  if (ways > 0) d.ways = ways;
  if (ways == -1 && d.capacity && d.line) d.ways = d.capacity->value() / d.line->value();
  d.shared_by = std::max(1, count(o, leaf));
  if (const auto info = o.infos.find("Inclusive"); info != o.infos.end()) {
    d.inclusion = info->second == "1" ? Inclusion::inclusive : Inclusion::neither;
  }
  return d;
}

// What hwloc describes and a machine has no place for.
void list_ignored(const Object& o, std::set<std::string>& types) {
  static const std::set<std::string> used{"Machine", "Package",  "Socket", "Core",
                                          "PU",      "NUMANode", "Group",  "Die"};
  const bool instructions = o.attribute("cache_type") == "2";
  if (used.count(o.type) == 0 && !holds_data(o) && !instructions) types.insert(o.type);
  for (const auto& child : o.children) list_ignored(*child, types);
}

void add_memory(const Object& o, const std::string& place, std::int64_t& bytes) {
  const std::int64_t here = number(o, "local_memory", place);
  if (here < 0 || __builtin_add_overflow(bytes, here, &bytes)) {
    throw InputError(fmt::format("{}:{}", place, o.line), "local_memory is out of range",
                     "give the output of lstopo");
  }
  for (const auto& child : o.children) add_memory(*child, place, bytes);
}

std::string info_in(const Object& o, const std::string& key) {
  if (const auto found = o.infos.find(key); found != o.infos.end()) return found->second;
  for (const auto& child : o.children) {
    if (std::string text = info_in(*child, key); !text.empty()) return text;
  }
  return "";
}

}  // namespace

Draft read_hwloc(std::string_view xml, const std::string& place) {
  const std::unique_ptr<Object> machine = Builder(xml, place).root();
  if (!machine) throw InputError(place, "no object in the topology", "give the output of lstopo");
  Draft draft;
  draft.format = "hwloc XML";
  draft.description = info_in(*machine, "CPUModel");
  const std::string leaf = count(*machine, "Core") > 0 ? "Core" : "PU";
  Path now;
  std::vector<Path> paths;
  find_paths(*machine, leaf, now, paths);
  if (paths.empty()) return draft;
  const auto sizes = [&](const Path& path) {
    std::vector<std::pair<std::string, std::int64_t>> all;
    for (const Object* o : path)
      all.emplace_back(o->attribute("depth"), number(*o, "cache_size", place));
    return all;
  };
  const auto first = sizes(paths[0]);
  const auto others =
      std::count_if(paths.begin(), paths.end(), [&](const Path& p) { return sizes(p) != first; });
  if (others > 0) {
    draft.notes.push_back(
        fmt::format("{} of {} cores have other caches than the first, whose caches were taken",
                    others, paths.size()));
  }
  for (auto o = paths[0].rbegin(); o != paths[0].rend(); ++o) {
    draft.caches.push_back(cache_of(**o, leaf, place));
  }
  std::int64_t memory = 0;
  add_memory(*machine, place, memory);
  if (memory > 0) draft.memory.capacity = Bytes(memory);
  draft.memory.shared_by = static_cast<int>(paths.size());
  std::set<std::string> types;
  list_ignored(*machine, types);
  for (const std::string& type : types) draft.ignored.push_back("objects of type " + type);
  return draft;
}

}  // namespace tcsim::exchange
