#include "cli/values.hpp"

#include <algorithm>

#include "core/units/nearest.hpp"

namespace tcsim::cli {

namespace po = boost::program_options;

Words::Words(std::vector<std::string> words)
    : po::typed_value<std::string>(nullptr), words_(std::move(words)) {}

Words* Words::implied(const std::string& word) {
  implied_ = word;
  return this;
}

bool Words::has(const std::string& word) const {
  return std::find(words_.begin(), words_.end(), word) != words_.end();
}

std::string Words::name() const {
  std::string text;
  for (const std::string& word : words_) text += (text.empty() ? "" : "|") + word;
  boost::any fallback;
  if (apply_default(fallback))
    text += fmt::format(" (={})", boost::any_cast<std::string>(fallback));
  return implied_.empty() ? text : fmt::format("[{}] (={})", text, implied_);
}

void Words::xparse(boost::any& store, const std::vector<std::string>& tokens) const {
  const std::string given = tokens.size() == 1 ? tokens[0] : "";
  if (!has(given)) {
    throw BadValue(fmt::format("'{}' is not known", given), one_of(given, words_));
  }
  store = given;
}

Words* words(std::vector<std::string> all) { return new Words(std::move(all)); }

Words* words(std::vector<std::string> all, const std::string& by_default) {
  Words* value = words(std::move(all));
  value->default_value(by_default);
  return value;
}

}  // namespace tcsim::cli
