#include "trace/snapshot/snapshot_data.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace gmt::trace {
namespace {

constexpr uint64_t kMostBytes = 1ull << 47;
constexpr size_t kMostDevices = 255;
constexpr int64_t kLatestUs = 1ll << 53;  // the year 2255: what is later is damaged, and its nanoseconds have no room

struct ActionName {
  std::string_view name;
  SnapshotAction::Kind kind;
};
constexpr ActionName kActions[] = {
    {"alloc", SnapshotAction::kAlloc},
    {"free_requested", SnapshotAction::kFreeRequested},
    {"free_completed", SnapshotAction::kFreeCompleted},
    {"free", SnapshotAction::kFreeRequested},
    {"segment_alloc", SnapshotAction::kSegmentAlloc},
    {"segment_free", SnapshotAction::kSegmentFree},
    {"segment_map", SnapshotAction::kSegmentMap},
    {"segment_unmap", SnapshotAction::kSegmentUnmap},
    {"oom", SnapshotAction::kOutOfMemory},
};

// `ProfilerStep#12`, `train step 12`
bool counts_steps(std::string_view name) {
  const size_t number = name.find_last_not_of("0123456789") + 1;
  if (number == 0 || number == name.size()) return false;
  name = name.substr(0, number);
  while (!name.empty() && std::string_view(" #_:").find(name.back()) != name.npos) name.remove_suffix(1);
  return name.ends_with("step") || name.ends_with("Step");
}

/// What PyTorch writes around each step of an optimizer while annotations are recorded.
bool steps_optimizer(std::string_view name) { return name.starts_with("Optimizer.step#"); }

class Reading {
 public:
  Reading(const PickleTree &tree, FieldReader &fields, SnapshotStacks &stacks)
      : tree_(tree), fields_(fields), stacks_(stacks), left_(tree.file_bytes()) {}

  // False: it is no snapshot.
  bool read() {
    const Fields root = fields_.read(tree_.root());
    const bool old = tree_.root().is(Value::kList);  // before PyTorch 2.0: the segments alone
    const Value segments = old ? tree_.root() : root["segments"];
    const Value traces = root["device_traces"];
    if (!segments.is(Value::kList) && !traces.is(Value::kList)) return false;
    const auto devices = tree_.items(traces);
    for (size_t device = 0; device < std::min(devices.size(), kMostDevices); ++device) {
      read_trace(devices[device], static_cast<uint8_t>(device));
    }
    for (const Value part : tree_.items(root["host_traces"])) read_pinned(part);
    if (data_.timed) read_annotations(root["external_annotations"]);
    for (const Value segment : tree_.items(segments)) {
      if (count()) read_segment(fields_.read(segment));
    }
    for (const Value segment : tree_.items(root["host_segments"])) read_blocks(fields_.read(segment), kPinned);
    return !old || !data_.segments.empty() || tree_.items(segments).empty();
  }
  bool too_much() const { return left_ == 0; }
  SnapshotData &data() { return data_; }

