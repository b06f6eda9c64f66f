#include "trace/snapshot/import_snapshot.h"

#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <map>

#include "trace/saved/log_builder.h"
#include "trace/saved/trace_writer.h"
#include "trace/snapshot/pickle_reader.h"
#include "trace/snapshot/snapshot_data.h"
#include "trace/snapshot/snapshot_replay.h"

namespace gmt::trace {
namespace {

std::string counted(uint64_t count, const char *one, const char *many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

std::string size_text(uint64_t bytes) {
  static constexpr const char *kUnits[] = {"KiB", "MiB", "GiB", "TiB"};
  double size = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  for (; size >= 1024 && unit + 1 < std::size(kUnits); ++unit) size /= 1024;
  char text[32];
  const bool whole = std::llround(size * 100) % 100 == 0;
  std::snprintf(text, sizeof text, "%.*f %s", whole ? 0 : 2, size, kUnits[unit]);
  return text;
}

/// When the history begins; where it has no times, when the file was written.
uint64_t start_ns(const std::string &path, const SnapshotData &data) {
  if (data.timed) return data.actions.front().time_us * 1000;
  struct stat status;
  if (::stat(path.c_str(), &status) != 0) return 1;
  return static_cast<uint64_t>(status.st_mtim.tv_sec) * 1'000'000'000;
}

/// No part of a character.
std::string_view cut(std::string_view text, size_t most) {
  while (most < text.size() && (text[most] & 0xc0) == 0x80) --most;
  return text.substr(0, most);
}

/// Writes the history: the tensors, and PyTorch's segments as what they are to the driver.
class SnapshotLog {
 public:
  SnapshotLog(LogBuilder &log, SnapshotStacks &stacks, SnapshotBeginning &beginning)
      : log_(log), stacks_(stacks), beginning_(beginning) {
    uint64_t first = 1;
    for (auto &[device, pieces] : beginning.pieces) {
      handles_[device] = first;
      first += pieces.size();
    }
  }

  void begin() {
    for (SnapshotSegment segment : beginning_.segments) {
      segment.stack = stacks_.before(segment.stack);
      take_segment(segment);
    }
    for (auto &[device, pieces] : beginning_.pieces) {
      for (size_t place = 0; place < pieces.size(); ++place) {
        if (pieces[place].before) map(device, place, stacks_.before(0));
      }
    }
    for (const SnapshotBlock &block : beginning_.blocks) {
      event(kind_of(block, GMT_TENSOR_ALLOC, GMT_HOST_ALLOC), block.device, block.address, block.bytes,
            stacks_.before(block.stack));
    }
  }
  void act(const SnapshotAction &action, uint64_t time_ns) {
    now_ns_ = time_ns;
    switch (action.kind) {
      case SnapshotAction::kNone:
        return;
      case SnapshotAction::kAlloc:
        event(kind_of(action, GMT_TENSOR_ALLOC, GMT_HOST_ALLOC), action.device, action.address, action.bytes,
              action.stack, action.stream);
        return name_block(action);
      case SnapshotAction::kFreeRequested:
      case SnapshotAction::kFreeCompleted:
        return event(kind_of(action, GMT_TENSOR_FREE, GMT_HOST_FREE), action.device, action.address, action.bytes,
                     action.stack, action.stream);
      case SnapshotAction::kSegmentAlloc:
        return take_segment({action.address, action.bytes, action.stream, action.stack, action.device, false});
      case SnapshotAction::kSegmentFree:
        return free_segment(action);
      case SnapshotAction::kSegmentMap:
      case SnapshotAction::kSegmentUnmap:
        return change_maps(action);
      case SnapshotAction::kStep:
        return event(GMT_STEP, GMT_DEVICE_NONE, action.address, 0, 0);
      case SnapshotAction::kRangeBegin:
      case SnapshotAction::kRangeEnd:
        return write_range(action);
      case SnapshotAction::kOutOfMemory:
        return fail(action);
    }
  }

 private:
  static uint8_t kind_of(const auto &one, uint8_t tensor, uint8_t pinned) {
    return one.device == GMT_DEVICE_NONE ? pinned : tensor;
  }
  void event(uint8_t kind, uint8_t device, uint64_t address, uint64_t bytes, uint32_t stack, uint64_t stream = 0) {
    gmt_driver_detail detail{};
    detail.stream = stream;
    log_.event(now_ns_, kind, device, address, bytes, stack, stream != 0 ? &detail : nullptr);
  }
  void fail(const SnapshotAction &action) {
    gmt_driver_detail detail{};
    detail.stream = action.stream;
    detail.offset = action.address;
    if (action.address != GMT_UNKNOWN) detail.flags = GMT_DETAIL_FREE;
    log_.event(now_ns_, GMT_TENSOR_OOM, action.device, 0, action.bytes, action.stack, &detail);
  }
  void reserve(uint8_t device, int64_t more) {
    int64_t &bytes = reserved_[device];
    bytes = std::max<int64_t>(0, bytes + more);
    event(GMT_RESERVED, device, 0, static_cast<uint64_t>(bytes), 0);
  }
  void take_segment(const SnapshotSegment &segment) {
    event(GMT_DEVICE_ALLOC, segment.device, segment.address, segment.bytes, segment.stack, segment.stream);
    segments_[{segment.device, segment.address}] = segment.bytes;
    reserve(segment.device, static_cast<int64_t>(segment.bytes));
  }
  void free_segment(const SnapshotAction &action) {
    const auto known = segments_.find({action.device, action.address});
    const uint64_t bytes = known == segments_.end() ? 0 : known->second;
    if (known != segments_.end()) segments_.erase(known);
    event(GMT_FREE, action.device, action.address, bytes, action.stack, action.stream);
    reserve(action.device, -static_cast<int64_t>(bytes));
  }
  void map(uint8_t device, size_t place, uint32_t stack) {
    SegmentPieces::Piece &piece = beginning_.pieces[device][place];
    if (piece.mapped) return;
    piece.mapped = true;
    gmt_driver_detail detail{};
    detail.object = handles_[device] + place;
    event(GMT_PHYSICAL_CREATE, device, detail.object, piece.bytes, stack);
    log_.event(now_ns_, GMT_MAP, device, piece.address, piece.bytes, stack, &detail);
    reserve(device, static_cast<int64_t>(piece.bytes));
  }
  void unmap(uint8_t device, size_t place, uint32_t stack) {
    SegmentPieces::Piece &piece = beginning_.pieces[device][place];
    if (!piece.mapped) return;
    piece.mapped = false;
    event(GMT_UNMAP, device, piece.address, piece.bytes, stack);
    event(GMT_PHYSICAL_RELEASE, device, handles_[device] + place, 0, stack);
    reserve(device, -static_cast<int64_t>(piece.bytes));
  }
  void change_maps(const SnapshotAction &action) {
    const auto [first, end] = beginning_.pieces[action.device].range(action.address, action.bytes);
    for (size_t place = first; place < end; ++place) {
      action.kind == SnapshotAction::kSegmentMap ? map(action.device, place, action.stack)
                                                 : unmap(action.device, place, action.stack);
    }
  }
  void name_block(const SnapshotAction &action) {
    const std::string_view text = cut(action.text, 1000);
    gmt_name name{action.address, 0, static_cast<uint32_t>(text.size()), action.device, GMT_CATEGORY_UNNAMED, 0};
    if (!text.empty() && action.device != GMT_DEVICE_NONE) log_.record(GMT_NAME, {part(name), part(text)});
  }
  void write_range(const SnapshotAction &action) {
    const std::string_view name = cut(action.text, GMT_MOST_RANGE_NAME);
    const uint32_t key = GMT_RANGE_STARTED | static_cast<uint32_t>(action.address);
    const gmt_range range{LogBuilder::kStartNs + now_ns_, key, static_cast<uint32_t>(name.size())};
    log_.record(GMT_RANGE, {part(range), part(name)});
  }

  LogBuilder &log_;
  SnapshotStacks &stacks_;
  SnapshotBeginning &beginning_;
  std::map<uint8_t, uint64_t> handles_;  ///< of each device's first piece
  std::map<uint8_t, int64_t> reserved_;
  std::map<std::pair<uint8_t, uint64_t>, uint64_t> segments_;  ///< bytes
  uint64_t now_ns_ = 0;
};

void write_note(LogBuilder &log, gmt_note_code code, std::string_view text) {
  log.record(GMT_NOTE, {part(gmt_note{static_cast<uint32_t>(code), static_cast<uint32_t>(text.size())}), part(text)});
}

void write_notes(LogBuilder &log, const SnapshotData &data, const SnapshotBeginning &beginning) {
  write_note(log, GMT_NOTE_SNAPSHOT,
             "This is a PyTorch memory snapshot. It has the allocator's events, but no threads and no memory outside "
             "PyTorch.");
  const auto is_step = [](const SnapshotAction &action) { return action.kind == SnapshotAction::kStep; };
  if (std::ranges::any_of(data.actions, is_step))
    write_note(log, GMT_NOTE_STEPS, data.own_steps ? "program" : "optimizer");
  if (!beginning.blocks.empty()) {
    uint64_t bytes = 0;
    for (const SnapshotBlock &block : beginning.blocks) bytes += block.bytes;
    const std::string blocks = counted(beginning.blocks.size(), "block", "blocks") + ", " + size_text(bytes);
    write_note(log, GMT_NOTE_ATTACHED,
               data.actions.empty() ? "There is no history, only the live memory at the end (" + blocks + ")."
                                    : "The history does not cover the beginning (earlier: " + blocks +
                                          "). A larger max_entries records more of it.");
  }
  const auto gap = [&](uint64_t count, const char *one, const char *many) {
    if (count > 0) {
      write_note(log, GMT_NOTE_SNAPSHOT_GAPS,
                 counted(count, one, many) + " appeared or disappeared without a record in the history.");
    }
  };
  gap(beginning.unrecorded_blocks, "block", "blocks");
  gap(beginning.unrecorded_segments, "segment", "segments");
  if (data.unreadable > 0) {
    write_note(log, GMT_NOTE_SNAPSHOT_GAPS,
               counted(data.unreadable, "entry", "entries") + " of the snapshot could not be read.");
  }
}

/// What is known of the blocks that were alive in the end.
void write_details(LogBuilder &log, const SnapshotData &data) {
  for (const SnapshotBlock &block : data.blocks) {
    if (block.device == GMT_DEVICE_NONE) continue;
    if (block.asked_bytes == GMT_UNKNOWN && block.stream == GMT_UNKNOWN && block.pool_owner == GMT_UNKNOWN) continue;
    log.record(GMT_BLOCK, {part(gmt_block{block.address, 0, block.asked_bytes, block.stream, block.pool_owner,
                                          block.pool_number, block.device, 0})});
  }
}

/// Which segments are of a private pool, if all report their pool.
void write_pools(LogBuilder &log, const SnapshotData &data) {
  if (std::ranges::any_of(data.segments, [](const SnapshotSegment &one) { return one.pool_owner == GMT_UNKNOWN; }))
    return;
  gmt_pool about{};
  for (const SnapshotSegment &segment : data.segments) {
    about = {0, segment.pool_owner, segment.pool_number, segment.device, GMT_POOL_PRIVATE, 0, 0, 1, 0};
    if (about.owner != 0 || about.number != 0) log.record(GMT_POOL, {part(about), part(segment.address)});
  }
  about = {};
  about.kind = GMT_POOL_NO_MORE;
  if (!data.segments.empty()) log.record(GMT_POOL, {part(about)});
}

void write_tables(LogBuilder &log, const std::string &path, const SnapshotData &data) {
  const std::string command = path.substr(path.rfind('/') + 1) + '\0';
  log.record(GMT_PROCESS,
             {part(gmt_process_record{static_cast<uint32_t>(command.size()), 0}), part(std::string_view(command))});
  constexpr std::string_view kThread = "all threads";
  log.record(GMT_THREAD, {part(gmt_thread_record{0, 0, kThread.size()}), part(kThread)});
  std::map<uint8_t, bool> devices;
  for (const SnapshotAction &action : data.actions) devices[action.device] = true;
  for (const SnapshotSegment &segment : data.segments) devices[segment.device] = true;
  devices.erase(GMT_DEVICE_NONE);
  for (const auto &[device, used] : devices) log.record(GMT_DEVICE, {part(gmt_device_record{device, 0, 0})});
}

}  // namespace

Status import_snapshot(const std::string &path, const std::string &target) {
  auto tree = read_pickle_file(path);
  if (!tree) return Error{tree.error()};
  FieldReader fields(tree.value());
  SnapshotStacks stacks(tree.value(), fields);
  auto data = read_snapshot(tree.value(), fields, stacks, path);
  if (!data) return Error{data.error()};
  auto beginning = replay_snapshot(data.value(), path);
  if (!beginning) return Error{beginning.error()};
  // Every stack has its number before the first is written.
  stacks.before(0);
  for (const SnapshotSegment &segment : beginning.value().segments) stacks.before(segment.stack);
  for (const SnapshotBlock &block : beginning.value().blocks) stacks.before(block.stack);

  TraceWriter writer(target);
  gmt_file_header header{};
  header.start_realtime_ns = start_ns(path, data.value());
  header.driver_source = GMT_DRIVER_NONE;
  LogBuilder log(writer, header);
  write_tables(log, path, data.value());
  write_notes(log, data.value(), beginning.value());
  stacks.write(log);
  SnapshotLog events(log, stacks, beginning.value());
  events.begin();
  const uint64_t start_us = data.value().actions.empty() ? 0 : data.value().actions.front().time_us;
  // What happened in one microsecond keeps its order, behind what was there before.
  uint64_t time_ns = 0;
  for (const SnapshotAction &action : data.value().actions) {
    time_ns = std::max(time_ns + 1, (action.time_us - start_us) * 1000);
    events.act(action, time_ns);
  }
  write_details(log, data.value());
  write_pools(log, data.value());
  log.lose(GMT_LOST_UNSUPPORTED, data.value().unreadable);
  log.finish();
  return writer.finish();
}

}  // namespace gmt::trace
