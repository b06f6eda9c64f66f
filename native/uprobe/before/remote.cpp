#include "uprobe/before/remote.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>

#include "python/versions.h"
#include "uprobe/python/process.h"
#include "uprobe/python/target.h"
#include "uprobe/session/process_info.h"
#include "wire/clock.h"
#include "wire/files.h"

namespace gmt::uprobe {
namespace {

constexpr uint32_t kFirstVersion = 0x030e0000;
constexpr uint8_t kMainThreadWord = python::kThreadsWord + 1;
constexpr size_t kFirstSupportWord = 81, kLastSupportWord = 120;  ///< where the words on remote scripts may begin
constexpr uint64_t kPathBytes = 512;
constexpr uint64_t kPleaseStop = 1u << 5;  ///< of the eval breaker
constexpr uint64_t kPatienceNs = 1'000'000'000;
constexpr size_t kMostAnswerBytes = 256u << 20;

/// It runs in a namespace of its own, and leaves nothing behind.
constexpr const char *kScript = R"(
def tell(path):
    import os
    import sys

    torch = sys.modules.get("torch")
    part = os.open(path + ".part", os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with open(part, "w") as out:
        for segment in torch.cuda.memory_snapshot() if torch else []:
            at, device, mapped = segment["address"], segment["device"], 0
            for block in segment["blocks"]:
                place = block.get("address", at)
                if block["state"] == "active_allocated":
                    out.write("b %d %d %d\n" % (place, block["size"], device))
                at = place + block["size"]
            kind = "m" if segment.get("is_expandable") else "s"
            out.write("%s %d %d %d\n" % (kind, segment["address"], segment["total_size"], device))
        out.write("end\n")
    os.rename(path + ".part", path)

try:
    tell(PATH)
except Exception:
    pass
)";

/// Offsets that an interpreter tells of itself, in this order.
struct Support {
  uint64_t breaker, support, enabled, pending, path, path_bytes;
};

/// They stand behind what differs between versions; the last three are known.
bool find_support(const ForeignProcess &process, uint64_t runtime, Support *out) {
  for (size_t word = kFirstSupportWord; word < kLastSupportWord; word++) {
    if (!process.read(runtime + word * 8, out, sizeof *out)) return false;
    if (out->pending == 0 && out->path == 4 && out->path_bytes == kPathBytes && out->breaker < 4096 &&
        out->support < 16384 && out->enabled < 1u << 20)
      return true;
  }
  return false;
}

bool write(pid_t pid, uint64_t address, const void *from, size_t bytes) {
  iovec local = {const_cast<void *>(from), bytes}, remote = {reinterpret_cast<void *>(address), bytes};
  return ::process_vm_writev(pid, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
}

/// A file of the trace directory that is gone at the end.
class Paper {
 public:
  Paper(int directory, std::string name) : directory_(directory), name_(std::move(name)) {}
  ~Paper() { remove_file(name_.c_str(), directory_); }
  Paper(const Paper &) = delete;
  Paper &operator=(const Paper &) = delete;
  const std::string &name() const { return name_; }
  bool write(const std::string &text) const {
    const int file = create_named(name_.c_str(), directory_);
    if (file < 0) return false;
    const bool good = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    return ::close(file) == 0 && good;
  }

 private:
  int directory_;
  std::string name_;
};

/// The directory's path where the process sees the same directory by it and may write there; else empty.
std::string shared_path(pid_t pid, int directory) {
  char path[kPathBytes] = {};
  const std::string self = "/proc/self/fd/" + std::to_string(directory);
  const ssize_t length = ::readlink(self.c_str(), path, sizeof path - 1);
  struct stat own {
  }, seen{};
  const std::string there = "/proc/" + std::to_string(pid) + "/root" + path;
  if (length <= 0 || ::fstat(directory, &own) != 0 || ::stat(there.c_str(), &seen) != 0) return {};
  const auto about = read_process(static_cast<uint32_t>(pid));
  const bool allowed = about && (about->uids[1] == 0 || about->uids[1] == own.st_uid);
  return allowed && own.st_ino == seen.st_ino && own.st_dev == seen.st_dev ? path : std::string();
}

/// A path as Python text; what would need escapes is refused.
std::string quoted(const std::string &path) {
  for (const char c : path)
    if (c == '"' || c == '\\' || c == '\n') return {};
  return '"' + path + '"';
}

bool parse(const std::string &text, BeforeMemory *out) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    if (line == "end") return true;
    char kind = 0;
    BeforeBlock block{};
    if (std::sscanf(line.c_str(), "%c %" SCNu64 " %" SCNu64 " %" SCNu8, &kind, &block.address, &block.bytes,
                    &block.device) != 4 ||
        block.device >= 64 || block.bytes == 0 || block.bytes >= 1ull << 47)
      return false;
    (kind == 'b' ? out->blocks : kind == 's' ? out->segments : out->mapped).push_back(block);
  }
  return false;
}

/// Asks, and takes it back where nobody answers in time.
bool run_script(pid_t pid, uint64_t thread, const Support &at, const std::string &script, const std::string &answer) {
  const ForeignProcess process(pid);
  std::string path = script;
  path.push_back('\0');
  const uint64_t support = thread + at.support;
  int32_t pending = 1;
  const auto busy = process.read<int32_t>(support + at.pending);
  if (!busy || *busy != 0 || path.size() > at.path_bytes) return false;
  if (!write(pid, support + at.path, path.data(), path.size())) return false;
  if (!write(pid, support + at.pending, &pending, sizeof pending)) return false;
  const auto breaker = process.read<uint64_t>(thread + at.breaker);
  const uint64_t asked = breaker.value_or(0) | kPleaseStop;
  const bool told = breaker && write(pid, thread + at.breaker, &asked, sizeof asked);
  for (const uint64_t until = monotonic_ns() + kPatienceNs; told && monotonic_ns() < until; ::usleep(1000))
    if (::access(answer.c_str(), R_OK) == 0) return true;
  pending = 0;
  if (process.read<int32_t>(support + at.pending) == 1) write(pid, support + at.pending, &pending, sizeof pending);
  return false;
}

}  // namespace

bool ask_interpreter(pid_t pid, int directory, BeforeMemory *out) {
  const PythonTarget python = find_python(pid);
  const uint64_t runtime = python.interpreter.runtime;
  if (python.version < kFirstVersion || runtime == 0) return false;
  const ForeignProcess process(pid);
  Support at{};
  const auto main_word = process.read<uint64_t>(runtime + 8 * kMainThreadWord);
  const auto interpreters = process.read<uint64_t>(runtime + 8 * python::kInterpretersWord);
  if (!main_word || !interpreters || !find_support(process, runtime, &at)) return false;
  const auto interpreter = process.read<uint64_t>(runtime + *interpreters + 8);
  if (!interpreter || process.read<int32_t>(*interpreter + at.enabled) != 1) return false;
  const auto thread = process.read<uint64_t>(*interpreter + *main_word);
  const std::string folder = shared_path(pid, directory);
  if (!thread || *thread == 0 || folder.empty()) return false;
  const Paper script(directory, ".before.py"), answer(directory, ".before"), part(directory, ".before.part");
  const std::string path = folder + "/" + answer.name(), text = quoted(path);
  if (text.empty() || !script.write("PATH = " + text + kScript)) return false;
  if (!run_script(pid, *thread, at, folder + "/" + script.name(), path)) return false;
  BeforeMemory told;
  told.told = true;
  if (!parse(read_small_file(answer.name(), kMostAnswerBytes, directory), &told)) return false;
  *out = std::move(told);
  return true;
}

}  // namespace gmt::uprobe
