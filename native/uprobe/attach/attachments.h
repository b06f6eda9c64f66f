#pragma once
// The probes in the libraries of the traced processes.
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "uprobe/attach/kernel_side.h"
#include "uprobe/attach/library_probes.h"
#include "uprobe/attach/links.h"
#include "uprobe/python/foreign_process.h"

namespace gmt::uprobe {

/// What a look at a process's libraries found.
struct LibraryLook {
  bool driver = false;               ///< libcuda is mapped and its probes are in place
  bool simulated = false;            ///< the driver is the project's simulator
  bool autograd_unreadable = false;  ///< PyTorch is there, and what it does in backward passes cannot be seen
  std::vector<std::string> fresh;    ///< paths of libraries that were attached just now, as the process sees them
  std::vector<std::string> refused;  ///< one sentence for each that could not be
};

class Attachments {
 public:
  /// `scope`: the one process that hits the probes; 0: all that map the libraries.
  Attachments(KernelSide &kernel, ProbeWay way, pid_t scope);

  /// Whether allocations of backward passes are to be tied to their forward lines. On; to be set before the first look.
  void set_autograd(bool on) { autograd_ = on; }

  /// Attaches to what the process maps by now and has no probes yet.
  LibraryLook attach_libraries(pid_t pid);
  /// Calls that only read which context is current: probed for a while after a late attach, when the answers are needed.
  void set_getters(bool on);
  /// Takes all probes away.
  void clear();

  size_t probes() const;
  const std::vector<std::string> &paths() const { return paths_; }

 private:
  using FileId = std::pair<dev_t, ino_t>;
  struct Library {
    LibraryRole role;
    std::string way;  ///< path by which the file was reached
    LibraryProbes probes;
    bool attached = false;
  };
  Library *attach_file(pid_t pid, const MappedFile &file, LibraryLook *found);
  int attach(Library &library);
  int attach_autograd(Library &library);
  int attach_getters(const Library &library);

  KernelSide &kernel_;
  ProbeWay way_;
  pid_t scope_;
  Links links_;
  std::unique_ptr<Links> getters_;
  std::map<FileId, Library> libraries_;
  std::vector<std::string> paths_;
  uint32_t torch_count_ = 0;
  bool autograd_ = true;
};

}  // namespace gmt::uprobe