 private:
  // What is shared may be named again and again: a file of n bytes does not describe more than n things.
  bool count() { return left_ > 0 && --left_ > 0; }
  std::optional<uint64_t> size(Value value) const {
    const auto number = tree_.integer(value);
    if (!number || *number < 0 || static_cast<uint64_t>(*number) > kMostBytes) return std::nullopt;
    return static_cast<uint64_t>(*number);
  }
  std::optional<uint64_t> address(Value value) const {
    const auto number = tree_.integer(value);
    if (!number || *number <= 0) return std::nullopt;
    return static_cast<uint64_t>(*number);
  }
  bool is(Value value, std::string_view text) const { return tree_.text(value) == text; }
  /// The program's own note on it, else which region of torch.compile made it, `Torch-Compiled Region: 0/1`.
  std::string_view name_of(const Fields &entry) const {
    const std::string_view annotation = tree_.text(entry["user_metadata"]);
    const std::string_view region = tree_.text(entry["compile_context"]);
    return !annotation.empty() || region == "N/A" ? annotation : region;
  }
  void read_trace(Value trace, uint8_t device) {
    uint64_t latest = 0;
    for (const Value entry : tree_.items(trace)) latest = read_entry(entry, device, latest);
  }
  /// Pinned memory is of no device: entries, or lists of them.
  void read_pinned(Value part) {
    if (part.is(Value::kDict))
      latest_pinned_ = read_entry(part, GMT_DEVICE_NONE, latest_pinned_);
    else
      read_trace(part, GMT_DEVICE_NONE);
  }
  /// When it happened: never before `latest`.
  uint64_t read_entry(Value entry, uint8_t device, uint64_t latest) {
    if (!count()) return latest;
    auto read = action(fields_.read(entry), device);
    data_.unreadable += !read;
    if (!read || read->kind == SnapshotAction::kNone) return latest;
    // Blocks of pinned memory are shown, not what the driver pinned for them.
    if (device == GMT_DEVICE_NONE && read->kind > SnapshotAction::kFreeCompleted) return latest;
    data_.timed = data_.timed || read->time_us > 0;
    read->time_us = std::max(latest, read->time_us);
    data_.actions.push_back(*read);
    return read->time_us;
  }
  std::optional<SnapshotAction> action(const Fields &entry, uint8_t device) {
    const std::string_view name = tree_.text(entry["action"]);
    const auto known = std::ranges::find(kActions, name, &ActionName::name);
    if (known == std::end(kActions)) {
      // Others (as `snapshot`) move no memory.
      return name.empty() ? std::nullopt : std::optional(SnapshotAction{});
    }
    const auto bytes = size(entry["size"]);
    const bool failed = known->kind == SnapshotAction::kOutOfMemory;
    const auto place = failed ? size(entry["device_free"]).value_or(GMT_UNKNOWN) : address(entry["addr"]);
    if (!bytes || !place) return std::nullopt;
    const int64_t time = tree_.integer(entry["time_us"]).value_or(0);
    if (time > kLatestUs) return std::nullopt;
    return SnapshotAction{*place,
                          *bytes,
                          static_cast<uint64_t>(tree_.integer(entry["stream"]).value_or(0)),
                          time > 0 ? static_cast<uint64_t>(time) : 0,
                          stacks_.stack(entry["frames"]),
                          device,
                          known->kind,
                          name_of(entry)};
  }
  // Ranges of `record_function` and the profiler, where PyTorch recorded them; it reports each once per device, without the thread.
  void read_annotations(Value annotations) {
    constexpr size_t kMostOpen = 256;
    std::optional<int64_t> first;
    uint64_t steps = 0, ranges = 0;
    data_.own_steps = std::ranges::any_of(
        tree_.items(annotations), [&](Value value) { return counts_steps(tree_.text(fields_.read(value)["name"])); });
    std::vector<std::pair<std::string_view, uint64_t>> open;
    for (const Value value : tree_.items(annotations)) {
      if (!count()) return;
      const Fields entry = fields_.read(value);
      const std::string_view name = tree_.text(entry["name"]);
      const int64_t time = tree_.integer(entry["time_us"]).value_or(0);
      const int64_t device = tree_.integer(entry["device"]).value_or(0);
      if (name.empty() || time <= 0 || time > kLatestUs || device != first.value_or(device)) continue;
      const auto add = [&](SnapshotAction::Kind kind, uint64_t number) {
        data_.actions.push_back({number, 0, 0, static_cast<uint64_t>(time), 0, 0, kind,
                                 kind == SnapshotAction::kRangeBegin ? name : std::string_view()});
      };
      first = device;
      if (is(entry["stage"], "START") && open.size() < kMostOpen) {
        open.emplace_back(name, ++ranges);
        add(SnapshotAction::kRangeBegin, ranges);
      } else if (is(entry["stage"], "END")) {
        const auto own = std::find_if(open.rbegin(), open.rend(), [&](const auto &one) { return one.first == name; });
        if (own != open.rend()) {
          add(SnapshotAction::kRangeEnd, own->second);
          open.erase(std::prev(own.base()));
        }
        if (data_.own_steps ? counts_steps(name) : steps_optimizer(name)) add(SnapshotAction::kStep, ++steps);
      }
    }
  }
  void read_segment(const Fields &fields) {
    const auto begin = address(fields["address"]);
    const auto bytes = size(fields["total_size"]);
    const int64_t device = tree_.integer(fields["device"]).value_or(0);
    if (!begin || !bytes || device < 0 || device >= static_cast<int64_t>(kMostDevices)) {
      ++data_.unreadable;
      return;
    }
    SnapshotSegment segment{*begin,
                            *bytes,
                            static_cast<uint64_t>(tree_.integer(fields["stream"]).value_or(0)),
                            stacks_.stack(fields["frames"]),
                            static_cast<uint8_t>(device),
                            tree_.integer(fields["is_expandable"]).value_or(0) != 0};
    read_pool(fields, segment);
    data_.segments.push_back(segment);
    read_blocks(fields, segment);
  }
  void read_blocks(const Fields &fields, const SnapshotSegment &segment) {
    uint64_t next = segment.address ? segment.address : address(fields["address"]).value_or(0);
    SnapshotBlock known{};  // what is the same of all
    known.device = segment.device;
    known.pool_owner = segment.pool_owner;
    known.pool_number = segment.pool_number;
    if (const auto stream = tree_.integer(fields["stream"])) known.stream = static_cast<uint64_t>(*stream);
    for (const Value value : tree_.items(fields["blocks"])) {
      if (!count()) return;
      const Fields block = fields_.read(value);
      const auto bytes = size(block["size"]);
      const uint64_t begin = address(block["address"]).value_or(next);
      if (!bytes) {
        ++data_.unreadable;
        continue;
      }
      next = begin + *bytes;
      if (!is(block["state"], "active_allocated")) continue;
      known.address = begin;
      known.bytes = *bytes;
      known.stack = stacks_.stack(frames_of(block));
      known.asked_bytes = size(block["requested_size"]).value_or(GMT_UNKNOWN);
      data_.blocks.push_back(known);
    }
  }
  /// A pair of numbers.
  void read_pool(const Fields &fields, SnapshotSegment &segment) const {
    const auto pair = tree_.items(fields["segment_pool_id"]);
    if (pair.size() != 2) return;
    const auto owner = tree_.integer(pair[0]), number = tree_.integer(pair[1]);
    if (!owner || !number) return;
    segment.pool_owner = static_cast<uint64_t>(*owner);
    segment.pool_number = static_cast<uint64_t>(*number);
  }
  // Up to PyTorch 2.0 a block has a history, with the stack of what it is now first.
  Value frames_of(const Fields &block) {
    if (!block["frames"].is(Value::kMissing)) return block["frames"];
    const auto history = tree_.items(block["history"]);
    return history.empty() ? Value() : fields_.read(history.front())["frames"];
  }

