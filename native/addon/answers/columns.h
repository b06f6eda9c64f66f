#pragma once
// Rows as the columns that JavaScript gets.
#include <napi.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <string>

#include "model/query/questions.h"
#include "model/state/name_book.h"

namespace gmt::addon {

/// Of a number that is not known.
constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();

/// A typed array with one entry a row.
template <typename Value, typename Rows, typename Read>
Napi::TypedArrayOf<Value> column(Napi::Env env, const Rows &rows, Read read) {
  auto array = Napi::TypedArrayOf<Value>::New(env, rows.size());
  for (size_t i = 0; i < rows.size(); ++i) array.Data()[i] = static_cast<Value>(read(rows[i]));
  return array;
}

/// Sets each column under the word of the enum for it.
template <typename Enum, typename Columns>
void put_matrices(Napi::Env env, Napi::Object &object, const Columns &columns) {
  for (size_t i = 0; i < columns.size(); ++i) {
    object.Set(model::word_of(static_cast<Enum>(i)),
               column<double>(env, columns[i], [](double value) { return value; }));
  }
}

/// `kEach` numbers a row; nullptr: they are not known.
template <size_t kEach, typename Rows, typename Read>
Napi::Float64Array columns(Napi::Env env, const Rows &rows, Read read) {
  auto array = Napi::Float64Array::New(env, rows.size() * kEach);
  for (size_t i = 0; i < rows.size(); ++i) {
    const double *values = read(rows[i]);
    double *own = array.Data() + i * kEach;
    values ? void(std::copy(values, values + kEach, own)) : std::fill(own, own + kEach, kNotKnown);
  }
  return array;
}

/// These numbers of each row, row by row.
template <typename Rows, typename... Member>
Napi::Float64Array tuples(Napi::Env env, const Rows &rows, Member... member) {
  auto array = Napi::Float64Array::New(env, rows.size() * sizeof...(member));
  double *to = array.Data();
  for (const auto &row : rows) ((*to++ = static_cast<double>(row.*member)), ...);
  return array;
}

/// An array with what `make(item)` gives for each.
template <typename Items, typename Make>
Napi::Array objects(Napi::Env env, const Items &items, Make make) {
  auto array = Napi::Array::New(env, items.size());
  uint32_t at = 0;
  for (const auto &item : items) array.Set(at++, make(item));
  return array;
}

template <typename Rows, typename Read>
Napi::Array texts(Napi::Env env, const Rows &rows, Read read) {
  return objects(env, rows, [&](const auto &row) { return Napi::String::New(env, read(row)); });
}

/// The word of an enum; each word is made once.
template <typename Enum, typename Rows, typename Read>
Napi::Array words(Napi::Env env, const Rows &rows, Read read) {
  std::array<Napi::Value, model::Words<Enum>::kAll.size()> made;
  return objects(env, rows, [&](const auto &row) {
    Napi::Value &word = made[static_cast<size_t>(read(row))];
    if (word.IsEmpty()) word = Napi::String::New(env, model::word_of(static_cast<Enum>(read(row))));
    return word;
  });
}

/// `0:3`, as PyTorch numbers its pools; empty: not reported.
inline std::string pool_text(uint64_t owner, uint64_t number) {
  if (owner == GMT_UNKNOWN || number == GMT_UNKNOWN) return "";
  return std::to_string(owner) + ":" + std::to_string(number);
}

/// `3.12`
inline std::string version_text(uint32_t version) {
  return std::to_string(version >> 24) + "." + std::to_string(version >> 16 & 0xff);
}

inline model::DriverSource driver_source(uint32_t source) {
  if (source == GMT_DRIVER_CUPTI) return model::DriverSource::Cupti;
  return source == GMT_DRIVER_UPROBE ? model::DriverSource::Uprobe : model::DriverSource::None;
}

/// Those with blocks.
inline std::vector<model::CategoryRow> category_sums(const model::MemorySnapshot &snapshot) {
  std::vector<model::CategoryRow> sums;
  for (uint8_t category = 0; category < model::kCategories; ++category) {
    if (snapshot.categories[category].count != 0) sums.push_back({0, category, snapshot.categories[category]});
  }
  return sums;
}

/// As JavaScript and files carry a key: 16 hexadecimal digits.
inline std::string key_text(uint64_t key) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(key));
  return text;
}
template <typename Rows, typename Read>
Napi::Array keys(Napi::Env env, const Rows &rows, Read read) {
  return texts(env, rows, [&](const auto &row) { return key_text(read(row)); });
}

/// PassBegins, Timeline.
inline Napi::Value pack(Napi::Env env, const std::vector<model::PassBegin> &passes) {
  return tuples(env, passes, &model::PassBegin::begin_ns, &model::PassBegin::pass);
}
inline Napi::Value pack(Napi::Env env, const std::vector<model::Bucket> &buckets) {
  using model::Bucket;
  return tuples(env, buckets, &Bucket::begin_ns, &Bucket::min, &Bucket::max, &Bucket::last);
}

}  // namespace gmt::addon
