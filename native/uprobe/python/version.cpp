#include "uprobe/python/version.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <vector>

#include "python/versions.h"

namespace gmt::uprobe {
namespace {

constexpr size_t kMostVariableBytes = 64u << 20;
constexpr uint32_t kFinal = 0xf0;

/// "libpython3.10.so.1.0", "python3.9d": 0x030a0000, 0x03090000; 0: no number in it.
uint32_t minor_of_name(const std::string &name) {
  const size_t at = name.find("python3.");
  if (at == std::string::npos) return 0;
  const char *digits = name.c_str() + at + strlen("python3.");
  if (!isdigit(static_cast<unsigned char>(*digits))) return 0;
  return 3u << 24 | python::parse_number(digits) << 16;
}

/// Bytes of the version that the text begins with, as Py_GetVersion has it: "3.10.13 (main, ..."; 0: it is none.
size_t version_bytes(const char *text, size_t bytes) {
  size_t at = 0;
  for (int number = 0; number < 3; number++) {
    const size_t begin = at;
    while (at < bytes && at - begin < 2 && isdigit(static_cast<unsigned char>(text[at]))) at++;
    if (at == begin) return 0;
    if (number < 2 && (at >= bytes || text[at++] != '.')) return 0;
  }
  while (at < bytes && at < 16 && (isalnum(static_cast<unsigned char>(text[at])) || text[at] == '+')) at++;
  return bytes - at >= 2 && text[at] == ' ' && text[at + 1] == '(' ? at : 0;
}

/// The text that Py_GetVersion gives lies in a variable of the library, of the minor version that the file's name tells, where it
/// tells one.
uint32_t version_in(const std::vector<char> &variables, uint32_t minor) {
  const char *begin = variables.data(), *end = begin + variables.size();
  for (const char *at = begin; (at = static_cast<const char *>(memchr(at, '3', end - at))); at++) {
    if (!version_bytes(at, end - at)) continue;
    const uint32_t version = python::parse_version(at);
    if (version >> 24 == 3 && (!minor || version >> 16 == minor >> 16)) return version;
  }
  return 0;
}

}  // namespace

PythonVersion python_version(const ForeignProcess &process, const MappedSymbols &symbols,
                             const std::string &file_name) {
  if (const auto data = symbols.find("Py_Version"))
    if (const auto version = process.read<uint64_t>(data->address)) return {static_cast<uint32_t>(*version), true};
  const uint32_t minor = minor_of_name(file_name);
  const auto section = symbols.section(".bss");
  std::vector<char> variables(section ? std::min<uint64_t>(section->bytes, kMostVariableBytes) : 0);
  if (!variables.empty() && process.read(section->address, variables.data(), variables.size()))
    if (const uint32_t version = version_in(variables, minor)) return {version, true};
  return {minor ? minor | kFinal : 0, false};
}

std::string version_text(uint32_t version) {
  std::string text = std::to_string(version >> 24) + "." + std::to_string(version >> 16 & 0xff) + "." +
                     std::to_string(version >> 8 & 0xff);
  const uint32_t level = version >> 4 & 0xf;
  if (level != 0xf) text += (level == 0xa ? "a" : level == 0xb ? "b" : "rc") + std::to_string(version & 0xf);
  return text;
}

}  // namespace gmt::uprobe
