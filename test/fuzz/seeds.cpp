#include "seeds.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "check.h"
#include "checkpoint_session.h"
#include "container_input.h"
#include "log_writer.h"
#include "pickle_writer.h"
#include "trace/saved/save.h"

using namespace gmt;
using namespace gmt::test;

namespace {

void write_all_kinds(LogWriter &log, uint16_t threads, int events) {
  log.add_process(0, std::string("python\0a.py\0", 12));
  log.add_device(0, 0, "GPU", 1ull << 34);
  log.add_note(0, GMT_NOTE_TORCH, "a note");
  log.add_library(0, 1, "/usr/lib/libother.so");
  uint32_t stack = log.add_stack_of(0, {{"a.py", "f", 3}, {"b.py", "g", 4}});
  for (int i = 0; i < events; ++i) {
    uint16_t thread = static_cast<uint16_t>(i % threads);
    if (i < threads) log.add_thread_record(thread, 100u + thread, "thread");
    if (i % 5 == 0) log.add_autograd(thread, 1 + i % 2, i, 1);
    if (i % 9 == 0) log.add_node(thread, i, stack, 1);
    if (i % 7 == 0) log.add_detail(thread, gmt_driver_detail{0, 0, 0, 0, 0, 0, 0, i % 3u});
    if (i % 11 == 0) log.add_torn_event();
    if (i % 23 == 22) log.take_over(thread, 70'000u + static_cast<uint32_t>(i), thread);
    if (i % 29 == 28) {
      log.add_event(thread, GMT_RECORDING_STOP, 0, 0, GMT_DEVICE_NONE);
      log.add_event(thread, GMT_RECORDING_START, 0, 0, GMT_DEVICE_NONE);
      for (const uint32_t kind : {GMT_DEVICE_ALLOC, GMT_TENSOR_ALLOC})
        log.add_before(thread, kind, {{0x1000, 512}, {0x900000, 1024}}, stack);
    }
    if (i % 13 == 0) log.at(log.now_ns() + 5'000'000'000);
    log.add_event(thread, i % 7 ? GMT_TENSOR_ALLOC : GMT_DEVICE_ALLOC, i * 512, 512, 0, stack);
  }
}

// A note that claims to reach far beyond its chunk and its file.
void write_hostile(LogWriter &log) {
  log.add_note(0, GMT_NOTE_TORCH, "a note");
  auto *note = reinterpret_cast<gmt_side_record *>(log.chunk(0) + GMT_CHUNK_HEADER_BYTES);
  note->slots = 0xffff;
  note->bytes = 0xffff * GMT_SLOT_BYTES - 16;
  uint32_t text_bytes = note->bytes - sizeof(gmt_note);
  std::memcpy(note->payload + offsetof(gmt_note, text_bytes), &text_bytes, sizeof text_bytes);
}

Bytes compact(LogWriter &log) {
  Bytes bytes(log.bytes(), log.bytes() + sizeof(gmt_file_header));
  for (uint64_t i = 0; i < log.chunks(); ++i) {
    const unsigned char *chunk = log.chunk(i);
    uint32_t slots = GMT_SLOTS_PER_CHUNK;
    auto zero = [&](uint32_t slot) {
      const unsigned char *at = chunk + GMT_CHUNK_HEADER_BYTES + slot * GMT_SLOT_BYTES;
      return std::all_of(at, at + GMT_SLOT_BYTES, [](unsigned char b) { return b == 0; });
    };
    while (slots > 0 && zero(slots - 1)) --slots;
    bytes.push_back(static_cast<uint8_t>(slots));
    bytes.push_back(static_cast<uint8_t>(slots >> 8));
    bytes.insert(bytes.end(), chunk, chunk + GMT_CHUNK_HEADER_BYTES + slots * GMT_SLOT_BYTES);
  }
  return bytes;
}

// What the recorder leaves: the first steps, a gap, and the rest.
Bytes given_back() {
  TemporaryFolder folder;
  LogWriter log(folder.path());
  write_all_kinds(log, 2, 120);
  gmt_file_header &header = log.header();
  header.kept_chunks = 1, header.kept_sequence = 20, header.kept_ns = 1000;
  header.gone_sequence = header.cleared_sequence = 60;
  header.chunk_limit = 8;
  return compact(log);
}

std::vector<Bytes> logs() {
  std::vector<Bytes> all;
  for (uint32_t clock : {GMT_CLOCK_MONOTONIC_NS, GMT_CLOCK_TSC}) {
    for (uint16_t threads : {1, 4}) {
      TemporaryFolder folder;
      LogOptions options;
      options.clock = clock;
      options.ns_per_tick = clock == GMT_CLOCK_TSC ? 0.4 : 1;
      LogWriter log(folder.path(), options);
      write_all_kinds(log, threads, 120);
      if (threads > 1) log.header().version = clock == GMT_CLOCK_TSC ? 0 : 1;
      all.push_back(compact(log));
    }
  }
  TemporaryFolder folder;
  LogWriter log(folder.path());
  write_hostile(log);
  all.push_back(compact(log));
  all.push_back(given_back());
  return all;
}

Bytes bytes_of(const std::string &file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

Bytes as_it_is(Bytes file) {
  file.insert(file.begin(), kAsItIs);
  return file;
}

std::vector<Bytes> containers() {
  TemporaryFolder folder;
  LogOptions second;
  second.pid = 5000002;
  LogWriter a(folder.path()), b(folder.path(), second);
  write_all_kinds(a, 1, 60);
  write_all_kinds(b, 1, 60);
  std::string path = folder / "a.gputrace";
  if (trace::save(folder.path(), path, R"({"command":["python"]})")) std::abort();
  const Bytes whole = bytes_of(path), old = bytes_of(given("GMT_TEST_GOLDEN") + "/steps.gputrace");
  Bytes unpacked = compact(a);
  unpacked.insert(unpacked.begin(), kUnpacked);
  return {as_it_is(whole), as_it_is({whole.begin(), whole.end() - 4096 - 200}), sparse_of(old),
          sparse_of({old.begin(), old.end() - static_cast<std::ptrdiff_t>(old.size() / 2)}), unpacked};
}

std::vector<Bytes> line_tables() {
  std::vector<Bytes> all;
  for (uint8_t version = 0; version < 6; ++version) {
    all.push_back({version, 10, 0, 0, 0, 4, 1, 2, 128, 2, 2, 255, 127, 0, 129});
    all.push_back({version, 1, 0, 0, 0, 0xf0, 3, 1, 1, 1, 0xd8, 0, 0, 0xe8, 0x7f, 0x7f, 0x07, 0xf8, 0x80, 0, 0xff});
  }
  return all;
}

std::string snapshot_entry(std::string_view action, int64_t address, int64_t bytes, int64_t time) {
  return Pickle::dict({{"action", Pickle::text(action)},
                       {"addr", Pickle::number(address)},
                       {"size", Pickle::number(bytes)},
                       {"stream", Pickle::number(1)},
                       {"time_us", Pickle::number(time)},
                       {"frames", Pickle::again(1)}});
}

std::string snapshot_segment(int64_t address, bool expandable) {
  const auto block = [&](int64_t at, std::string_view state) {
    return Pickle::dict({{"address", Pickle::number(at)},
                         {"size", Pickle::number(512)},
                         {"state", Pickle::text(state)},
                         {"frames", Pickle::again(1)}});
  };
  return Pickle::dict(
      {{"device", Pickle::number(0)},
       {"address", Pickle::number(address)},
       {"total_size", Pickle::number(1 << 21)},
       {"is_expandable", Pickle::number(expandable)},
       {"blocks", Pickle::list({block(address, "active_allocated"), block(address + 512, "inactive")})}});
}

std::vector<Bytes> pickles() {
  std::vector<Bytes> all;
  for (const bool expandable : {false, true}) {
    const std::string frames = Pickle::keep(
        1, Pickle::list({Pickle::dict(
               {{"filename", Pickle::text("a.py")}, {"name", Pickle::text("f")}, {"line", Pickle::number(3)}})}));
    const std::string suffix = expandable ? "map" : "alloc", end = expandable ? "unmap" : "free";
    std::vector<std::string> entries{snapshot_entry("segment_" + end, 1 << 23, 1 << 21, 1),
                                     snapshot_entry("segment_" + suffix, 1 << 22, 1 << 21, 2)};
    for (int64_t i = 0; i < 20; ++i) {
      entries.push_back(snapshot_entry("alloc", (1 << 22) + i * 512, 500, 10 * i));
      entries.push_back(
          snapshot_entry(i % 3 ? "free_requested" : "free_completed", (1 << 22) + i * 256, 500, 10 * i + 5));
    }
    entries.push_back(snapshot_entry("oom", 1, 1 << 30, 1000));
    const std::string file = Pickle::file(Pickle::dict(
        {{"first", frames},
         {"segments", Pickle::list({snapshot_segment(1 << 22, expandable), snapshot_segment(1 << 24, expandable)})},
         {"device_traces", Pickle::list({Pickle::list(entries), Pickle::list({})})}}));
    all.emplace_back(file.begin(), file.end());
  }
  return all;
}

std::vector<Bytes> texts() {
  const std::string maps =
      "55d0a2c00000-55d0a2c28000 r-xp 00002000 fe:01 1835 /usr/bin/python3.11\n"
      "55d0a2c28000-55d0a2c30000 rw-p 00000000 00:00 0 \n"
      "7f2ce0000000-7f2ce0021000 r--p 00000000 fe:01 77 /tmp/a b/libc10.so (deleted)\n"
      "7ffd5a5fe000-7ffd5a600000 r-xp 00000000 00:00 0                          [vdso]\n";
  const std::string probe("\xf3\x0f\x1e\xfa\x55\x48\x89\xe5\x66\x48\x8d\x3d\x01\x02\x00\x00\x66\x66\x48\xe8", 20);
  std::vector<Bytes> all;
  for (const std::string &text :
       {std::string(1, 0) + maps, "\2" + probe, std::string("\1") + "{\"do\": \"holders\", \"pid\": 4711}",
        std::string("\1") + "request-12.json"})
    all.emplace_back(text.begin(), text.end());
  return all;
}

}  // namespace

std::vector<Bytes> made_seeds(const std::string &kind) {
  if (kind == "log") return logs();
  if (kind == "container") return containers();
  if (kind == "pickle") return pickles();
  if (kind == "checkpoint") return CheckpointSession().checkpoints();
  if (kind == "line_table") return line_tables();
  if (kind == "text") return texts();
  return {};
}

std::vector<Bytes> seeds_of(const std::string &kind) {
  std::vector<Bytes> all = made_seeds(kind);
  std::vector<std::string> kept;
  std::error_code none;
  for (const auto &entry : std::filesystem::directory_iterator(given("GMT_TEST_CORPUS") + "/" + kind, none))
    kept.push_back(entry.path());
  std::ranges::sort(kept);
  for (const std::string &path : kept) all.push_back(bytes_of(path));
  return all;
}
