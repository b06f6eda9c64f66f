#pragma once
// What the side records of one process say: threads, devices, notes, command, code objects, stacks.
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "trace/archive.h"
#include "trace/stack.h"
#include "wire/layout.h"

namespace gmt::trace {

struct Thread {
  uint32_t index;  ///< its number in the process
  uint32_t tid;
  std::string name;
  void checkpoint(Archive &a) { a(index, tid, name); }
};
struct Device {
  uint32_t index;
  std::string name;
  uint64_t total_bytes;
  void checkpoint(Archive &a) { a(index, name, total_bytes); }
};
struct Library {
  uint32_t id;  ///< never 0
  std::string path;
  void checkpoint(Archive &a) { a(id, path); }
};
struct Note {
  uint32_t code;  ///< enum gmt_note_code
  std::string text;
  void checkpoint(Archive &a) { a(code, text); }
};

class ProcessTables {
 public:
  /// Takes a side record, which lies wholly in `payload`. False: it is damaged. Kinds that are no table entries change nothing.
  bool add(uint8_t kind, std::span<const std::byte> payload);

  /// The same for a GMT_THREAD, which is about the thread of this number.
  bool add_thread(std::span<const std::byte> payload, uint32_t number);
  void checkpoint(Archive &a);

  /// In the order of their first record.
  const std::vector<Thread> &threads() const { return threads_; }
  /// Null: never described.
  const Thread *thread(uint32_t number) const;
  const std::vector<Device> &devices() const { return devices_; }
  const std::vector<Note> &notes() const { return notes_; }
  const std::vector<Library> &libraries() const { return libraries_; }
  /// Path of the library that events name by `id`. Null: not described (yet), as with stacks.
  const std::string *library(uint32_t id) const;
  /// Arguments.
  const std::vector<std::string> &command() const { return command_; }
  /// PY_VERSION_HEX, 0 = no Python (known so far).
  uint32_t python_version() const { return python_version_; }
  /// Where the module is whose call is the innermost one in a stack: `layers.11.mlp`, `(root)`; the name of its class where no report said
  /// its path: `MLP (path unknown)`. Empty: no module is called in it.
  std::string module_path(uint32_t stack_id) const;
  /// How often it was reported what generated code stands for.
  size_t generated_count() const { return generated_count_; }
  size_t stack_count() const { return stacks_.size(); }

  /// The frames of a stack with their lines, valid until the next call. Null: no such stack (yet): its record may lie in another
  /// thread's chunk and come a moment after the first event that names it. Not for two threads at once.
  const Stack *resolve(uint32_t stack_id);

 private:
  struct Code {
    uint32_t first_line;
    uint16_t python_version;
    uint16_t flags;
    std::string file, name;
    std::vector<uint8_t> line_table;
    void checkpoint(Archive &a) { a(first_line, python_version, flags, file, name, line_table); }
  };
  struct StackRange {
    size_t begin;
    uint16_t frames, flags;
    void checkpoint(Archive &a) { a(begin, frames, flags); }
  };
  struct ModuleCall {
    uint64_t module;
    std::string class_name;
    void checkpoint(Archive &a) { a(module, class_name); }
  };
  struct Origin {
    std::string module;  ///< `.up`: below the one that was called; else an address; empty = not known
    std::vector<Frame> frames;
    void checkpoint(Archive &a) { a(module, frames); }
  };
  /// Null: it was not reported what the frame's code stands for.
  const Origin *origin(const Frame &frame) const;
  bool add_code(std::span<const std::byte> payload);
  bool add_stack(std::span<const std::byte> payload);
  void add_generated(uint32_t first_line, const std::string &text);
  void add_command(const std::string &text);
  Frame resolve_frame(const gmt_frame &frame) const;

  std::vector<Thread> threads_;
  std::unordered_map<uint32_t, size_t> thread_at_;  ///< by number: place in threads_
  std::vector<Device> devices_;
  std::vector<Note> notes_;
  std::vector<Library> libraries_;
  std::vector<std::string> command_;
  uint32_t python_version_ = 0;
  std::unordered_map<uint32_t, Code> codes_;
  std::unordered_map<uint32_t, StackRange> stacks_;
  std::vector<gmt_frame> frames_;
  std::unordered_map<uint32_t, ModuleCall> module_calls_;        ///< by stack
  std::unordered_map<uint64_t, std::string> module_paths_;       ///< by module
  std::map<std::string, std::map<uint32_t, Origin>> generated_;  ///< by file and line
  size_t generated_count_ = 0;
  Stack resolved_;  ///< the last answer of resolve()
};

}  // namespace gmt::trace
