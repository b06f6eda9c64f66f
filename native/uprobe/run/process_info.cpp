#include "uprobe/run/process_info.h"

#include <dirent.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>

#include "wire/process_start.h"
#include "wire/secrets.h"

namespace gmt::uprobe {
namespace {

constexpr size_t kMostCommandBytes = 8192;

std::string proc_path(uint32_t pid, const char *rest) { return "/proc/" + std::to_string(pid) + "/" + rest; }

/// At most `most` bytes; empty where it cannot be read.
std::string read_small_file(const std::string &path, size_t most) {
  std::string text(most, 0);
  const ssize_t bytes = gmt_read_start(path.c_str(), text.data(), most);
  text.resize(bytes > 0 ? static_cast<size_t>(bytes) : 0);
  return text;
}

/// Takes the next number of a text of numbers between blanks; 0 at its end.
uint64_t read_number(std::string_view &text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return 0;
  text.remove_prefix(begin);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  if (error != std::errc()) text.remove_prefix(std::min(text.find(' '), text.size()));  // a negative one: not used
  return value;
}

/// The fields behind the name, which may hold anything.
bool parse_stat(const std::string &stat, ProcessInfo *out) {
  const size_t open = stat.find('('), close = stat.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close + 4 > stat.size()) return false;
  out->name = stat.substr(open + 1, close - open - 1);
  const char state = stat[close + 2];
  out->zombie = state == 'Z' || state == 'X';
  std::string_view rest = std::string_view(stat).substr(close + 3);
  out->parent_pid = static_cast<uint32_t>(read_number(rest));
  for (int field = 5; field < 22; field++) read_number(rest);
  out->start = read_number(rest);
  return true;
}

}  // namespace

bool ProcessInfo::belongs_to(uint32_t uid) const {
  return std::ranges::all_of(uids, [&](uint32_t own) { return own == uid; });
}

std::optional<ProcessInfo> read_process(uint32_t pid) {
  ProcessInfo info;
  info.pid = pid;
  const std::string status = read_small_file(proc_path(pid, "status"), 1 << 16);
  const size_t line = status.find("\nUid:");
  if (line == std::string::npos || !parse_stat(read_small_file(proc_path(pid, "stat"), 4096), &info))
    return std::nullopt;
  std::string_view uids = std::string_view(status).substr(line + 5);
  for (uint32_t &uid : info.uids) uid = static_cast<uint32_t>(read_number(uids));
  info.command = read_small_file(proc_path(pid, "cmdline"), kMostCommandBytes);
  info.command.resize(secrets::mask_command(info.command.data(), info.command.size()));
  return info;
}

int open_pidfd(uint32_t pid) { return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)); }

uint32_t opened_gpus(uint32_t pid) {
  const std::string folder = proc_path(pid, "fd");
  DIR *files = ::opendir(folder.c_str());
  if (!files) return 0;
  std::set<std::string> gpus;
  while (const dirent *entry = ::readdir(files)) {
    char target[64];
    const ssize_t n = ::readlinkat(::dirfd(files), entry->d_name, target, sizeof target);
    constexpr std::string_view kGpu = "/dev/nvidia";
    const std::string_view name(target, n > 0 ? static_cast<size_t>(n) : 0);
    if (name.size() > kGpu.size() && name.starts_with(kGpu) && name[kGpu.size()] >= '0' && name[kGpu.size()] <= '9')
      gpus.emplace(name);
  }
  ::closedir(files);
  return static_cast<uint32_t>(gpus.size());
}

}  // namespace gmt::uprobe
