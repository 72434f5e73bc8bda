// Threads that the system may refuse: ulimit -u, a container's limit, no memory for a stack.
#pragma once

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

// How many threads can run at the same time, this one included: `wanted`, or fewer. For libraries
// that end the program where they get none. Starts them and lets them end, so that it knows.
int available_threads(int wanted);

}  // namespace tcsim
