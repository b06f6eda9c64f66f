#pragma once
// Finds the Python interpreter of another process and where it keeps what the walk in BPF reads. Nothing is executed in the process
// and nothing of it is stopped or written.
#include <sys/types.h>

#include <cstdint>
#include <string>

#include "uprobe/bpf/python_ring.h"

namespace gmt::uprobe {

enum class PythonSupport : uint32_t {
  kNone,         ///< no interpreter: try again when a library was mapped
  kNotYet,       ///< one that is not initialized yet: try again soon; `reason` has what is missing
  kUnsupported,  ///< final for this program; `reason` has the reason
  kReady,        ///< final for this program; `interpreter` is filled in
};

struct PythonTarget {
  PythonSupport support = PythonSupport::kNone;
  std::string reason;    ///< one sentence
  uint32_t version = 0;  ///< PY_VERSION_HEX, 0 = not known
  gmt_python_interpreter interpreter = {};
};

/// Looks for libpython or an interpreter in the program itself (also stripped, in a container, deleted since). Its version's layout
/// is proved on a living thread: the state that the C library has for it must be one that the interpreter lists for that thread.
/// Needs the rights of ptrace on the process; costs some ms.
PythonTarget find_python(pid_t pid);

/// The sentence for an interpreter whose stacks cannot be had.
std::string unsupported_sentence(uint32_t version, const std::string &because);

}  // namespace gmt::uprobe
