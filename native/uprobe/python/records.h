#pragma once
// Turns what the Python walk queues into the local records of one process's log.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "uprobe/bpf/python_ring.h"
#include "uprobe/python/native_symbols.h"

namespace gmt::uprobe {

class PythonRecords {
 public:
  /// Writes one local record; false: there was no room (counted by it).
  using Write = std::function<bool(gmt_local_kind kind, const void *payload, uint32_t bytes)>;
  /// Counts events or records that are lost.
  using Lose = std::function<void(gmt_loss cause, uint64_t count)>;

  PythonRecords(Write write, Lose lose) : write_(std::move(write)), lose_(std::move(lose)) {}

  /// The id in the log of what an event's head has in `stack`; 0: none, or the table is full (counted).
  uint32_t stack_id(uint64_t hash);

  /// Takes a record of a type from GMT_UP_PYTHON_FIRST to GMT_UP_PYTHON_LAST that lies in `bytes` bytes. False: it contradicts
  /// itself, and nothing was done.
  bool handle(const void *record, size_t bytes);

  /// From here on native stacks are taken too.
  void resolve_native_by(std::unique_ptr<AddressNames> names) { names_ = std::move(names); }
  void libraries_changed() {
    if (names_) names_->libraries_changed();
  }

  size_t codes() const { return written_codes_.size(); }
  size_t stacks() const { return written_stacks_.size(); }

 private:
  /// A code object whose parts are still coming.
  struct Coming {
    gmt_up_python_code about;
    std::vector<char> parts[GMT_PARTS];
  };
  bool handle_code(const void *record, size_t bytes);
  bool handle_part(const void *record, size_t bytes);
  template <class Stack, class FrameOf>
  bool handle_stack(const void *record, size_t bytes, size_t frame_bytes, FrameOf frame_of);
  bool handle_python_stack(const void *record, size_t bytes);
  bool handle_native_stack(const void *record, size_t bytes);
  uint32_t code_id(uint64_t key);
  void finish(uint32_t thread);
  void write_code(const Coming &coming);
  void write_code(uint64_t key, const gmt_code_record &about, const std::string &file, const std::string &name,
                  const std::vector<char> &table);
  gmt_frame describe(uint64_t address, bool returned_to);
  void write_stack(uint64_t hash, bool cut, const std::vector<gmt_frame> &frames);

  Write write_;
  Lose lose_;
  std::unique_ptr<AddressNames> names_;
  std::unordered_map<uint32_t, Coming> coming_;  ///< by number of the thread
  std::unordered_map<uint64_t, uint32_t> stack_ids_, code_ids_;
  std::unordered_set<uint64_t> written_stacks_, written_codes_;
};

}  // namespace gmt::uprobe
