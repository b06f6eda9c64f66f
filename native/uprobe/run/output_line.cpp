#include "uprobe/run/output_line.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace gmt::uprobe {
namespace {

/// Bytes of the UTF-8 character that `text` begins with; 0: it is none.
size_t character(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const size_t bytes = lead < 0x80                   ? 1
                       : lead >= 0xc2 && lead < 0xe0 ? 2
                       : lead >= 0xe0 && lead < 0xf0 ? 3
                       : lead >= 0xf0 && lead < 0xf5 ? 4
                                                     : 0;
  if (bytes > text.size()) return 0;
  for (size_t i = 1; i < bytes; i++)
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) return 0;
  return bytes;
}

/// Paths may hold any bytes; what is no UTF-8 becomes a question mark.
std::string quoted(std::string_view text) {
  std::string to(1, '"');
  while (!text.empty()) {
    const size_t bytes = character(text);
    const auto c = static_cast<unsigned char>(text[0]);
    if (bytes == 0) {
      to += '?';
    } else if (c == '"' || c == '\\') {
      to += '\\';
      to += text[0];
    } else if (c < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", c);
      to += escape;
    } else {
      to += text.substr(0, bytes);
    }
    text.remove_prefix(bytes ? bytes : 1);
  }
  return to + '"';
}

}  // namespace

OutputLine &OutputLine::add(std::string_view name, const std::string &json) {
  if (!fields_.empty()) fields_ += ',';
  fields_ += quoted(name) + ':' + json;
  return *this;
}

OutputLine &OutputLine::text(std::string_view name, std::string_view value) { return add(name, quoted(value)); }

OutputLine &OutputLine::list(std::string_view name, const std::vector<std::string> &values) {
  std::string all;
  for (const std::string &value : values) all += (all.empty() ? "" : ",") + quoted(value);
  return add(name, "[" + all + "]");
}

bool OutputLine::print() const {
  const std::string line = json() + "\n";
  for (size_t done = 0; done < line.size();) {
    const ssize_t n = ::write(STDOUT_FILENO, line.data() + done, line.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<size_t>(n);
  }
  return true;
}

}  // namespace gmt::uprobe
