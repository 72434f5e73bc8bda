#include "chains/levels/device_sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <sstream>

#include "core/error.hpp"
#include "core/io/toml.hpp"
#include "core/machine/toml_reader.hpp"
#include "core/text/safe.hpp"

namespace tcsim::chains {

namespace {

constexpr std::int64_t devices_schema = 1;
constexpr const char* begin_anew =
    "remove the file; 'tcsim probe --levels FOLDER --device' makes it anew";

struct Size {
  const char* name;
  std::vector<std::int64_t> tried;  // ascending
};
// What is tried of each: around what CLBlast brings for the devices it was tuned on. GEMMK 0 is its
// kernel for matrices that were laid out for it; KREG is of the other one.
const std::vector<Size>& all_sizes() {
  static const std::vector<Size> all{{"GEMMK", {0}},
                                     {"KREG", {1}},
                                     {"KWG", {16, 32}},
                                     {"KWI", {2}},
                                     {"MDIMA", {8, 16, 32}},
                                     {"MDIMC", {8, 16, 32}},
                                     {"MWG", {16, 32, 64, 128}},
                                     {"NDIMB", {8, 16, 32}},
                                     {"NDIMC", {8, 16, 32}},
                                     {"NWG", {16, 32, 64, 128}},
                                     {"SA", {0, 1}},
                                     {"SB", {0, 1}},
                                     {"STRM", {0, 1}},
                                     {"STRN", {0, 1}},
                                     {"VWM", {1, 2, 4, 8}},
                                     {"VWN", {1, 2, 4, 8}}};
  return all;
}

// What was quickest elsewhere, in the order of all_sizes(): on an NVIDIA H200 (f64: 1.2 times as
// quick as what CLBlast 1.5.3 brings for it), and with PoCL on an Intel Xeon with AVX-512 (1.4).
constexpr std::array<std::array<std::int64_t, 16>, 2> quick_elsewhere{
    {{0, 1, 16, 2, 16, 16, 64, 32, 16, 128, 1, 1, 1, 0, 1, 1},
     {0, 1, 16, 2, 16, 16, 64, 16, 8, 64, 0, 1, 0, 0, 1, 2}}};

// A work item's results: more of them leave no register. Elements in local memory, of which each
// device has 32 KiB.
constexpr std::int64_t most_results = 128, most_in_local = 4096;

bool fits_local_memory(const DeviceSizes& s) {
  return s.at("KWG") * (s.at("SA") * s.at("MWG") + s.at("SB") * s.at("NWG")) <= most_in_local;
}

}  // namespace

bool are_legal(const DeviceSizes& sizes) {
  if (sizes.size() != all_sizes().size()) return false;
  for (const Size& s : all_sizes()) {
    const auto found = sizes.find(s.name);
    if (found == sizes.end()) return false;
    const std::int64_t value = found->second;
    if (std::ranges::binary_search(s.tried, value)) continue;
    // A flag, or which kernel, is one of few.
    if (s.tried.front() == 0) return false;
    if (value < 1 || value > 256 || (value & (value - 1)) != 0) return false;
  }
  const auto of = [&](const char* name) { return sizes.at(name); };
  const std::int64_t items = of("MDIMC") * of("NDIMC");
  if (items > 1024 || items % of("MDIMA") != 0 || items % of("NDIMB") != 0) return false;
  if (of("MWG") / of("MDIMC") * (of("NWG") / of("NDIMC")) > most_results) return false;
  return of("MWG") % (of("MDIMC") * of("VWM")) == 0 && of("NWG") % (of("NDIMC") * of("VWN")) == 0 &&
         of("MWG") % (of("MDIMA") * of("VWM")) == 0 && of("NWG") % (of("NDIMB") * of("VWN")) == 0 &&
         of("KWG") % of("KWI") == 0 && of("KWG") % (items / of("MDIMA")) == 0 &&
         of("KWG") % (items / of("NDIMB")) == 0;
}

SizeSearch search_sizes(const DeviceSizes& from, Seconds time,
                        const std::function<std::optional<Seconds>(const DeviceSizes&)>& time_of,
                        const std::function<bool()>& go_on, std::mt19937_64& random) {
  constexpr int drawn_first = 16, most_in_vain = 10'000;
  const std::vector<Size>& all = all_sizes();
  const auto one_of = [&](std::size_t count) {
    return std::uniform_int_distribution<std::size_t>(0, count - 1)(random);
  };
  SizeSearch found{from, time};
  std::set<DeviceSizes> known{from};
  int in_vain = 0;
  std::size_t elsewhere = 0;
  while (in_vain < most_in_vain && go_on()) {
    DeviceSizes sizes = found.best;
    const auto change = [&](const Size& s) { sizes[s.name] = s.tried[one_of(s.tried.size())]; };
    if (elsewhere < quick_elsewhere.size()) {
      for (std::size_t i = 0; i < all.size(); ++i)
        sizes[all[i].name] = quick_elsewhere[elsewhere][i];
      ++elsewhere;
    } else if (found.tried < drawn_first || one_of(3) == 0) {
      std::ranges::for_each(all, change);
    } else {
      for (std::size_t changes = 1 + one_of(3); changes > 0; --changes)
        change(all[one_of(all.size())]);
    }
    if (!are_legal(sizes) || !fits_local_memory(sizes) || !known.insert(sizes).second) {
      ++in_vain;
      continue;
    }
    in_vain = 0;
    ++found.tried;
    const std::optional<Seconds> takes = time_of(sizes);
    if (takes && *takes < found.time) found.best = sizes, found.time = *takes;
  }
  return found;
}

const DeviceSizes* sizes_of(const std::vector<TunedDevice>& all, const std::string& device,
                            Bytes element) {
  const auto found = std::ranges::find_if(
      all, [&](const TunedDevice& d) { return d.device == device && d.element == element; });
  return found == all.end() ? nullptr : &found->sizes;
}

void keep_sizes(std::vector<TunedDevice>& all, TunedDevice entry) {
  std::erase_if(all, [&](const TunedDevice& d) {
    return d.device == entry.device && d.element == entry.element;
  });
  all.push_back(std::move(entry));
}

namespace {

class DevicesReader : MachineReader {
 public:
  using MachineReader::MachineReader;

