#include "uprobe/python_version.h"

#include <cctype>
#include <cstring>

#include "python/versions.h"

namespace gmt::uprobe {
namespace {

constexpr size_t kMostConstants = 64u << 20;
constexpr uint32_t kFinal = 0xf0;

/// "libpython3.10.so.1.0", "python3.9d": 0x030a0000, 0x03090000; 0: no number in it.
uint32_t minor_of_name(const std::string &name) {
  const size_t at = name.find("python3.");
  if (at == std::string::npos) return 0;
  const char *digits = name.c_str() + at + strlen("python3.");
  if (!isdigit(static_cast<unsigned char>(*digits))) return 0;
  return 3u << 24 | python::parse_number(digits) << 16;
}

/// Whether the whole text is a version of Python 3: digits, dot, digits, dot, digits, and what a pre-release has behind that.
bool is_version(const char *text, size_t bytes) {
  size_t at = 0;
  for (int number = 0; number < 3; number++) {
    const size_t begin = at;
    while (at < bytes && at - begin < 2 && isdigit(static_cast<unsigned char>(text[at]))) at++;
    if (at == begin) return false;
    if (number < 2 && (at >= bytes || text[at++] != '.')) return false;
  }
  if (at < bytes && strchr("abr", text[at])) {
    at += text[at] == 'r' ? 2 : 1;
    while (at < bytes && isdigit(static_cast<unsigned char>(text[at]))) at++;
  }
  if (at < bytes && text[at] == '+') at++;
  return at == bytes && text[0] == '3' && text[1] == '.';
}

/// PY_VERSION among the constants of the file: a text that is a version, of the minor one that the name tells, where it tells one.
uint32_t version_in(const std::vector<std::byte> &constants, uint32_t minor) {
  const char *text = reinterpret_cast<const char *>(constants.data());
  for (size_t begin = 0; begin < constants.size();) {
    const size_t bytes = strnlen(text + begin, constants.size() - begin);
    if (begin + bytes == constants.size()) break;
    if (bytes >= 5 && bytes < 16 && is_version(text + begin, bytes)) {
      const uint32_t version = python::parse_version(text + begin);
      if (minor ? version >> 16 == minor >> 16 : python::table_of(version) != nullptr) return version;
    }
    begin += bytes + 1;
  }
  return 0;
}

}  // namespace

uint32_t python_version(const ForeignProcess &process, const MappedSymbols &symbols, const std::string &file_name) {
  if (const auto data = symbols.find("Py_Version"))
    if (const auto version = process.read<uint64_t>(data->address)) return static_cast<uint32_t>(*version);
  const uint32_t minor = minor_of_name(file_name);
  const uint32_t version = version_in(symbols.section(".rodata", kMostConstants), minor);
  return version ? version : minor ? minor | kFinal : 0;
}

std::string version_text(uint32_t version) {
  std::string text = std::to_string(version >> 24) + "." + std::to_string(version >> 16 & 0xff) + "." +
                     std::to_string(version >> 8 & 0xff);
  const uint32_t level = version >> 4 & 0xf;
  if (level != 0xf) text += (level == 0xa ? "a" : level == 0xb ? "b" : "rc") + std::to_string(version & 0xf);
  return text;
}

}  // namespace gmt::uprobe
