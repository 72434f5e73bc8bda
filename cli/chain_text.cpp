#include "cli/chain_text.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <ostream>
#include <utility>

#include "cli/result.hpp"
#include "cli/version.hpp"
#include "core/io/json.hpp"
#include "core/io/read_file.hpp"

namespace tcsim::cli {

using nlohmann::ordered_json;

namespace {

ordered_json fuse_record() {
  return {{"schema", results_schema}, {"command", "fuse"}, {"tcsim_version", version}};
}

}  // namespace

GivenFused given_fused(const std::string& given, const fusion::OperationTree& tree) {
  const bool text = given.find('{') != std::string::npos;
  const std::string place = text ? "--schedule" : given;
  return {fusion::parse_fused(
              text ? given : read_file(given, "name a file, or write the schedule itself"), tree,
              place),
          place};
}

std::string indented(const std::string& text) {
  std::string all = "  ";
  for (char c : text) {
    all += c;
    if (c == '\n') all += "  ";
  }
  all.resize(all.find_last_not_of(' ') + 1);
  return all;
}

std::string order_lines(const fusion::Chain& chain) {
  std::string lines;
  for (const fusion::Chain::Ordered& o : chain.ordered) {
    lines +=
        fmt::format("order of {}: {}, {:.4g} multiply-adds\n", o.out, o.order, o.multiply_adds);
  }
  return lines;
}

ordered_json json_of(const fusion::Chain& chain, const fusion::OperationTree& tree,
                     const Machine& machine) {
  ordered_json j = fuse_record();
  j["workload"] = {{"name", tree.name}, {"flops", tree.flops()}};
  j["workload"]["statements"] = ordered_json::array();
  for (int s = 0; s < static_cast<int>(tree.statements.size()); ++s) {
    j["workload"]["statements"].push_back(tree.statement_text(s));
  }
  j["workload"]["orders"] = ordered_json::array();
  for (const fusion::Chain::Ordered& o : chain.ordered) {
    j["workload"]["orders"].push_back(
        {{"tensor", o.out}, {"order", o.order}, {"multiply_adds", o.multiply_adds}});
  }
  j["machine"] = {{"name", machine.name}, {"hash", content_hash(machine)}};
  return j;
}

void print_chains(std::vector<ordered_json> records, std::ostream& out) {
  if (records.size() == 1) {
    out << json_text(records.front()) << "\n";
    return;
  }
  ordered_json all = fuse_record();
  all["results"] = std::move(records);
  out << json_text(all) << "\n";
}

}  // namespace tcsim::cli
