// Saved traces: the same batches as from the directory; cut files; errors.
#include "trace/saved/save.h"

#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <fstream>

#include "check.h"
#include "log_writer.h"
#include "trace_reading.h"
#include "wire/container.h"

using namespace gmt;
using namespace gmt::test;

namespace {

bool has(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }
std::string message(const trace::Status &status) { return status ? status->message : ""; }
size_t files_in(const std::string &folder) {
  size_t count = 0;
  for (const auto &entry : std::filesystem::directory_iterator(folder)) count += entry.is_regular_file();
  return count;
}

// Of the first log where the session's text is short.
constexpr uint64_t kFirstChunk = 4096 + 4096 + 4096;

// Three processes with everything a log can hold.
struct Session {
  explicit Session(const std::string &folder, uint32_t events = 30000) {
    for (uint32_t process = 0; process < 3; ++process) {
      LogOptions options;
      options.pid = 5000001 + process;
      options.start_realtime_ns += (3 - process) * 1000;
      LogWriter log(folder, options);
      log.add_process(0, std::string("python\0a.py\0", 12));
      uint32_t stack = log.add_stack_of(0, {{"a.py", "f", 3}});
      for (uint32_t i = 0; i < events; ++i) {
        uint16_t thread = static_cast<uint16_t>(i * 7 % 5);
        if (i % 11 == 0) log.add_autograd(thread, 1 + i % 2, i, 1);
        if (i % 13 == 0) log.add_detail(thread, gmt_driver_detail{1, 0, 0, i, 0, 0, 0, 0});
        log.add_event(thread, i % 13 ? GMT_TENSOR_ALLOC : GMT_DEVICE_ALLOC, i * 512, 512, 0, stack);
      }
      log.add_loss(GMT_LOST_BUDGET, process);
      log.reserve_unwritten_chunk();
      log.end();
    }
  }
};

std::string saved(const TemporaryFolder &folder, uint32_t events = 30000) {
  std::filesystem::create_directory(folder / "live");
  Session session(folder / "live", events);
  std::string target = folder / "saved.gputrace";
  CHECK_EQ(message(trace::save(folder / "live", target, R"({"command":["python","a.py"]})")), "");
  return target;
}

// A small disk of memory in the folder; not mounted where that takes more rights than there are.
struct SmallDisk {
  explicit SmallDisk(std::string folder) : path(std::move(folder)) {
    std::filesystem::create_directory(path);
    mounted = ::mount("gmt-test", path.c_str(), "tmpfs", 0, "size=2m") == 0;
  }
  ~SmallDisk() {
    if (mounted) ::umount2(path.c_str(), MNT_DETACH);
  }
  void fill() const {
    std::ofstream hog(path + "/hog", std::ios::binary);
    const std::vector<char> page(4096);
    while (hog.write(page.data(), 4096).flush()) continue;
  }
  std::string path;
  bool mounted;
};

// Events up to the last byte of a page: what follows is a hole in a saved trace.
constexpr uint32_t kOnePage = (4096 - GMT_CHUNK_HEADER_BYTES) / GMT_SLOT_BYTES;

}  // namespace

TEST(a_full_disk_of_memory_can_be_read) {
  TemporaryFolder folder;
  SmallDisk disk(folder / "disk");
  if (!disk.mounted) return;
  std::string live = folder / "disk/live";
  std::filesystem::create_directory(live);
  LogWriter log(live);
  for (uint32_t i = 0; i < GMT_SLOTS_PER_CHUNK; ++i) log.add_event(0, GMT_TENSOR_ALLOC, i * 512, 512);
  log.reserve_unwritten_chunk();
  std::filesystem::create_directory(folder / "other");
  LogWriter small(folder / "other");
  for (uint32_t i = 0; i < kOnePage; ++i) small.add_event(0, GMT_TENSOR_ALLOC, i * 512, 512);
  CHECK_EQ(message(trace::save(folder / "other", disk.path + "/saved.gputrace", "")), "");
  disk.fill();
  CHECK_EQ(read_all(live).session->events(), uint64_t{GMT_SLOTS_PER_CHUNK});
  CHECK_EQ(read_all(disk.path + "/saved.gputrace").session->events(), uint64_t{kOnePage});
}

