#pragma once
// Parts of memory snapshots, and what they read as.
#include <fstream>

#include "check.h"
#include "pickle_writer.h"
#include "trace/snapshot/import_snapshot.h"
#include "trace_reading.h"

namespace gmt::test {

inline constexpr int64_t kTime = 1'700'000'000'000'000;
inline constexpr uint64_t kBase = 0x7f0000000000;
inline constexpr int64_t kMega = 1 << 20;

inline std::string frame(std::string_view file, std::string_view name, int64_t line) {
  return Pickle::dict({{"filename", Pickle::text(file)}, {"name", Pickle::text(name)}, {"line", Pickle::number(line)}});
}
inline const std::string kFrames =
    Pickle::list({frame("/lib/site-packages/torch/x.py", "linear", 5), frame("/a.py", "f", 7)});
inline const std::string kNoFrames = Pickle::list({});

inline std::string entry(std::string_view action, uint64_t offset, int64_t size, int64_t time,
                         const std::string &frames = kFrames, int64_t stream = 0) {
  return Pickle::dict({{"action", Pickle::text(action)},
                       {"addr", Pickle::number(static_cast<int64_t>(kBase + offset))},
                       {"size", Pickle::number(size)},
                       {"stream", Pickle::number(stream)},
                       {"time_us", Pickle::number(kTime + time)},
                       {"frames", frames}});
}
inline std::string block(uint64_t offset, int64_t size, std::string_view state, const std::string &frames = kFrames) {
  return Pickle::dict({{"address", Pickle::number(static_cast<int64_t>(kBase + offset))},
                       {"size", Pickle::number(size)},
                       {"state", Pickle::text(state)},
                       {"frames", frames}});
}
inline std::string segment(uint64_t offset, int64_t size, const std::vector<std::string> &blocks,
                           bool expandable = false) {
  return Pickle::dict({{"device", Pickle::number(0)},
                       {"address", Pickle::number(static_cast<int64_t>(kBase + offset))},
                       {"total_size", Pickle::number(size)},
                       {"stream", Pickle::number(0)},
                       {"frames", kFrames},
                       {"is_expandable", Pickle::number(expandable)},
                       {"blocks", Pickle::list(blocks)}});
}
inline std::string snapshot(const std::vector<std::string> &segments, const std::vector<std::string> &traces) {
  std::vector<std::string> devices;
  for (const std::string &trace : traces) devices.push_back(trace);
  return Pickle::dict({{"segments", Pickle::list(segments)},
                       {"device_traces", Pickle::list(devices)},
                       {"allocator_settings", Pickle::dict({})}});
}

struct Imported {
  std::string error;
  Reading reading;
  std::vector<trace::Event> events;

  std::string kinds() const {
    std::string out;
    for (const trace::Event &event : events) out += (out.empty() ? "" : " ") + std::to_string(event.kind);
    return out;
  }
  const trace::Stack *stack(size_t event) { return reading.session->tables(0).resolve(events[event].stack); }
  std::string notes() const {
    std::string out;
    for (const trace::Note &note : reading.session->tables(0).notes()) {
      if (note.code != GMT_NOTE_SNAPSHOT) out += note.text + "\n";
    }
    return out;
  }
};

inline Imported import(const std::string &value) {
  const TemporaryFolder folder;
  std::ofstream(folder / "x.pickle", std::ios::binary) << Pickle::file(value);
  Imported out;
  if (const auto status = trace::import_snapshot(folder / "x.pickle", folder / "x.gputrace")) {
    out.error = status->message.substr(folder.path().size() + 1);
    CHECK(!std::filesystem::exists(folder / "x.gputrace"));
    return out;
  }
  out.reading = read_all(folder / "x.gputrace");
  CHECK_EQ(out.reading.error, "");
  out.events = out.reading.events();
  return out;
}

}  // namespace gmt::test
