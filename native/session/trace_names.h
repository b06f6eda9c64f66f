#pragma once
// Names for the model, from the tables that the reader keeps.
#include "model/state/names.h"
#include "trace/log_merger.h"

namespace gmt::session {

/// Used under the same lock as the reader.
class TraceNames : public model::Names {
 public:
  explicit TraceNames(trace::LogMerger &reader) : reader_(reader) {}
  bool stack(uint32_t process, uint32_t stack, model::Stack &out) const override {
    const trace::Stack *known = reader_.tables(process).resolve(stack);
    if (known) out = *known;
    return known != nullptr;
  }
  std::string module_path(uint32_t process, uint32_t stack) const override {
    return reader_.tables(process).module_path(stack);
  }
  size_t generated_count(uint32_t process) const override { return reader_.tables(process).generated_count(); }
  std::string thread(uint32_t process, uint32_t thread) const override {
    const trace::Thread *known = reader_.tables(process).thread(thread);
    if (!known) return "thread " + std::to_string(thread);
    return (known->name.empty() ? "thread" : known->name) + (known->tid ? ":" + std::to_string(known->tid) : "");
  }
  std::string library(uint32_t process, uint32_t library) const override {
    const std::string *known = reader_.tables(process).library(library);
    return known ? *known : "";
  }
  std::string process(uint32_t process) const override {
    const uint32_t pid = reader_.facts(process).pid;  // 0: a snapshot names none
    return program(reader_.tables(process).command()) + (pid ? " (" + std::to_string(pid) + ")" : "");
  }

 private:
  static std::string base_name(const std::string &path) { return path.substr(path.rfind('/') + 1); }
  /// What a user would call the program: its script or module, else the executable.
  static std::string program(const std::vector<std::string> &command) {
    for (size_t i = 1; i < command.size(); ++i) {
      if (command[i] == "-m" && i + 1 < command.size()) return command[i + 1];
      if (command[i].ends_with(".py")) return base_name(command[i]);
    }
    return command.empty() ? "process" : base_name(command[0]);
  }

  trace::LogMerger &reader_;
};

}  // namespace gmt::session