TEST(a_saved_trace_reads_as_its_directory) {
  TemporaryFolder folder;
  std::string target = saved(folder);
  Reading live = read_all(folder / "live"), file = read_all(target);
  REQUIRE(live.session && file.session);
  CHECK(same(live, file));
  CHECK_EQ(file.session->events(), 90000u);
  CHECK_EQ(file.session->session_json(), R"({"command":["python","a.py"]})");
  CHECK_EQ(file.session->losses().total(), 3u);
  CHECK_EQ(file.session->facts(0).pid, live.session->facts(0).pid);
  CHECK(!file.session->live());
  CHECK_EQ(files_in(folder.path()), 1u);
}

TEST(a_saved_trace_saved_again_is_the_same_file) {
  TemporaryFolder folder;
  std::string target = saved(folder);
  CHECK_EQ(message(trace::save(target, folder / "again.gputrace", "")), "");
  auto bytes = [](const std::string &path) {
    std::ifstream in(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  CHECK(bytes(target) == bytes(folder / "again.gputrace"));
}

TEST(the_session_text_is_taken_from_the_directory) {
  TemporaryFolder folder;
  std::filesystem::create_directory(folder / "live");
  Session session(folder / "live", 10);
  std::ofstream(folder / "live/session.json") << R"({"simulated":true})";
  CHECK_EQ(message(trace::save(folder / "live", folder / "a.gputrace", "")), "");
  CHECK_EQ(read_all(folder / "a.gputrace").session->session_json(), R"({"simulated":true})");
}

TEST(a_running_process_is_saved_as_of_one_moment) {
  TemporaryFolder folder;
  LogWriter log(folder.path(), LogOptions::alive());
  for (int i = 0; i < 10000; ++i) log.add_event(static_cast<uint16_t>(i % 3), GMT_TENSOR_ALLOC, 1, 512);
  std::string target = folder / "a.gputrace";
  CHECK_EQ(message(trace::save(folder.path(), target, "{}")), "");
  log.add_event(0, GMT_TENSOR_ALLOC, 1, 512);
  Reading reading = read_all(target);
  CHECK_EQ(reading.events().size(), 10000u);
  CHECK_EQ(reading.session->losses().total(), 0u);
  CHECK(!reading.session->live());
}

TEST(a_trace_cut_anywhere_gives_what_is_there) {
  TemporaryFolder folder;
  std::string whole = saved(folder, 12000);
  uint64_t size = std::filesystem::file_size(whole);
  Reading all = read_all(whole);
  uint64_t last = ~0ull;
  for (uint64_t keep : {size - 1, size - 100, size * 9 / 10, size / 2, size / 3, uint64_t{kFirstChunk + 50},
                        uint64_t{4096 + 4096 + 400}}) {
    std::string cut = folder / "cut.gputrace";
    std::filesystem::copy_file(whole, cut, std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(cut, keep);
    Reading reading = read_all(cut);
    if (!reading.session) return fail(__FILE__, __LINE__, std::to_string(keep) + ": " + reading.error);
    CHECK(reading.session->events() <= last);
    last = reading.session->events();
    trace::Losses losses = reading.session->losses();
    CHECK(losses.count[trace::kLostCutShort] > 0);
    CHECK_EQ(losses.count[trace::kLostTorn], 0u);
    CHECK(!reading.session->notes().empty());
    CHECK_EQ(reading.session->session_json(), R"({"command":["python","a.py"]})");
    auto events = reading.events(0), expected = all.events(0);
    CHECK(std::equal(events.begin(), events.end(), expected.begin(),
                     [](const auto &a, const auto &b) { return a.sequence == b.sequence && a.address == b.address; }) ||
          losses.count[trace::kLostCutShort] > 1);
  }
}

TEST(lost_events_of_a_cut_log_are_counted) {
  TemporaryFolder folder;
  LogWriter log(folder.path());
  for (int i = 0; i < 9000; ++i) log.add_event(0, GMT_TENSOR_ALLOC, 1, 512);
  std::string target = folder / "a.gputrace";
  CHECK_EQ(message(trace::save(folder.path(), target, "")), "");
  gmt_packed_chunk first{};
  std::ifstream file(target, std::ios::binary);
  file.seekg(4096 + 4096).read(reinterpret_cast<char *>(&first), sizeof first);
  std::filesystem::resize_file(target, 4096 + 4096 + sizeof first + first.bytes + sizeof first + 10);
  Reading reading = read_all(target);
  REQUIRE(reading.session);
  CHECK_EQ(reading.session->events(), uint64_t{GMT_SLOTS_PER_CHUNK});
  CHECK_EQ(reading.session->losses().count[trace::kLostCutShort], 9000u - GMT_SLOTS_PER_CHUNK);
}

TEST(a_damaged_chunk_is_lost_and_the_others_are_there) {
  TemporaryFolder folder;
  LogWriter log(folder.path());
  for (int i = 0; i < 30'000; ++i) log.add_event(0, GMT_TENSOR_ALLOC, 1, 512);
  std::string target = folder / "a.gputrace";
  CHECK_EQ(message(trace::save(folder.path(), target, "")), "");
  std::fstream file(target, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(4096 + 4096 + sizeof(gmt_packed_chunk) + 30);
  file.write("damage", 6);
  file.close();
  Reading reading = read_all(target);
  REQUIRE(reading.session);
  CHECK_EQ(reading.session->events(), 30'000u - GMT_SLOTS_PER_CHUNK);
  CHECK_EQ(reading.session->losses().count[trace::kLostCorrupt], uint64_t{GMT_SLOTS_PER_CHUNK});
  CHECK_EQ(reading.session->losses().total(), uint64_t{GMT_SLOTS_PER_CHUNK});
}

TEST(a_trace_cut_before_its_first_log_is_said_so) {
  TemporaryFolder folder;
  std::string target = saved(folder, 10);
  std::filesystem::resize_file(target, 5000);
  CHECK(has(read_all(target).error, "is cut short"));
}

TEST(a_newer_trace_is_said_so) {
  TemporaryFolder folder;
  std::string target = saved(folder, 10);
  std::fstream file(target, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(offsetof(gmt_trace_header, version));
  uint32_t version = 7;
  file.write(reinterpret_cast<const char *>(&version), sizeof version);
  file.close();
  CHECK(has(read_all(target).error, "newer version (format 7"));
}

TEST(errors_leave_nothing_behind) {
  TemporaryFolder folder;
  std::filesystem::create_directory(folder / "live");
  CHECK(has(message(trace::save(folder / "live", folder / "a.gputrace", "")), "nothing to save"));
  CHECK(has(message(trace::save(folder / "absent", folder / "a.gputrace", "")), "Cannot open"));
  Session session(folder / "live", 1000);
  CHECK(has(message(trace::save(folder / "live", folder / "no/such/a.gputrace", "")), "Cannot create"));
  std::filesystem::create_directory(folder / "a.gputrace");
  CHECK(has(message(trace::save(folder / "live", folder / "a.gputrace", "")), "Cannot create"));
  CHECK_EQ(files_in(folder.path()), 0u);
  // A disk that is full, in small.
  signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  rlimit small{10'000, old.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  std::string error = message(trace::save(folder / "live", folder / "b.gputrace", ""));
  setrlimit(RLIMIT_FSIZE, &old);
  CHECK(has(error, "Cannot write "));
  CHECK_EQ(files_in(folder.path()), 0u);
}

TEST_MAIN
