#include "trace/trace_directory.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>

#include "trace/file_map.h"
#include "wire/layout.h"

namespace gmt::trace {
namespace {

constexpr uint64_t kMaxTextBytes = 16u << 20;

}  // namespace

Result<std::vector<std::string>> file_names(const std::string &directory, std::string_view end) {
  std::vector<std::string> names;
  const bool read = visit_entries(open_folder(directory.c_str(), FileLinks::kFollowed), [&](std::string name, int) {
    if (name != "." && name != ".." && name.ends_with(end)) names.push_back(std::move(name));
  });
  if (!read) return Error{"Cannot open " + directory + ": " + std::strerror(errno) + "."};
  std::ranges::sort(names);
  return names;
}

std::string read_text(const std::string &path) {
  auto file = FileMap::open_in(path);
  std::string text(file ? std::min(file.value().size(), kMaxTextBytes) : 0, '\0');
  if (!text.empty() && !file.value().copy(0, text.size(), reinterpret_cast<std::byte *>(text.data()))) text.clear();
  return text;
}

std::string read_session_json(const std::string &directory) { return read_text(directory + "/session.json"); }

bool session_over(const std::string &session_json) {
  static constexpr char kKey[] = "\"exitCode\"";
  for (size_t at = session_json.find(kKey); at != std::string::npos; at = session_json.find(kKey, at + 1)) {
    size_t value = session_json.find_first_not_of(" \t\r\n:", at + sizeof kKey - 1);
    if (value != std::string::npos && (session_json[value] == '-' || std::isdigit(session_json[value]))) return true;
  }
  return false;
}

Status check_directory(const std::string &directory) {
  auto names = file_names(directory, "");
  if (!names) return Error{names.error()};
  const auto ours = [](const std::string &name) {
    return name == "control" || name == "session.json" || name == "recorder" || name.ends_with(GMT_LOG_SUFFIX);
  };
  if (names.value().empty() || std::ranges::any_of(names.value(), ours)) return std::nullopt;
  return Error{directory + " is not a trace directory: it holds no log of a traced process."};
}

}  // namespace gmt::trace
