#include <algorithm>
#include <nlohmann/json.hpp>

#include "bench/kernels.hpp"
#include "core/error.hpp"
#include "core/io/json.hpp"
#include "core/io/read_file.hpp"
#include "microbench/host.hpp"
#include "microbench/keep.hpp"

namespace tcsim::bench {

namespace {

using nlohmann::ordered_json;

ordered_json json_of(const MeasuredKernel& m) {
  ordered_json j{{"mr", m.shape.mr.value()},
                 {"nr", m.shape.nr.value()},
                 {"type", to_text(m.shape.type)},
                 {"instruction_set", to_text(m.shape.needs)},
                 {"points", ordered_json::array()}};
  for (const KernelPoint& p : m.points) {
    j["points"].push_back({{"k", p.k}, {"gflops", p.rate.value() / 1e9}, {"of_peak", p.of_peak}});
  }
  return j;
}

template <class Value>
Value one_of(std::initializer_list<Value> values, const std::string& word) {
  for (Value v : values) {
    if (word == to_text(v)) return v;
  }
  throw std::invalid_argument(word);
}

MeasuredKernel measured(const ordered_json& j) {
  MeasuredKernel m{
      {Elements(j.at("mr").get<std::int64_t>()), Elements(j.at("nr").get<std::int64_t>()),
       one_of({InstructionSet::plain, InstructionSet::avx2, InstructionSet::avx512},
              j.at("instruction_set").get<std::string>()),
       one_of({ElementType::f64, ElementType::f32}, j.at("type").get<std::string>())},
      {}};
  for (const ordered_json& p : j.at("points")) {
    m.points.push_back({p.at("k").get<std::int64_t>(),
                        FlopsPerSecond(p.at("gflops").get<double>() * 1e9),
                        p.at("of_peak").get<double>()});
  }
  return m;
}

}  // namespace

std::string to_json(const KernelCatalog& catalog) {
  ordered_json j{{"schema", catalog_schema},
                 {"tcsim_version", catalog.tcsim_version},
                 {"processor", catalog.processor},
                 {"kernels", ordered_json::array()}};
  for (const MeasuredKernel& m : catalog.kernels) j["kernels"].push_back(json_of(m));
  return json_text(j) + "\n";
}

KernelCatalog parse_catalog(const std::string& json, const std::string& place) {
  try {
    const ordered_json j = ordered_json::parse(json);
    if (j.at("schema").get<int>() != catalog_schema) throw std::invalid_argument("schema");
    KernelCatalog catalog{
        j.at("tcsim_version").get<std::string>(), j.at("processor").get<std::string>(), {}};
    for (const ordered_json& m : j.at("kernels")) catalog.kernels.push_back(measured(m));
    return catalog;
  } catch (const std::exception&) {
    throw InputError(place, "this is no catalog of kernels that this version reads",
                     "measure it again with 'tcsim bench kernels'");
  }
}

std::filesystem::path catalog_file() {
  const std::filesystem::path folder = cache_folder();
  return folder.empty() ? folder : folder / "kernels.json";
}

std::optional<KernelCatalog> kept_catalog() {
  const std::filesystem::path file = catalog_file();
  if (file.empty()) return {};
  try {
    KernelCatalog catalog = parse_catalog(read_file(file, ""), file.string());
    if (catalog.processor == this_processor()) return catalog;
  } catch (const InputError&) {
    // not there; damaged, or of another version: as if it were not
  }
  return {};
}

bool keep(const KernelCatalog& catalog) { return tcsim::keep(to_json(catalog), catalog_file()); }

}  // namespace tcsim::bench
