// Trying a library out before it is trusted: one that may wait for ever, end the program that asks
// it, or crash.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace tcsim {

struct Apart {
  std::optional<std::string> answer;  // what the work returned; nothing if it did not come to that
  std::string why;                    // it did not: "it does not answer within 10 s"
};

// Calls `work` in a copy of this process, which sees no other thread of it, and waits for what it
// returns (without a '\0') for at most `patience`. Nothing of the copy is left behind, nor of what
// it started, not even where this process is killed meanwhile. What `work` changes is lost.
Apart try_apart(const std::function<std::string()>& work, std::chrono::milliseconds patience);

}  // namespace tcsim
