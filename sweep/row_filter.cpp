#include "sweep/row_filter.hpp"

#include <fmt/format.h>

#include <cmath>
#include <regex>

#include "core/error.hpp"
#include "core/study/expression.hpp"
#include "core/text/safe.hpp"
#include "core/units/text.hpp"

namespace tcsim {

namespace {

constexpr std::size_t most_filter_bytes = 1000;

double number_of(const std::string& column, std::string text) {
  std::erase(text, ' ');  // "8 MiB"
  if (column.ends_with("_bytes_per_cycle") && text.ends_with("/cycle")) {
    return parse_bandwidth(text).value;
  }
  const double value = Expression(text).value([](const std::string& name) -> double {
    throw UsageError(name, "this is no number", "write a number, such as 0.5 or 8MiB");
  });
  if (!std::isfinite(value)) throw UsageError(text, "this is no number", "write 0.5 or 8MiB");
  return value;
}

std::string comparison_sql(const ResultFolder& folder, const std::string& part) {
  static const std::regex form(R"(\s*([^<>=!\s]+)\s*(<=|>=|!=|==|<|>|=)\s*(.*\S)\s*)");
  std::smatch words;
  if (!std::regex_match(part, words, form)) {
    throw UsageError(part, "this is no comparison", "write COLUMN < VALUE; < <= > >= = or !=");
  }
  const std::size_t column = folder.column(words[1]);
  const std::string relation = words[2] == "==" ? "=" : words[2].str();
  const std::string left = folder.column_sql(column);
  if (folder.is_number(column)) {
    return fmt::format("{} {} {}", left, relation, number_of(folder.columns()[column], words[3]));
  }
  if (relation != "=" && relation != "!=") {
    throw UsageError(words[1], "a text is equal or not", "use = or !=");
  }
  return fmt::format("{} {} {}", left, relation, sql_text(words[3].str()));
}

}  // namespace

std::string filter_sql(const ResultFolder& folder, const std::string& filter) {
  if (filter.find_first_not_of(" \t") == filter.npos) return "1";
  if (filter.size() > most_filter_bytes) {  // expressions are matched by recursion
    throw UsageError("the filter", fmt::format("it has more than {} bytes", most_filter_bytes),
                     "ask for less at once");
  }
  static const std::regex conjunction(R"(\s+and\s+)");
  std::string sql;
  for (std::sregex_token_iterator part(filter.begin(), filter.end(), conjunction, -1), end;
       part != end; ++part) {
    sql += (sql.empty() ? "" : " AND ") + comparison_sql(folder, *part);
  }
  return sql;
}

}  // namespace tcsim
