#include "trace/trace_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <memory>

#include "wire/layout.h"

namespace gmt::trace {
namespace {

constexpr size_t kMaxSessionBytes = 16u << 20;

Result<std::vector<std::string>> names_in(const std::string &directory) {
  std::unique_ptr<DIR, int (*)(DIR *)> open(::opendir(directory.c_str()), ::closedir);
  if (!open) return Error{"Cannot open " + directory + ": " + std::strerror(errno) + "."};
  std::vector<std::string> names;
  while (const dirent *entry = ::readdir(open.get())) {
    std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool is_log(const std::string &name) { return name.ends_with(GMT_LOG_SUFFIX); }

}  // namespace

Result<std::vector<std::string>> file_names(const std::string &directory, std::string_view end) {
  auto names = names_in(directory);
  if (names) std::erase_if(names.value(), [&](const std::string &name) { return !name.ends_with(end); });
  return names;
}

std::string read_session_json(const std::string &directory) {
  std::string text;
  int fd = ::open((directory + "/session.json").c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return text;
  char part[8192];
  for (ssize_t got; text.size() < kMaxSessionBytes && (got = ::read(fd, part, sizeof part)) > 0;) {
    text.append(part, static_cast<size_t>(got));
  }
  ::close(fd);
  return text;
}

bool session_over(const std::string &session_json) {
  static constexpr char kKey[] = "\"exitCode\"";
  for (size_t at = session_json.find(kKey); at != std::string::npos; at = session_json.find(kKey, at + 1)) {
    size_t value = session_json.find_first_not_of(" \t\r\n:", at + sizeof kKey - 1);
    if (value != std::string::npos && (session_json[value] == '-' || std::isdigit(session_json[value]))) return true;
  }
  return false;
}

Status check_directory(const std::string &directory) {
  auto names = names_in(directory);
  if (!names) return Error{names.error()};
  const auto ours = [](const std::string &name) {
    return name == "control" || name == "session.json" || name == "recorder" || is_log(name);
  };
  if (names.value().empty() || std::any_of(names.value().begin(), names.value().end(), ours)) return std::nullopt;
  return Error{directory + " is not a trace directory: it holds no log of a traced process."};
}

}  // namespace gmt::trace
