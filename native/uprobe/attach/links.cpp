#include "uprobe/attach/links.h"

#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>

namespace gmt::uprobe {
namespace {

/// The part of `union bpf_attr` that makes a uprobe_multi link. Own declaration: headers before Linux 6.6 lack it.
struct MultiLinkAttributes {
  uint32_t program;
  uint32_t target;
  uint32_t attach_type;
  uint32_t flags;
  uint64_t path;
  uint64_t offsets;
  uint64_t semaphores;
  uint64_t cookies;
  uint32_t count;
  uint32_t multi_flags;
  uint32_t pid;
  uint32_t reserved;
};
static_assert(sizeof(MultiLinkAttributes) == 64);
constexpr uint32_t kMultiReturn = 1;

template <class T>
uint64_t pointer(const T *at) {
  return reinterpret_cast<uintptr_t>(at);
}

}  // namespace

int create_multi_link(int program, const char *path, const std::vector<ProbePoint> &points, bool at_return, pid_t pid) {
  std::vector<uint64_t> offsets, cookies;
  for (const ProbePoint &point : points) {
    offsets.push_back(point.offset);
    cookies.push_back(point.cookie);
  }
  MultiLinkAttributes attributes{};
  attributes.program = static_cast<uint32_t>(program);
  attributes.attach_type = kUprobeMultiAttachType;
  attributes.path = pointer(path);
  attributes.offsets = pointer(offsets.data());
  attributes.cookies = pointer(cookies.data());
  attributes.count = static_cast<uint32_t>(points.size());
  attributes.multi_flags = at_return ? kMultiReturn : 0;
  attributes.pid = static_cast<uint32_t>(pid);
  const long fd = ::syscall(SYS_bpf, BPF_LINK_CREATE, &attributes, sizeof attributes);
  return fd < 0 ? -errno : static_cast<int>(fd);
}

bool scoped_links_see_threads() {
  utsname system{};
  int major = 0, minor = 0;
  if (::uname(&system) != 0 || std::sscanf(system.release, "%d.%d", &major, &minor) != 2) return false;
  return major > 6 || (major == 6 && minor >= 10);
}

Links::~Links() { clear(); }

void Links::clear() {
  for (bpf_link *link : perf_) bpf_link__destroy(link);
  multi_.clear();
  perf_.clear();
}

int Links::attach(const bpf_program *program, const std::string &path, const std::vector<ProbePoint> &points,
                  bool at_return) {
  if (points.empty()) return 0;
  const int failed = way_ == ProbeWay::kMulti ? attach_multi(bpf_program__fd(program), path, points, at_return)
                                              : attach_perf(program, path, points, at_return);
  if (failed == 0) probes_ += points.size();
  return failed;
}

int Links::attach_multi(int program, const std::string &path, const std::vector<ProbePoint> &points, bool at_return) {
  const int fd = create_multi_link(program, path.c_str(), points, at_return, pid_);
  if (fd < 0) return -fd;
  multi_.emplace_back(fd);
  return 0;
}

int Links::attach_perf(const bpf_program *program, const std::string &path, const std::vector<ProbePoint> &points,
                       bool at_return) {
  const size_t before = perf_.size();
  for (const ProbePoint &point : points) {
    bpf_uprobe_opts options{};
    options.sz = sizeof options;
    options.bpf_cookie = point.cookie;
    options.retprobe = at_return;
    bpf_link *link =
        bpf_program__attach_uprobe_opts(program, pid_ == 0 ? -1 : pid_, path.c_str(), point.offset, &options);
    if (link) {
      perf_.push_back(link);
      continue;
    }
    const int failed = errno;
    for (; perf_.size() > before; perf_.pop_back()) bpf_link__destroy(perf_.back());
    return failed;
  }
  return 0;
}

}  // namespace gmt::uprobe
