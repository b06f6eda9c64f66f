#pragma once
// Results without exceptions: a value, or one clear sentence (what, where, what to do).
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace gmt::trace {

struct Error {
  std::string message;
};

template <class T>
class Result {
 public:
  Result(T value) : held_(std::move(value)) {}
  Result(Error error) : held_(std::move(error)) {}
  explicit operator bool() const { return held_.index() == 0; }
  T &value() { return std::get<0>(held_); }
  const T &value() const { return std::get<0>(held_); }
  const std::string &error() const { return std::get<1>(held_).message; }

 private:
  std::variant<T, Error> held_;
};

/// Nothing, or why not.
using Status = std::optional<Error>;

}  // namespace gmt::trace