  static constexpr SnapshotSegment kPinned{.device = GMT_DEVICE_NONE};

  const PickleTree &tree_;
  FieldReader &fields_;
  SnapshotStacks &stacks_;
  uint64_t left_;
  uint64_t latest_pinned_ = 0;
  SnapshotData data_;
};

}  // namespace

Result<SnapshotData> read_snapshot(const PickleTree &tree, FieldReader &fields, SnapshotStacks &stacks,
                                   const std::string &where) {
  Reading reading(tree, fields, stacks);
  if (!reading.read()) {
    return Error{where + " is not a PyTorch memory snapshot: it has neither segments nor device traces."};
  }
  if (reading.too_much()) return Error{where + " was not opened: it describes more than it contains."};
  SnapshotData &data = reading.data();
  if (data.unreadable > 0 && data.actions.empty() && data.segments.empty()) {
    return Error{where + " is not a PyTorch memory snapshot: none of its " + std::to_string(data.unreadable) +
                 " entries could be read."};
  }
  if (!data.timed) {
    for (size_t i = 0; i < data.actions.size(); ++i) data.actions[i].time_us = i + 1;
  }
  std::ranges::stable_sort(data.actions, {}, &SnapshotAction::time_us);
  const auto first = std::ranges::find_if(
      data.actions, [](uint64_t us) { return us > 0; }, &SnapshotAction::time_us);
  std::for_each(data.actions.begin(), first, [&](SnapshotAction &one) { one.time_us = first->time_us; });
  return std::move(data);
}

}  // namespace gmt::trace
