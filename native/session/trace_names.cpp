#include "session/trace_names.h"

namespace gmt::session {
namespace {

std::string base_name(const std::string &path) { return path.substr(path.rfind('/') + 1); }

/// What a user would call the program: its script or module, else the executable.
std::string program(const std::vector<std::string> &command) {
  for (size_t i = 1; i < command.size(); ++i) {
    if (command[i] == "-m" && i + 1 < command.size()) return command[i + 1];
    if (command[i].ends_with(".py")) return base_name(command[i]);
  }
  return command.empty() ? "process" : base_name(command[0]);
}

}  // namespace

bool TraceNames::stack(uint32_t process, uint32_t stack, model::Stack &out) const {
  const trace::Stack *known = reader_.tables(process).resolve(stack);
  if (known) out = *known;
  return known != nullptr;
}

std::string TraceNames::module_path(uint32_t process, uint32_t stack) const {
  return reader_.tables(process).module_path(stack);
}

std::string TraceNames::thread(uint32_t process, uint32_t thread) const {
  const trace::Thread *known = reader_.tables(process).thread(thread);
  if (!known) return "thread " + std::to_string(thread);
  return (known->name.empty() ? "thread" : known->name) + ":" + std::to_string(known->tid);
}

std::string TraceNames::library(uint32_t process, uint32_t library) const {
  const std::string *known = reader_.tables(process).library(library);
  return known ? *known : "";
}

std::string TraceNames::process(uint32_t process) const {
  return program(reader_.tables(process).command()) + " (" + std::to_string(reader_.facts(process).pid) + ")";
}

}  // namespace gmt::session
