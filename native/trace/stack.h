#pragma once
// A Python stack, with names.
#include <cstdint>
#include <string>
#include <vector>

namespace gmt::trace {

/// Path of a module that is no other’s.
inline const std::string kRootModule = "(root)";

struct Frame {
  std::string file;      ///< as the code object has it; empty = unknown
  uint32_t line = 0;     ///< 0 = unknown
  std::string function;  ///< qualified where the Python version has that
  void checkpoint(auto &a) { a(file, line, function); }
};
struct Stack {
  std::vector<Frame> frames;   ///< innermost first
  int32_t user_frame = -1;     ///< the user's innermost own frame, -1 = none: see user_frame()
  bool cut = false;            ///< the outermost frames are missing
  bool generated = false;      ///< a compiler's code is in it
  bool before_attach = false;  ///< the memory was there before the recording began; mostly without frames
};

}  // namespace gmt::trace
