#pragma once
// The stacks of a memory snapshot: equal ones get one number.
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/saved/log_builder.h"
#include "trace/snapshot/pickle_tree.h"
#include "trace/snapshot/snapshot_fields.h"

namespace gmt::trace {

class SnapshotStacks {
 public:
  explicit SnapshotStacks(const PickleTree &tree, FieldReader &fields)
      : tree_(tree), fields_(fields), known_(tree.container_count(), kUnknown) {}

  /// The number of a list of frames, innermost first; 0 = no frames. PyTorch's own recorder is left out. Of more than
  /// GMT_MAX_FRAMES the native ones go first, then the outermost.
  uint32_t stack(Value frames);
  /// The same stack for memory that was there before the history begins.
  uint32_t before(uint32_t stack);
  void write(LogBuilder &log) const;

 private:
  using Codes = std::vector<uint32_t>;
  struct Hash {
    size_t operator()(const Codes &codes) const {
      return std::hash<std::string_view>()(
          {reinterpret_cast<const char *>(codes.data()), codes.size() * sizeof(uint32_t)});
    }
  };
  struct Code {
    std::string_view file, name;
    uint32_t line;
    bool native;
    bool recorder;  ///< of the history's own making
  };
  struct Stack {
    const Codes *codes;  ///< lies in stacks_by_codes_; null = none
    uint16_t flags;
  };
  static constexpr uint32_t kUnknown = ~0u;

  uint32_t code(Value frame);
  uint32_t add(const Codes &codes, bool cut);
  void shorten(Codes &codes) const;

  const PickleTree &tree_;
  FieldReader &fields_;
  /// With slashes, as all readers expect them.
  std::string_view path(std::string_view file);
  /// Where native frames alone show that autograd's engine runs, one frame more that says so.
  void name_backward(Codes &codes);
  uint32_t number_of(const Code &code);

  std::vector<uint32_t> known_;            ///< by container: a list's stack, a dict's code
  Codes codes_now_;                        ///< of the list that is read
  std::deque<std::string> windows_paths_;  ///< with slashes: codes_ look at them
  std::vector<Code> codes_;                ///< number 1 first
  std::vector<Stack> stacks_;              ///< number 1 first
  std::unordered_map<std::string, uint32_t> code_numbers_;
  std::unordered_map<Codes, uint32_t, Hash> stack_numbers_;
  std::unordered_map<uint32_t, uint32_t> before_;
};

}  // namespace gmt::trace
