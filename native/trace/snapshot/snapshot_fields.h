#pragma once
// The dicts of a memory snapshot, by the names that PyTorch gives to their fields (torch/csrc/cuda/Module.cpp,
// torch/cuda/_memory_viz.py).
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "trace/snapshot/pickle_tree.h"

namespace gmt::trace {

enum class Field : uint8_t {
  kUnread,  ///< one that nobody here asks for
  kAction,
  kAddr,
  kAddress,
  kBlocks,
  kCompileContext,
  kDevice,
  kDeviceTraces,
  kExternalAnnotations,
  kFilename,
  kFrames,
  kHistory,
  kHostTraces,
  kIsExpandable,
  kLine,
  kName,
  kRequestedSize,
  kSegmentPoolId,
  kSegments,
  kSize,
  kStage,
  kState,
  kStream,
  kTimeUs,
  kTotalSize,
  kUserMetadata,
};
constexpr size_t kFields = 26;

/// The fields of one dict; of a name that is there twice the last one, as in Python.
class Fields {
 public:
  Value &operator[](Field field) { return values_[static_cast<size_t>(field)]; }
  Value operator[](Field field) const { return values_[static_cast<size_t>(field)]; }

 private:
  std::array<Value, kFields> values_;
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
      if (items[i].is(Value::kText)) fields[field(items[i])] = items[i + 1];
    }
    return fields;
  }

 private:
  static constexpr uint8_t kUnknown = 255;

  Field field(Value name) {
    uint8_t &known = known_[name.payload()];  // names are shared: each is looked up once
    if (known == kUnknown) known = static_cast<uint8_t>(find(tree_.text(name)));
    return static_cast<Field>(known);
  }
  static Field find(std::string_view name) {
    static constexpr std::string_view kNames[kFields] = {"",
                                                         "action",
                                                         "addr",
                                                         "address",
                                                         "blocks",
                                                         "compile_context",
                                                         "device",
                                                         "device_traces",
                                                         "external_annotations",
                                                         "filename",
                                                         "frames",
                                                         "history",
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
    for (size_t i = 1; i < kFields; ++i) {
      if (kNames[i] == name) return static_cast<Field>(i);
    }
    return Field::kUnread;
  }

  const PickleTree &tree_;
  std::vector<uint8_t> known_;  ///< by text
};

}  // namespace gmt::trace
