// A disk without room, and a reader of what was given back there. Such a disk can be mounted by root alone.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "recorded.h"
#include "trace/file_map.h"

using namespace gmt;
using namespace gmt::test;

namespace {

/// A disk in memory, of so many bytes.
class SmallDisk {
 public:
  explicit SmallDisk(uint64_t bytes)
      : mounted_(::mount("gmt-test", path().c_str(), "tmpfs", 0, ("size=" + std::to_string(bytes)).c_str()) == 0) {
    if (!mounted_) std::puts("skipped: a small disk can be mounted by root alone");
  }
  ~SmallDisk() {
    if (mounted_) ::umount2(path().c_str(), MNT_DETACH);
  }
  bool mounted() const { return mounted_; }
  const std::string &path() const { return folder_.path(); }
  void fill(int free_pages = 0) const {
    const int fd = ::open((path() + "/hog").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    const std::string page(4096, 'x');
    off_t bytes = 0;
    while (::write(fd, page.data(), page.size()) > 0) bytes += 4096;
    CHECK_EQ(::ftruncate(fd, bytes - free_pages * 4096), 0);
    ::close(fd);
  }
  void free() const { ::unlink((path() + "/hog").c_str()); }

 private:
  TemporaryFolder folder_;
  const bool mounted_;
};

}  // namespace

TEST(a_reader_in_a_chunk_that_is_given_back_on_a_full_disk_begins_anew) {
  const SmallDisk disk(24 << 20);
  if (!disk.mounted()) return;
  LogWriter log(disk.path());
  write_pairs(log, 100'000);
  auto recorder = recorder_of(disk.path(), 1 << 20, 64 << 20);
  auto slow = opened(disk.path());
  slow->reader->poll([&](const trace::Batch &) {
    recorder->turn();
    recorder->fold();
    disk.fill();
  });
  CHECK(slow->reader->overtaken());
  CHECK_EQ(read(disk.path())->reader->events(), 200'000u);
}

TEST(where_a_checkpoint_does_not_fit_the_older_one_serves_and_the_next_one_comes) {
  const SmallDisk disk(24 << 20);
  if (!disk.mounted()) return;
  LogWriter log(disk.path());
  auto recorder = recorder_of(disk.path(), 1 << 20, 64 << 20);
  const auto kept = [&] { return session::stored_checkpoints(disk.path()).size(); };
  write_pairs(log, 20'000);
  recorder->turn();
  recorder->fold();
  write_pairs(log, 20'000);
  recorder->turn();
  recorder->fold();  // gives back all before it: else the full disk would, and have room for a checkpoint
  const size_t before = kept();
  CHECK(before > 0);
  write_pairs(log, 20'000);
  disk.fill(1);  // a part of it fits
  while (recorder->turn()) {
  }
  recorder->fold();
  CHECK_EQ(kept(), before);
  CHECK(!std::filesystem::exists(disk.path() + "/unfinished"));
  CHECK_EQ(read(disk.path())->reader->events(), 120'000u);
  disk.free();
  const uint64_t gone = log.header().gone_sequence;
  recorder->fold();
  CHECK(log.header().gone_sequence > gone);
  CHECK_EQ(read(disk.path())->reader->events(), 120'000u);
}

TEST(it_folds_where_the_disk_gets_full_before_the_budget_is) {
  const SmallDisk disk(12 << 20);
  if (!disk.mounted()) return;
  LogWriter log(disk.path());
  auto recorder = recorder_of(disk.path(), 256 << 20, 1 << 30);
  for (int part = 0; part < 40; ++part) {
    write_pairs(log, 10'000);
    while (recorder->turn()) {
    }
  }
  CHECK(log.header().gone_sequence > 0);
  CHECK_EQ(read(disk.path())->reader->events(), 800'000u);
}

TEST(what_a_file_lost_is_zeros_and_a_bus_error_elsewhere_still_ends_the_program) {
  const TemporaryFolder folder;
  const std::string path = folder / "file";
  const pid_t child = ::fork();
  if (child == 0) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT, 0600);
    const std::string page(4096, 'x');
    if (::write(fd, page.data(), page.size()) != 4096) ::_exit(1);
    auto map = trace::FileMap::open(path);
    const std::byte *bytes = map.value().at(0, 4096);
    void *other = ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd, 0);
    if (!bytes || other == MAP_FAILED || ::ftruncate(fd, 0) != 0) ::_exit(2);
    if (*static_cast<const volatile std::byte *>(bytes) != std::byte{0}) ::_exit(3);
    ::_exit(4 + *static_cast<const volatile char *>(other));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(WIFSIGNALED(status));
  CHECK_EQ(WTERMSIG(status), SIGBUS);
}

TEST_MAIN
