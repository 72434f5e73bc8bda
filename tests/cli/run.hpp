// Runs tcsim in this process with its streams captured.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "cli/command.hpp"

namespace tcsim::cli {

struct Ran {
  Exit code;
  std::string out, err;
};

inline Ran tcsim(const std::vector<std::string>& args, std::stop_token stop = {}) {
  std::ostringstream out, err;
  Context context{out, err, std::move(stop)};
  const Exit code = main(args, context);
  return {code, out.str(), err.str()};
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

inline std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) all.push_back(line);
  return all;
}

// A small multiplication on a shipped machine.
inline std::vector<std::string> with_matmul(const std::string& command,
                                            std::vector<std::string> more = {}) {
  std::vector<std::string> args{command,          "ij-ik-kj",  "--size",
                                "i=96,j=72,k=80", "--machine", "i7-6700k"};
  args.insert(args.end(), more.begin(), more.end());
  return args;
}

}  // namespace tcsim::cli
