#pragma once
// Names for the model, from the tables that the reader keeps.
#include "model/state/names.h"
#include "trace/session_reader.h"

namespace gmt::session {

/// Used under the same lock as the reader.
class TraceNames : public model::Names {
 public:
  explicit TraceNames(trace::SessionReader &reader) : reader_(reader) {}
  bool stack(uint32_t process, uint32_t stack, model::Stack &out) const override;
  std::string module_path(uint32_t process, uint32_t stack) const override;
  size_t generated_count(uint32_t process) const override { return reader_.tables(process).generated_count(); }
  std::string thread(uint32_t process, uint32_t thread) const override;
  std::string library(uint32_t process, uint32_t library) const override;
  std::string process(uint32_t process) const override;

 private:
  trace::SessionReader &reader_;
};

}  // namespace gmt::session
