// Option values that are declared once: the declaration parses them, says what is wrong with a bad
// one, and tells the help page, the manual and the shells what may stand there.
#pragma once

#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/text/list.hpp"

namespace tcsim::cli {

// A value that cannot be meant. program.cpp adds the option's name and makes a UsageError of it.
class BadValue : public boost::program_options::error_with_option_name {
 public:
  BadValue(std::string problem, std::string mend)
      : error_with_option_name(problem), problem_(std::move(problem)), mend_(std::move(mend)) {}
  ~BadValue() noexcept override = default;

  const std::string& problem() const { return problem_; }
  const std::string& mend() const { return mend_; }

 private:
  std::string problem_, mend_;
};

// One of a few words.
class Words : public boost::program_options::typed_value<std::string> {
 public:
  explicit Words(std::vector<std::string> words);

  // The option may stand without a value, and then means this word.
  Words* implied(const std::string& word);

  const std::vector<std::string>& words() const { return words_; }
  const std::string& implied() const { return implied_; }  // "": it needs a value
  bool has(const std::string& word) const;

  std::string name() const override;
  void xparse(boost::any& store, const std::vector<std::string>& tokens) const override;

 private:
  std::vector<std::string> words_;
  std::string implied_;
};

// The option's semantic; program_options takes ownership.
Words* words(std::vector<std::string> all);
Words* words(std::vector<std::string> all, const std::string& by_default);

// A whole number in [least, most]. lexical_cast would take -1 for the largest unsigned number.
template <class T>
class Whole : public boost::program_options::typed_value<T> {
 public:
  Whole(T least, T most)
      : boost::program_options::typed_value<T>(nullptr), least_(least), most_(most) {}

  void xparse(boost::any& store, const std::vector<std::string>& tokens) const override {
    const std::string text = tokens.size() == 1 ? tokens[0] : "";
    const std::string mend = most_ == std::numeric_limits<T>::max()
                                 ? fmt::format("give a whole number, at least {}", least_)
                                 : fmt::format("give {} to {}", least_, most_);
    T value{};
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    const bool number = text.find_first_not_of("-0123456789") == std::string::npos &&
                        text.find_first_of("0123456789") != std::string::npos;
    if (!number) throw BadValue(fmt::format("'{}' is no whole number", text), mend);
    if (error != std::errc() || stop != end || value < least_ || value > most_) {
      throw BadValue(fmt::format("{} is out of range", text), mend);
    }
    store = value;
  }

 private:
  T least_, most_;
};

template <class T>
Whole<T>* whole(T by_default, T least, T most = std::numeric_limits<T>::max()) {
  auto* value = new Whole<T>(least, most);
  value->default_value(by_default);
  return value;
}

// The same for an option that need not be there.
template <class T>
Whole<T>* whole_if_given(T least, T most = std::numeric_limits<T>::max()) {
  return new Whole<T>(least, most);
}

}  // namespace tcsim::cli
