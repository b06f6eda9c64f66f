#pragma once
// Writes pickles of plain data, as CPython does with protocol 2, for tests: what is named twice is written once and shared.
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/snapshot/pickle_reader.h"

namespace gmt::test {

class Pickle {
 public:
  using Pair = std::pair<std::string_view, std::string>;

  static std::string number(int64_t value) { return "\x8a\x08" + bytes_of(value); }
  static std::string text(std::string_view value) {
    return "X" + bytes_of(static_cast<uint32_t>(value.size())) + std::string(value);
  }
  static std::string list(const std::vector<std::string> &items) {
    std::string out = "](";
    for (const std::string &item : items) out += item;
    return out + "e";
  }
  static std::string tuple(const std::vector<std::string> &items) {
    std::string out = "(";
    for (const std::string &item : items) out += item;
    return out + "t";
  }
  static std::string dict(std::initializer_list<Pair> pairs) {
    std::string out = "}(";
    for (const auto &[name, value] : pairs) out += text(name) + value;
    return out + "u";
  }
  static std::string yes() { return "\x88"; }
  /// Remembers what `value` makes as number `place`; `again` names it.
  static std::string keep(uint32_t place, const std::string &value) { return value + "r" + bytes_of(place); }
  static std::string again(uint32_t place) { return "j" + bytes_of(place); }
  static std::string file(const std::string &value) { return "\x80\x02" + value + "."; }

  template <class T>
  static std::string bytes_of(T value) {
    return {reinterpret_cast<const char *>(&value), sizeof value};
  }
};

inline trace::Result<trace::PickleTree> read_bytes(std::string_view text, const std::string &where = "x.pickle") {
  auto bytes = std::make_unique<std::byte[]>(text.size() + 1);
  std::memcpy(bytes.get(), text.data(), text.size());
  return trace::read_pickle(std::move(bytes), text.size(), where);
}

}  // namespace gmt::test
