#pragma once
// What the program says on its standard output: one JSON object a line.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gmt::uprobe {

/// One line; fields in the order of the calls.
class OutputLine {
 public:
  explicit OutputLine(std::string_view type) { text("type", type); }
  OutputLine() = default;
  OutputLine &text(std::string_view name, std::string_view value);
  OutputLine &number(std::string_view name, uint64_t value) { return add(name, std::to_string(value)); }
  OutputLine &flag(std::string_view name, bool value) { return add(name, value ? "true" : "false"); }
  OutputLine &list(std::string_view name, const std::vector<std::string> &values);
  /// Writes it out; false: there is no reader any more.
  bool print() const;
  std::string json() const { return "{" + fields_ + "}"; }

 private:
  OutputLine &add(std::string_view name, const std::string &json);
  std::string fields_;
};

/// Why nothing can be traced. Codes: no-process, not-yours, no-libcuda, ended, no-btf, no-bpf, no-privilege, bad-arguments, directory.
struct Problem {
  const char *code = nullptr;  ///< null: none
  std::string message;         ///< one sentence: what, where, what to do
  explicit operator bool() const { return code != nullptr; }
};

}  // namespace gmt::uprobe
