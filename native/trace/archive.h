#pragma once
// A state as bytes, and back: one function of each class, `void checkpoint(Archive &a) { a(x_, y_); }`, serves both ways.
// What is read is not trusted: every number, size and index is held to its bounds, and one that does not fit makes all of it bad.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace gmt::trace {

class Archive {
 public:
  /// One that writes.
  Archive() = default;
  /// One that reads these bytes, which outlive it.
  explicit Archive(std::span<const std::byte> bytes) : in_(bytes), reads_(true) {}

  bool reads() const { return reads_; }
  /// Nothing that was read was out of bounds. After a false one, what was read is anything; its destructors can run.
  bool good() const { return good_; }
  /// Good, and nothing is left.
  bool complete() const { return good_ && at_ == in_.size(); }
  std::vector<std::byte> take() { return std::move(out_); }

  template <typename... Fields>
  void operator()(Fields &...fields) {
    (one(fields), ...);
  }
  /// What is read has to be so.
  void hold(bool true_if_sound) { good_ = good_ && (!reads_ || true_if_sound); }
  /// A number below `limit`.
  template <typename Number>
  void below(Number &number, uint64_t limit) {
    one(number);
    hold(static_cast<uint64_t>(number) < limit);
    if (!good_) number = {};
  }
  /// The same, or `none`.
  template <typename Number>
  void below_or(Number &number, uint64_t limit, Number none) {
    one(number);
    hold(number == none || static_cast<uint64_t>(number) < limit);
    if (!good_) number = none;
  }
  /// A number below 2^63, in few bytes where it is small.
  uint64_t count(uint64_t number) {
    uint64_t value = 0;
    uint8_t byte = 0x80;
    for (unsigned shift = 0; byte & 0x80 && shift < 63; shift += 7) {
      byte = static_cast<uint8_t>((number >> shift & 0x7f) | (number >> shift >> 7 ? 0x80 : 0));
      one(byte);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    }
    return value;
  }

  /// How many there are of what others name by number; read before them.
  std::array<uint64_t, 4> rows{};

 private:
  template <typename T>
  static constexpr bool kRaw = std::is_class_v<T> && std::has_unique_object_representations_v<T>;

  template <typename T>
  void one(T &value) {
    if constexpr (requires { value.checkpoint(*this); }) {
      value.checkpoint(*this);
    } else if constexpr (std::is_same_v<T, bool>) {
      auto byte = static_cast<uint8_t>(value);
      raw(&byte, 1);
      value = byte != 0;
    } else if constexpr (std::is_enum_v<T>) {
      auto number = static_cast<std::underlying_type_t<T>>(value);
      raw(&number, sizeof number);
      hold(static_cast<uint64_t>(number) < archive_limit(T{}));
      value = good_ ? static_cast<T>(number) : T{};
    } else {
      static_assert(std::is_arithmetic_v<T> || kRaw<T>, "a type without a stored form");
      raw(&value, sizeof value);
    }
  }

  void raw(void *bytes, size_t size) {
    auto *own = static_cast<std::byte *>(bytes);
    if (!reads_) {
      out_.insert(out_.end(), own, own + size);
      return;
    }
    good_ = good_ && size <= in_.size() - at_;
    if (!good_) return void(std::memset(own, 0, size));
    std::memcpy(own, in_.data() + at_, size);
    at_ += size;
  }

  void one(std::string &text) {
    const uint64_t size = sized(text.size());
    if (reads_) text.assign(size, '\0');
    raw(text.data(), size);
  }
  /// Of a list whose things take a byte or more each.
  uint64_t sized(uint64_t size) {
    size = count(size);
    hold(size <= in_.size() - at_);
    return good_ ? size : 0;
  }

  template <typename T, size_t kCount>
  void one(std::array<T, kCount> &list) {
    for (T &item : list) one(item);
  }
  template <typename List>
    requires requires(List &list) { list.emplace_back(); }
  void one(List &list) {
    const uint64_t size = sized(list.size());
    if (reads_) list.clear();
    if constexpr (requires { list.reserve(size); }) {
      if (reads_) list.reserve(std::min<uint64_t>(size, 1u << 16));
    }
    in_columns(size, [&] {
      for (uint64_t i = 0; i < size && good_; ++i) {
        if (reads_) list.emplace_back();
        one(list[i]);
      }
    });
  }