  std::vector<TunedDevice> read(const toml::table& root) const {
    known_keys(root, "a file of tuned devices", {"schema", "device"});
    const toml::node& schema = required(root, "schema", "the file");
    if (schema.value<std::int64_t>() != devices_schema)
      fail(schema, "this schema is not known", "");
    std::vector<TunedDevice> all;
    each_table(root, "device", "device", [&](const toml::table& t) {
      TunedDevice entry = device(t);
      if (sizes_of(all, entry.device, entry.element) != nullptr) {
        throw InputError(at(t), "the same device and type has sizes already", "");
      }
      all.push_back(std::move(entry));
    });
    return all;
  }

 private:
  TunedDevice device(const toml::table& t) const {
    known_keys(t, "[[device]]", {"name", "element_bytes", "sizes"});
    TunedDevice entry;
    entry.device = text(required(t, "name", "[[device]]"), "name");
    const toml::node& bytes = required(t, "element_bytes", "[[device]]");
    entry.element = Bytes(bytes.value<std::int64_t>().value_or(0));
    if (entry.element != Bytes(4) && entry.element != Bytes(8)) {
      fail(bytes, "element_bytes is neither 4 nor 8", "");
    }
    const toml::node& sizes = required(t, "sizes", "[[device]]");
    if (const toml::table* table = sizes.as_table()) {
      for (const auto& [name, value] : *table) {
        entry.sizes[std::string(name.str())] = value.value<std::int64_t>().value_or(-1);
      }
    }
    if (!are_legal(entry.sizes)) fail(sizes, "CLBlast has no kernel of these sizes", "");
    return entry;
  }
};

}  // namespace

std::vector<TunedDevice> parse_devices(std::string_view text, const std::string& place) {
  try {
    return DevicesReader(place).read(parse_toml(text, place));
  } catch (const InputError& e) {
    throw InputError(e.place(), e.problem(), begin_anew);
  }
}

std::string to_toml(const std::vector<TunedDevice>& all) {
  toml::array devices;
  for (const TunedDevice& d : all) {
    toml::table sizes;
    for (const auto& [name, value] : d.sizes) sizes.insert(name, value);
    devices.push_back(toml::table{
        {"name", d.device}, {"element_bytes", d.element.value()}, {"sizes", std::move(sizes)}});
  }
  std::ostringstream out;
  out << toml::table{{"schema", devices_schema}, {"device", std::move(devices)}} << "\n";
  return out.str();
}

}  // namespace tcsim::chains
