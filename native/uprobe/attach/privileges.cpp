#include "uprobe/attach/privileges.h"

#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace gmt::uprobe {
namespace {

// Headers before Linux 5.8 lack the newest.
constexpr uint32_t kDacReadSearch = 2, kKill = 5, kSetGid = 6, kSetUid = 7, kSetPcap = 8, kSysPtrace = 19,
                   kSysAdmin = 21, kSysNice = 23;
constexpr uint32_t kPerfmon = 38, kBpf = 39, kCheckpointRestore = 40;
constexpr uint64_t bit(uint32_t capability) { return 1ull << capability; }
constexpr uint64_t kTracing = bit(kBpf) | bit(kPerfmon);

struct Sets {
  uint64_t effective = 0, permitted = 0;
};

Sets get_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  if (::syscall(SYS_capget, &header, data) != 0) return {};
  return {data[0].effective | static_cast<uint64_t>(data[1].effective) << 32,
          data[0].permitted | static_cast<uint64_t>(data[1].permitted) << 32};
}

/// Effective and permitted become `set`; nothing is inherited.
bool set_capabilities(uint64_t set) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  data[0].effective = data[0].permitted = static_cast<uint32_t>(set);
  data[1].effective = data[1].permitted = static_cast<uint32_t>(set >> 32);
  return ::syscall(SYS_capset, &header, data) == 0;
}

}  // namespace

Rights acquire_rights() {
  const Sets now = get_capabilities();
  Rights rights;
  rights.user = ::getuid();
  rights.root = ::geteuid() == 0;
  uint64_t kept = now.permitted & (kTracing | bit(kSysAdmin) | bit(kSysNice));
  if (rights.root)
    kept = now.permitted & (kTracing | bit(kSysAdmin) | bit(kSysNice) | bit(kSysPtrace) | bit(kDacReadSearch) |
                            bit(kKill) | bit(kSetUid) | bit(kSetGid) | bit(kCheckpointRestore));
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  if (now.permitted & bit(kSetPcap))
    for (uint32_t capability = 0; capability < 64; capability++) ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  if (!set_capabilities(kept)) return rights;
  rights.can_trace = (kept & kTracing) == kTracing || (kept & bit(kSysAdmin));
  return rights;
}

bool settle_rights(uid_t owner, gid_t group, bool foreign, bool perf) {
  const uint64_t have = get_capabilities().permitted;
  // Yama lets only CAP_SYS_PTRACE read the memory of a process that is not a child; without it there are no Python stacks.
  uint64_t kept = kTracing | bit(kSysNice) | bit(kSysPtrace) | bit(kCheckpointRestore);
  if (foreign) kept |= bit(kDacReadSearch) | bit(kKill);
  if (perf || !(have & bit(kBpf))) kept |= bit(kSysAdmin);  // before Linux 5.8 it is the only one
  kept &= have;
  if (owner != ::geteuid()) {
    if (::prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) != 0 || ::setgroups(0, nullptr) != 0) return false;
    if (::setresgid(group, group, group) != 0 || ::setresuid(owner, owner, owner) != 0) return false;
  }
  return set_capabilities(kept);
}

void run_ahead() {
  ::setpriority(PRIO_PROCESS, 0, -20);
  set_capabilities(get_capabilities().permitted & ~bit(kSysNice));
}

}  // namespace gmt::uprobe
