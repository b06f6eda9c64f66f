// Interpreters of processes that are not what they seem: this one, with what looks like libpython, and with damaged files.
#include "uprobe/python/target.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <random>

#include "check.h"
#include "uprobe/python/interpreters.h"

using namespace gmt::uprobe;

namespace {

struct Fake {
  uint64_t *runtime, *code_type, *type_type;
  unsigned long *version;
};

Fake &fake() {
  static Fake found = [] {
    void *library = dlopen(gmt::test::given("GMT_FAKE_LIBPYTHON").c_str(), RTLD_NOW);
    if (!library) std::exit((std::fprintf(stderr, "%s\n", dlerror()), 2));
    return Fake{static_cast<uint64_t *>(dlsym(library, "_PyRuntime")),
                static_cast<uint64_t *>(dlsym(library, "PyCode_Type")),
                static_cast<uint64_t *>(dlsym(library, "PyType_Type")),
                static_cast<unsigned long *>(dlsym(library, "Py_Version"))};
  }();
  return found;
}

PythonTarget with(unsigned long version) {
  *fake().version = version;
  return find_python(getpid());
}

bool says(const PythonTarget &target, const char *text) { return target.reason.find(text) != std::string::npos; }

TEST(no_interpreter_is_none) {
  CHECK(find_python(getpid()).support == PythonSupport::kNone);
  CHECK(find_python(0x3fffffff).support == PythonSupport::kNone);
}

/// As the dynamic linker has it for a moment: the whole file is mapped, and its variables not yet over a part of that.
TEST(a_library_that_is_being_loaded_is_looked_at_again) {
  const int fd = open(gmt::test::given("GMT_FAKE_LIBPYTHON").c_str(), O_RDONLY);
  const auto bytes = static_cast<size_t>(lseek(fd, 0, SEEK_END));
  void *mapped = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
  close(fd);
  CHECK(mapped != MAP_FAILED);
  const PythonTarget target = find_python(getpid());
  CHECK(target.support == PythonSupport::kNotYet);
  CHECK(says(target, "is being loaded"));
  munmap(mapped, bytes);
}

/// Maps a damaged copy of the library and looks at this process. The headers and tables, which are read, lie at both ends.
void map_damaged(const std::vector<char> &whole, const std::string &path, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<char> bytes = whole;
  for (int change = 0; change < 12; change++) {
    const size_t span = std::min<size_t>(bytes.size(), 4096);
    const size_t at = random() % 2 ? random() % span : bytes.size() - 1 - random() % span;
    bytes[at] = static_cast<char>(random() % 3 ? random() : 0xff);
  }
  if (random() % 4 == 0) bytes.resize(random() % bytes.size() + 1);
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  const int fd = open(path.c_str(), O_RDONLY);
  void *mapped = mmap(nullptr, bytes.size(), PROT_READ, MAP_PRIVATE, fd, 0);
  close(fd);
  CHECK(mapped != MAP_FAILED);
  CHECK(find_python(getpid()).support != PythonSupport::kReady);
  munmap(mapped, bytes.size());
}

TEST(damaged_files_are_safe) {
  std::ifstream file(gmt::test::given("GMT_FAKE_LIBPYTHON"), std::ios::binary);
  const std::vector<char> whole{std::istreambuf_iterator<char>(file), {}};
  REQUIRE(whole.size() > 4096);
  gmt::test::TemporaryFolder folder;
  for (uint32_t seed = 0; seed < 300; seed++) map_damaged(whole, folder / "libpython3.12.so", seed);
}

// The cases above are without the library, the ones below with it.
TEST(versions_outside_the_range_are_named) {
  fake();
  for (unsigned long version : {0x03080ff0ul, 0x030f02f0ul, 0x040000f0ul}) {
    const PythonTarget target = with(version);
    CHECK(target.support == PythonSupport::kUnsupported);
    CHECK_EQ(target.version, version);
    CHECK(says(target, "3.9 to 3.14"));
  }
  CHECK(says(with(0x030f02f0), "Python 3.15.2 is not supported"));
  const PythonTarget early = with(0x030e00b1);
  CHECK(early.support == PythonSupport::kUnsupported && says(early, "3.14.0b1") && says(early, "pre-release"));
}

TEST(an_interpreter_that_has_not_started_is_asked_again) {
  for (int i = 0; i < 1024; i++) fake().runtime[i] = 0;
  const PythonTarget target = with(0x030c01f0);
  CHECK(target.support == PythonSupport::kNotYet);
  CHECK(says(target, "not initialized"));
}

TEST(a_build_without_the_gil_is_refused) {
  fake().runtime[0] = 0x7970677562656478;
  fake().runtime[1] = 0x030d01f0;
  fake().runtime[2] = 1;
  const PythonTarget target = with(0x030d01f0);
  CHECK(target.support == PythonSupport::kUnsupported && says(target, "without the GIL"));
  fake().runtime[2] = 0;
  fake().runtime[1] = 0x030d02f0;
  CHECK(says(with(0x030d01f0), "_Py_DebugOffsets"));
}

/// An interpreter with one thread state that nobody knows, and objects unlike those of release builds.
TEST(what_cannot_be_proved_is_refused) {
  static uint64_t interpreter[64], thread[64];
  for (int i = 0; i < 1024; i++) fake().runtime[i] = 0;
  fake().runtime[6] = reinterpret_cast<uint64_t>(interpreter);
  interpreter[9] = reinterpret_cast<uint64_t>(thread);
  CHECK(says(with(0x030c01f0), "unlike the release builds"));

  struct Member {
    const char *name;
    int32_t type;
    int64_t offset;
    int32_t flags;
    const char *doc;
  };
  static Member members[] = {{"co_firstlineno", 0, 68, 0, nullptr}, {"co_filename", 0, 112, 0, nullptr}, {}};
  fake().code_type[1] = reinterpret_cast<uint64_t>(fake().type_type);
  fake().code_type[30] = reinterpret_cast<uint64_t>(members);
  thread[17] = reinterpret_cast<uint64_t>(thread);  // its pthread_t: nonsense
  const PythonTarget unproved = with(0x030c01f0);
  CHECK(unproved.support == PythonSupport::kNotYet && says(unproved, "no thread"));

  // A list of threads that never ends, and one that ends nowhere.
  thread[1] = reinterpret_cast<uint64_t>(thread);
  CHECK(with(0x030c01f0).support == PythonSupport::kNotYet);
  thread[1] = 8;
  CHECK(with(0x030c01f0).support == PythonSupport::kNotYet);
  fake().runtime[6] = 8;
  CHECK(says(with(0x030c01f0), "not initialized"));
  fake().runtime[6] = 0;
}

/// The thread's own data has the state under a key that _PyRuntime holds, not where the table of the version has it.
TEST(a_key_elsewhere_is_found) {
  static uint64_t interpreter[64], thread[64];
  pthread_key_t key;
  CHECK_EQ(pthread_key_create(&key, nullptr), 0);
  pthread_setspecific(key, thread);
  fake().runtime[6] = reinterpret_cast<uint64_t>(interpreter);
  interpreter[9] = reinterpret_cast<uint64_t>(thread);
  thread[17] = static_cast<uint64_t>(pthread_self());
  fake().runtime[500] = 1 | static_cast<uint64_t>(key) << 32;
  const PythonTarget target = with(0x030c01f0);
  CHECK(target.support == PythonSupport::kReady);
  CHECK_EQ(target.interpreter.thread_key, 4000u);
  CHECK_EQ(target.interpreter.runtime, reinterpret_cast<uint64_t>(fake().runtime));
  CHECK_EQ(target.interpreter.at.code_file, 112u);
  pthread_key_delete(key);
}

constexpr uint64_t kSecond = 1000000000;

TEST(a_refusal_is_final_once_it_is_confirmed) {
  *fake().version = 0x030f00f0;
  int refused = 0;
  PythonInterpreters interpreters(-1, [&](pid_t pid, const PythonTarget &target) {
    CHECK_EQ(pid, getpid());
    CHECK(target.support == PythonSupport::kUnsupported);
    refused++;
  });
  const uint32_t place = interpreters.add(getpid(), kSecond);
  CHECK(place != 0);
  CHECK_EQ(refused, 0);
  CHECK(interpreters.next_poll_ns() > kSecond && interpreters.next_poll_ns() < 2 * kSecond);
  interpreters.poll(kSecond);
  CHECK_EQ(refused, 0);
  interpreters.poll(2 * kSecond);
  CHECK_EQ(refused, 1);
  CHECK_EQ(interpreters.next_poll_ns(), ~0ull);
}

TEST(what_never_starts_is_given_up) {
  for (int i = 0; i < 1024; i++) fake().runtime[i] = 0;
  *fake().version = 0x030c00f0;
  int refused = 0;
  PythonInterpreters interpreters(-1, [&](pid_t, const PythonTarget &target) {
    CHECK(says(target, "not initialized"));
    refused++;
  });
  interpreters.add(getpid(), kSecond);
  for (uint64_t now = kSecond; now < 50 * kSecond; now += kSecond / 10) interpreters.poll(now);
  CHECK_EQ(refused, 0);
  interpreters.poll(100 * kSecond);
  CHECK_EQ(refused, 1);
}

TEST(a_place_is_free_again_behind_its_last_process) {
  PythonInterpreters interpreters(-1, [](pid_t, const PythonTarget &) {});
  const uint32_t first = interpreters.add(getpid(), kSecond), second = interpreters.add(getpid(), kSecond);
  CHECK(first != second);
  interpreters.add_child(1, first);
  interpreters.remove(getpid(), first);
  CHECK(interpreters.add(getpid(), kSecond) != first);
  interpreters.remove(1, first);
  CHECK_EQ(interpreters.add(getpid(), kSecond), first);
  CHECK(interpreters.target(0).support == PythonSupport::kNone);
}

}  // namespace

TEST_MAIN
