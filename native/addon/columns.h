#pragma once
// Rows as the columns that JavaScript gets.
#include <napi.h>

namespace gmt::addon {

/// A typed array with one entry a row.
template <typename Value, typename Rows, typename Read>
Napi::TypedArrayOf<Value> column(Napi::Env env, const Rows &rows, Read read) {
  auto array = Napi::TypedArrayOf<Value>::New(env, rows.size());
  for (size_t i = 0; i < rows.size(); ++i) array.Data()[i] = static_cast<Value>(read(rows[i]));
  return array;
}

template <typename Rows, typename Read>
Napi::Array texts(Napi::Env env, const Rows &rows, Read read) {
  auto array = Napi::Array::New(env, rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    array.Set(static_cast<uint32_t>(i), Napi::String::New(env, read(rows[i])));
  }
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

}  // namespace gmt::addon
