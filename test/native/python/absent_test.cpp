// A process without Python.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "check.h"
#include "python/frames.h"
#include "python/symbols.h"

using namespace gmt::python;

TEST(a_process_without_python_has_no_stacks) {
  CHECK(discover() == Support::kNoPython);
  CHECK(discover() == Support::kNoPython);
  CHECK_EQ(version_hex(), 0u);
  CHECK_EQ(std::string(unsupported_reason()), "");
  CHECK_EQ(walk_hash(), 0u);
  Walk stack;
  stack.depth = 7;
  CHECK(!walk(stack));
  CHECK_EQ(stack.depth, 0u);
  char buffer[kMinDescriptionBytes];
  CHECK_EQ(describe_code({&stack, 0, 0}, 1, buffer, sizeof buffer), 0u);
}

TEST(symbols_are_those_of_dlsym) {
  Symbol found[] = {{"pthread_getspecific", nullptr}, {"dl_iterate_phdr", nullptr}, {"no_such_symbol_", nullptr}};
  find_symbols(found, 3);
  CHECK(found[0].address == dlsym(RTLD_DEFAULT, "pthread_getspecific"));
  CHECK(found[1].address == dlsym(RTLD_DEFAULT, "dl_iterate_phdr"));
  CHECK(found[2].address == nullptr);
}

TEST(the_load_count_changes_with_a_library) {
  LoadCount before = load_count();
  CHECK(load_count() == before);
  void *library = dlopen("libresolv.so.2", RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library);
  CHECK(!(load_count() == before));
  dlclose(library);
}

TEST_MAIN

TEST(a_child_finds_symbols_while_another_thread_of_its_parent_did) {
  std::atomic<bool> ended = false;
  std::thread other([&] {
    while (!ended) load_count();
  });
  uint32_t hung = 0;
  for (uint32_t child = 0; child < 300 && hung == 0; child++) {
    const pid_t pid = fork();
    if (pid == 0) {
      alarm(20);  // ends it by a signal
      load_count();
      _exit(0);
    }
    int status = 0;
    REQUIRE(pid > 0 && waitpid(pid, &status, 0) == pid);
    if (status != 0) hung++;
  }
  ended = true;
  other.join();
  CHECK_EQ(hung, 0u);
}
