// Errors that a user can mend. Every one of them says what is wrong, where, and what would be
// right; the command line turns them into its exit codes. Broken invariants of the program itself
// are assertions or std::logic_error and never reach for these types.
#pragma once

#include <stdexcept>
#include <string>

namespace tcsim {

// Base of all errors with a place and a mend. what() reads "PLACE: PROBLEM; MEND".
class Error : public std::runtime_error {
 public:
  Error(const std::string& place, const std::string& problem, const std::string& mend)
      : std::runtime_error((place.empty() ? "" : place + ": ") + problem +
                           (mend.empty() ? "" : "; " + mend)),
        place_(place),
        problem_(problem),
        mend_(mend) {}

  const std::string& place() const { return place_; }
  const std::string& problem() const { return problem_; }
  const std::string& mend() const { return mend_; }

 private:
  std::string place_, problem_, mend_;
};

// What the user typed cannot be meant: exit code 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

// A file, or a text in a file's place, is wrong: exit code 3. `place` is "file:line:column".
class InputError : public Error {
 public:
  using Error::Error;
};

// The request is fine but this machine cannot do it (no such instruction set, too little memory):
// exit code 4.
class UnsupportedError : public Error {
 public:
  using Error::Error;
};

// Somebody asked to stop (Ctrl-C): exit code 130.
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("interrupted") {}
};

}  // namespace tcsim