  /// Rows of one width are kept column by column, each byte as the difference to the row before: that packs well.
  template <typename Pass>
  void in_columns(uint64_t size, Pass pass) {
    if (size < kFewRows) return pass();
    if (!reads_) {
      std::vector<std::byte> before = std::exchange(out_, {});
      pass();
      const std::vector<std::byte> body = std::exchange(out_, std::move(before));
      const uint64_t width = body.size() % size == 0 ? body.size() / size : 0;
      count(width);
      const size_t begin = out_.size();
      out_.insert(out_.end(), body.begin(), body.end());
      if (width) to_columns(body, size, width, out_.data() + begin);
      return;
    }
    const uint64_t width = count(0);
    hold(width <= (in_.size() - at_) / size);
    if (!good_ || width == 0) return pass();
    std::vector<std::byte> body(size * width);
    from_columns(in_.subspan(at_, body.size()), size, width, body.data());
    const auto outer = std::exchange(in_, body);
    const size_t next = std::exchange(at_, 0) + body.size();
    pass();
    good_ = complete();
    in_ = outer;
    at_ = next;
  }
  /// Calls `move(byte of the rows, byte of the columns, byte of the row before)`, a few rows at a time so that they stay near.
  template <typename Byte, typename Move>
  static void each_byte(uint64_t size, uint64_t width, Byte *rows, Move move) {
    std::vector<uint8_t> before(width);
    for (uint64_t first = 0; first < size; first += kFewRows * kFewRows) {
      const uint64_t end = std::min(size, first + kFewRows * kFewRows);
      for (uint64_t column = 0; column < width; ++column) {
        for (uint64_t row = first; row < end; ++row)
          move(rows[row * width + column], column * size + row, before[column]);
      }
    }
  }
  static void to_columns(std::span<const std::byte> from, uint64_t size, uint64_t width, std::byte *to) {
    each_byte(size, width, from.data(), [to](std::byte row, uint64_t column, uint8_t &before) {
      to[column] = static_cast<std::byte>(static_cast<uint8_t>(row) - before);
      before = static_cast<uint8_t>(row);
    });
  }
  static void from_columns(std::span<const std::byte> from, uint64_t size, uint64_t width, std::byte *to) {
    each_byte(size, width, to, [from](std::byte &row, uint64_t column, uint8_t &before) {
      before = static_cast<uint8_t>(before + static_cast<uint8_t>(from[column]));
      row = static_cast<std::byte>(before);
    });
  }

  template <typename First, typename Second>
  void one(std::pair<First, Second> &pair) {
    one(pair.first);
    one(pair.second);
  }
  /// In the order of their keys, so that one state has one form.
  template <typename Map>
    requires requires { typename Map::mapped_type; }
  void one(Map &map) {
    using Entry = std::pair<typename Map::key_type, typename Map::mapped_type *>;
    std::vector<Entry> entries;
    if (!reads_) {
      for (auto &[key, value] : map) entries.push_back({key, &value});
      std::ranges::stable_sort(entries, {}, &Entry::first);
    }
    const uint64_t size = sized(entries.size());
    if (reads_) map.clear();
    in_columns(size, [&] {
      for (uint64_t i = 0; i < size && good_; ++i) {
        typename Map::mapped_type value{};
        Entry entry = reads_ ? Entry{{}, &value} : entries[i];
        one(entry.first);
        one(*entry.second);
        if (reads_) map.emplace(std::move(entry.first), std::move(value));
      }
    });
  }

  template <typename T>
  void one(std::optional<T> &value) {
    bool there = value.has_value();
    one(there);
    if (reads_) there ? void(value.emplace()) : value.reset();
    if (there) one(*value);
  }
  template <typename T>
  void one(std::unique_ptr<T> &value) {
    bool there = value != nullptr;
    one(there);
    if (reads_) value = there ? std::make_unique<T>() : nullptr;
    if (there) one(*value);
  }
  /// Two that share one are two afterwards.
  template <typename T>
  void one(std::shared_ptr<const T> &value) {
    bool there = value != nullptr;
    one(there);
    if (!there) return void(value = nullptr);
    auto own = std::make_shared<T>(reads_ ? T{} : *value);
    one(*own);
    if (reads_) value = std::move(own);
  }
  template <typename... Kinds>
  void one(std::variant<Kinds...> &value) {
    auto kind = static_cast<uint8_t>(value.index());
    below(kind, sizeof...(Kinds));
    if (reads_) {
      size_t at = 0;
      ((at++ == kind ? void(value.template emplace<Kinds>()) : void()), ...);
    }
    std::visit([this](auto &own) { one(own); }, value);
  }

  static constexpr uint64_t kFewRows = 16;

  std::vector<std::byte> out_;
  std::span<const std::byte> in_;
  size_t at_ = 0;
  bool reads_ = false;
  bool good_ = true;
};

}  // namespace gmt::trace
