// A process without Python.
#include <dlfcn.h>

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
