#include "gui/chain/chain_design.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

#include "core/saved/design.hpp"
#include "core/text/safe.hpp"
#include "core/units/text.hpp"
#include "core/workload/request.hpp"

namespace tcsim::gui {

namespace {

bool isEinsum(const std::string& chain) { return chain.find("->") != std::string::npos; }

bool inName(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string withoutBlanks(std::string text) {
  std::erase_if(text, [](unsigned char c) { return std::isspace(c) != 0; });
  return text;
}

// In the order in which they are first met.
std::vector<std::string> indicesOf(const std::string& chain) {
  std::vector<std::string> all;
  const auto met = [&](std::string name) {
    if (!name.empty() && std::ranges::find(all, name) == all.end()) all.push_back(std::move(name));
  };
  const bool letters = isEinsum(chain);
  bool inside = letters;
  std::string name;
  for (const char c : chain) {
    if (inside && inName(c) && !letters) {
      name += c;
      continue;
    }
    if (letters && std::isalpha(static_cast<unsigned char>(c)) != 0) met(std::string(1, c));
    met(std::move(name));
    name.clear();
    if (c == '[' || c == ']') inside = c == '[';
  }
  return all;
}

}  // namespace

ChainDesign ChainDesign::with(Bytes other) const {
  ChainDesign d = *this;
  d.memory = other;
  return d;
}

bool needsSizes(const std::string& chain) { return isEinsum(chain) || is_statement(chain); }

std::string onOneLine(const std::string& chain) {
  std::string all, line;
  const auto end = [&] {
    const auto blank = [](unsigned char c) { return std::isspace(c) != 0; };
    line.erase(line.begin(), std::ranges::find_if_not(line, blank));
    while (!line.empty() && blank(static_cast<unsigned char>(line.back()))) line.pop_back();
    if (!line.empty()) all += (all.empty() ? "" : "; ") + line;
    line.clear();
  };
  for (const char c : chain) {
    if (c == '\n' || c == ';') {
      end();
    } else {
      line += c;
    }
  }
  end();
  return all;
}

std::string sizesOf(const std::string& chain, const std::string& sizes) {
  std::map<std::string, std::string> known;
  const std::string given = withoutBlanks(sizes);
  for (std::size_t at = 0; at < given.size();) {
    const std::size_t end = std::min(given.find(',', at), given.size());
    const std::size_t equals = given.find('=', at);
    if (equals >= end) return sizes;
    known[given.substr(at, equals - at)] = given.substr(equals + 1, end - equals - 1);
    at = end + 1;
  }
  std::string all;
  for (const std::string& index : indicesOf(chain)) {
    const auto found = known.find(index);
    all += (all.empty() ? "" : ",") + index + "=" + (found == known.end() ? "64" : found->second);
  }
  return all;
}

std::vector<std::string> knobsOf(const std::string& knobs) {
  std::vector<std::string> all(1);
  for (const char c : knobs) {
    if (c == ',' || std::isspace(static_cast<unsigned char>(c)) != 0) {
      all.emplace_back();
    } else {
      all.back() += c;
    }
  }
  std::erase(all, "");
  return all;
}

std::string withKnobAt(const std::string& knobs, const std::string& name,
                       const std::string& value) {
  std::string all;
  const auto add = [&](const std::string& knob) { all += (all.empty() ? "" : ", ") + knob; };
  bool there = value.empty();
  for (const std::string& knob : knobsOf(knobs)) {
    if (!knob.starts_with(name + "=")) {
      add(knob);
    } else if (!std::exchange(there, true)) {
      add(name + "=" + value);
    }
  }
  if (!there) add(name + "=" + value);
  return all;
}

std::string knobValue(const std::string& knobs, const std::string& name) {
  std::string value;
  for (const std::string& knob : knobsOf(knobs)) {
    if (knob.starts_with(name + "=")) value = knob.substr(name.size() + 1);
  }
  return value;
}

std::vector<std::string> to_arguments(const ChainDesign& design, ChainKind kind) {
  std::vector<std::string> all{design.chain};
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) all.insert(all.end(), {option, value});
  };
  if (needsSizes(design.chain)) add("--size", design.sizes);
  add("--order", design.order);
  if (design.type) add("--type", *design.type == ElementType::f32 ? "f32" : "f64");
  add("--machine", design.machine);
  for (const std::string& knob : knobsOf(design.knobs)) add("--set", knob);
  if (kind == ChainKind::onDisk) {
    add(design.tilesAlone ? "--tiles" : "--memory", to_text(design.memory));
    add("--disk-read", design.diskRead);
    add("--disk-write", design.diskWrite);
    add("--disk-transfer", design.diskTransfer);
  }
  if (design.overlap) all.emplace_back("--overlap");
  return all;
}

std::string commandLine(const ChainDesign& design, ChainKind kind) {
  std::string line = "tcsim fuse";
  for (const std::string& word : to_arguments(design, kind)) line += " " + shell_word(word);
  return line;
}

}  // namespace tcsim::gui
