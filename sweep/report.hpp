// report.html: what a study found, for somebody who has not read the manual. One file without
// links to others: text, tables, and pictures in SVG.
#pragma once

#include <ostream>
#include <string>

#include "sweep/findings.hpp"
#include "sweep/results.hpp"

namespace tcsim {

// What the report says beside the findings.
struct ReportFacts {
  const LeftOutDesigns& left_out;
  const Totals& totals;
  const std::string& version;
  const std::string& study_hash;
};

void write_report(const Findings& findings, const ReportFacts& facts, std::ostream& out);

}  // namespace tcsim
