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
void append_quoted(std::string &to, std::string_view text) {
  to += '"';
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
  to += '"';
}

}  // namespace

OutputLine::OutputLine(std::string_view type) { text("type", type); }

void OutputLine::begin(std::string_view name) {
  if (!fields_.empty()) fields_ += ',';
  append_quoted(fields_, name);
  fields_ += ':';
}

OutputLine &OutputLine::text(std::string_view name, std::string_view value) {
  begin(name);
  append_quoted(fields_, value);
  return *this;
}

OutputLine &OutputLine::number(std::string_view name, uint64_t value) {
  begin(name);
  fields_ += std::to_string(value);
  return *this;
}

OutputLine &OutputLine::flag(std::string_view name, bool value) {
  begin(name);
  fields_ += value ? "true" : "false";
  return *this;
}

OutputLine &OutputLine::list(std::string_view name, const std::vector<std::string> &values) {
  begin(name);
  fields_ += '[';
  for (size_t i = 0; i < values.size(); i++) {
    if (i) fields_ += ',';
    append_quoted(fields_, values[i]);
  }
  fields_ += ']';
  return *this;
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
