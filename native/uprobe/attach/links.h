#pragma once
// Probes in the files of traced programs: many at once with one uprobe_multi link (Linux 6.6), else one perf event each.
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "wire/files.h"

struct bpf_link;
struct bpf_program;

namespace gmt::uprobe {

enum class ProbeWay { kMulti, kPerf };

struct ProbePoint {
  uint64_t offset;  ///< in the file
  uint64_t cookie;  ///< what the BPF program gets
};

/// Holds links; they go with it.
class Links {
 public:
  /// `pid`: only this process hits the probes (threads included); 0: every process that maps the file.
  Links(ProbeWay way, pid_t pid) : way_(way), pid_(pid) {}
  ~Links();

  /// 0, or an errno: then nothing of these points is attached.
  int attach(const bpf_program *program, const std::string &path, const std::vector<ProbePoint> &points,
             bool at_return);
  /// Takes all probes away.
  void clear();
  size_t probes() const { return probes_; }

 private:
  int attach_multi(int program, const std::string &path, const std::vector<ProbePoint> &points, bool at_return);
  int attach_perf(const bpf_program *program, const std::string &path, const std::vector<ProbePoint> &points,
                  bool at_return);

  ProbeWay way_;
  pid_t pid_;
  size_t probes_ = 0;
  std::vector<Descriptor> multi_;
  std::vector<bpf_link *> perf_;
};

/// Before Linux 6.10 a uprobe_multi link for one process sees only its main thread.
bool scoped_links_see_threads();

/// BPF_TRACE_UPROBE_MULTI of the kernel, which libbpf before 1.3 does not name.
constexpr uint32_t kUprobeMultiAttachType = 48;

/// One uprobe_multi link: its descriptor, or -errno.
int create_multi_link(int program, const char *path, const std::vector<ProbePoint> &points, bool at_return, pid_t pid);

}  // namespace gmt::uprobe
