// A real run in a process of its own. Libraries that count may fork, wait for ever, or end the
// program that asks them, and no thread can be called back from there; a process can be ended.
//
// The process gets a session's text on its standard input, with a workload and a schedule, and
// answers in lines of JSON: {"share": 0.2} after each step, then {"result": ...} or
// {"error": "words"}.
#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "gui/scene/evaluation.hpp"

namespace tcsim::gui {

struct RunProgram {
  std::vector<std::string> command;
  // How long it may say nothing: until it has found out what it can count, and then until the next
  // repetition has run, if the predicted time does not ask for more.
  std::chrono::milliseconds toBegin = std::chrono::seconds(60);
  std::chrono::milliseconds toGoOn = std::chrono::minutes(10);
};

// This program, which then does runProcess().
RunProgram ownRunProgram();

// Executes the evaluation's schedule in that program. Throws UnsupportedError where it does not
// answer, crashes, or says what nobody understands; Interrupted, after it is ended, if asked to
// stop.
Ran ranApart(const Evaluation& evaluation, const RunProgram& program,
             const std::function<void(double)>& progress, const std::stop_token& stop);

// Whether the command line asks for runProcess(): main() does it before anything else.
bool asksForRunProcess(int argc, char** argv);
// The program's other side; returns its exit code.
int runProcess();

}  // namespace tcsim::gui
