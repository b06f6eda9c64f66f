#pragma once
// A log in a saved trace, its chunks packed (native/wire/container.h): written chunk by chunk, and read so.
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "trace/file_map.h"
#include "trace/saved/trace_writer.h"
#include "trace/saved/zstd.h"
#include "wire/container.h"

namespace gmt::trace {

class LogPacker {
 public:
  /// Begins a section.
  explicit LogPacker(TraceWriter &writer);
  /// The next chunk, GMT_CHUNK_BYTES long; zeros at its end are what was not written.
  void add(std::span<const std::byte> chunk);
  /// Writes the header, with the number of chunks, and the index.
  void finish(gmt_file_header header);

 private:
  TraceWriter &writer_;
  Packer packer_;
  std::vector<gmt_packed_place> places_;
  uint64_t end_ = 0;
};

class PackedLog {
 public:
  /// Over the section that `map` shows. `index`: its index, empty where that is missing: then the chunks are looked for.
  PackedLog(FileMap &map, std::span<const std::byte> index);

  uint64_t chunks() const { return places_.size(); }
  const gmt_packed_chunk &chunk(uint64_t index) const { return places_[index].chunk; }
  /// Where it begins in the section.
  uint64_t place(uint64_t index) const { return places_[index].offset; }
  /// The slots that the chunk's records take; no data: they are damaged. Valid until forget().
  std::span<const std::byte> slots(FileMap &map, uint64_t index);
  void forget(uint64_t index) { open_.erase(index); }

 private:
  void search(FileMap &map);

  Unpacker unpacker_;
  std::vector<gmt_packed_place> places_;
  std::unordered_map<uint64_t, std::vector<std::byte>> open_;
};

}  // namespace gmt::trace
