#pragma once
// The fields of a question that JavaScript puts.
#include <napi.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "model/state/types.h"

namespace gmt::addon {

/// Reads the fields of one query; the first that is wrong leaves the error.
class Fields {
 public:
  /// They are in the argument `at`.
  explicit Fields(const Napi::CallbackInfo &info, size_t at = 0) : env_(info.Env()) {
    if (info.Length() <= at || !info[at].IsObject()) {
      fail("The query must be an object.");
    } else {
      object_ = info[at].As<Napi::Object>();
    }
  }
  bool ok() const { return ok_; }

  /// What the field's word stands for; false where the field is absent, or wrong.
  template <typename Enum, typename To>
  bool word_if(const char *field, To &to) {
    const Napi::Value value = get(field);
    if (value.IsUndefined()) return false;
    const std::string text = value.IsString() ? value.As<Napi::String>().Utf8Value() : "";
    const auto &known = model::Words<Enum>::kAll;
    const auto found = std::find(known.begin(), known.end(), text);
    if (found != known.end()) {
      const auto number = static_cast<Enum>(found - known.begin());
      if constexpr (std::is_assignable_v<To &, Enum>)
        to = number;
      else
        to = static_cast<std::underlying_type_t<Enum>>(number);
      return true;
    }
    std::string all;
    for (const char *word : known) all += std::string(all.empty() ? "" : ", ") + word;
    fail(std::string("The query's \"") + field + "\" must be one of " + all + ".");
    return false;
  }
  template <typename Enum>
  Enum word(const char *field) {
    Enum found{};
    if (!word_if<Enum>(field, found)) fail(std::string("The query lacks \"") + field + "\".");
    return found;
  }
  double number(const char *field, std::optional<double> otherwise) {
    const Napi::Value value = get(field);
    if (value.IsNumber() && !std::isnan(value.As<Napi::Number>().DoubleValue())) {
      return value.As<Napi::Number>().DoubleValue();
    }
    if (!value.IsUndefined() || !otherwise) fail(std::string("The query's \"") + field + "\" must be a number.");
    return otherwise.value_or(0);
  }
  bool flag(const char *field) {
    const Napi::Value value = get(field);
    return value.IsBoolean() && value.As<Napi::Boolean>().Value();
  }
  std::string text(const char *field) {
    const Napi::Value value = get(field);
    return value.IsString() ? value.As<Napi::String>().Utf8Value() : "";
  }
  uint64_t whole(const char *field) {
    const double value = number(field, std::nullopt);
    if (value <= 0) return 0;
    return value >= 9007199254740992.0 ? 1ull << 53 : static_cast<uint64_t>(value);
  }
  uint64_t whole(const char *field, uint64_t otherwise) { return get(field).IsUndefined() ? otherwise : whole(field); }
  /// A number of a process, a site or the like; kNone for what is none.
  uint32_t index(const char *field) {
    const double value = number(field, std::nullopt);
    return value >= 0 && value < model::kNone ? static_cast<uint32_t>(value) : model::kNone;
  }
  size_t points(const char *field) { return std::clamp<uint64_t>(whole(field), kFewestPoints, kMostPoints); }
  /// The numbers of a list; nothing where it is absent.
  std::optional<std::vector<uint32_t>> list(const char *field) {
    const Napi::Value value = get(field);
    if (value.IsUndefined()) return std::nullopt;
    std::vector<uint32_t> numbers;
    each(field, "numbers", [&](const Napi::Value &item) {
      if (!item.IsNumber()) return false;
      const double one = item.As<Napi::Number>().DoubleValue();
      numbers.push_back(one >= 0 && one < model::kNone ? static_cast<uint32_t>(one) : model::kNone);
      return true;
    });
    return numbers;
  }
  std::vector<uint64_t> addresses(const char *field) {
    std::vector<uint64_t> found;
    each(field, "addresses (bigint)", [&](const Napi::Value &item) {
      bool lossless = true;
      if (!item.IsBigInt()) return false;
      found.push_back(item.As<Napi::BigInt>().Uint64Value(&lossless));
      return true;
    });
    return found;
  }
  /// Absent or negative: no restriction.
  std::optional<int32_t> choice(const char *field) {
    const double value = number(field, -1);
    if (value < 0 || value > 2147483647.0) return std::nullopt;
    return static_cast<int32_t>(value);
  }

 private:
  static constexpr uint64_t kFewestPoints = 16;
  static constexpr uint64_t kMostPoints = 2048;

  /// Gives the items of a list to `take`, which says false to what it cannot read.
  template <typename Take>
  void each(const char *field, const char *what, Take take) {
    const Napi::Value value = get(field);
    bool good = value.IsArray();
    for (uint32_t i = 0; good && i < value.As<Napi::Array>().Length(); ++i) good = take(value.As<Napi::Array>().Get(i));
    if (!good) fail(std::string("The query's \"") + field + "\" must be a list of " + what + ".");
  }
  Napi::Value get(const char *field) { return ok_ ? object_.Get(field) : env_.Undefined(); }
  void fail(const std::string &sentence) {
    if (ok_) Napi::TypeError::New(env_, sentence).ThrowAsJavaScriptException();
    ok_ = false;
  }

  Napi::Env env_;
  Napi::Object object_;
  bool ok_ = true;
};

}  // namespace gmt::addon
