#pragma once
// The dicts of a memory snapshot, by PyTorch's names of their fields (torch/csrc/cuda/Module.cpp, torch/cuda/_memory_viz.py).
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <vector>

#include "trace/snapshot/pickle_tree.h"

namespace gmt::trace {

/// Those that are read.
inline constexpr std::string_view kFieldNames[] = {"action",
                                                   "addr",
                                                   "address",
                                                   "blocks",
                                                   "compile_context",
                                                   "device",
                                                   "device_free",
                                                   "device_traces",
                                                   "external_annotations",
                                                   "filename",
                                                   "frames",
                                                   "history",
                                                   "host_segments",
                                                   "host_traces",
                                                   "is_expandable",
                                                   "line",
                                                   "name",
                                                   "requested_size",
                                                   "segment_pool_id",
                                                   "segments",
                                                   "size",
                                                   "stage",
                                                   "state",
                                                   "stream",
                                                   "time_us",
                                                   "total_size",
                                                   "user_metadata"};
inline constexpr size_t kFields = std::size(kFieldNames);
constexpr size_t field_of(std::string_view name) {
  return static_cast<size_t>(std::ranges::find(kFieldNames, name) - kFieldNames);
}

/// One of them; another name does not compile.
struct Field {
  consteval Field(const char *name) : place(field_of(name)) {
    if (place == kFields) no_such_field();
  }
  static void no_such_field();
  size_t place;
};

/// The fields of one dict; of a name that is there twice the last one, as in Python.
class Fields {
 public:
  Value operator[](Field field) const { return values_[field.place]; }

 private:
  friend class FieldReader;
  std::array<Value, kFields + 1> values_;  ///< the last one: those that are not needed here
};

class FieldReader {
 public:
  explicit FieldReader(const PickleTree &tree) : tree_(tree), known_(tree.text_count(), kUnknown) {}

  /// No fields where the value is no dict.
  Fields read(Value dict) {
    Fields fields;
    if (!dict.is(Value::kDict)) return fields;
    const auto items = tree_.items(dict);
    for (size_t i = 0; i + 1 < items.size(); i += 2) {
      if (items[i].is(Value::kText)) fields.values_[field(items[i])] = items[i + 1];
    }
    return fields;
  }

 private:
  static constexpr uint8_t kUnknown = 255;

  size_t field(Value name) {
    uint8_t &known = known_[name.payload()];  // names are shared: each is looked up once
    if (known == kUnknown) known = static_cast<uint8_t>(field_of(tree_.text(name)));
    return known;
  }

  const PickleTree &tree_;
  std::vector<uint8_t> known_;  ///< by text
};

}  // namespace gmt::trace
