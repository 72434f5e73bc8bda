// Threads that the system may refuse: ulimit -u, a container's limit, no memory for a stack.
#pragma once

#include <cstdint>
#include <functional>

namespace tcsim {

// Calls work() on this thread and on up to `count` - 1 others at the same time, and returns when
// all have returned: on fewer threads where there are no more, so `work` takes what is left to do.
// Throws what the first of them threw. Returns the number of threads.
int run_on_threads(int count, const std::function<void()>& work);

// Calls work(i) for 0 <= i < count, each on a thread of its own, all at the same time. Throws
// UnsupportedError, before any is called, where there are not so many threads; then what the first
// of them threw.
void run_together(int count, const std::function<void(int)>& work);

// Calls first(i) and then second(i) for 0 <= i < count, each in order, one of the two (the first
// where `first_elsewhere`) on another thread if there is one: second(i) goes with first(i + 1), and
// with none behind that, so what first(i) made may lie in one of two places by turns. Throws what
// the first of them threw, once both have ended.
void run_in_two_stages(std::int64_t count, const std::function<void(std::int64_t)>& first,
                       const std::function<void(std::int64_t)>& second, bool first_elsewhere);

// How many threads can run at the same time, this one included: `wanted`, or fewer. For libraries
// that end the program where they get none. Starts them and lets them end, so that it knows.
int available_threads(int wanted);

}  // namespace tcsim
