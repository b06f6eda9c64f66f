#pragma once
// Checks and cases for the native tests: TEST(name) { CHECK(...); } ... TEST_MAIN. A failed check is printed and makes
// the program fail; the case goes on. A program of one file takes a part of a case's name, and runs only such cases; one of many
// files (GMT_MANY_FILES; all.cpp has its main) takes the name of a file before that: `trace_tests merge clock`.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace gmt::test {

struct Case {
  const char *file, *name;
  void (*run)();
};
inline std::vector<Case> &cases() {
  static std::vector<Case> all;
  return all;
}
inline int &failures() {
  static int count = 0;
  return count;
}
inline int add_case(const char *file, const char *name, void (*run)()) {
  cases().push_back({file, name, run});
  return 0;
}
inline void fail(const char *file, int line, const std::string &text) {
  ++failures();
  std::fprintf(stderr, "%s:%d: failed: %s\n", file, line, text.c_str());
}

template <class T>
std::string show(const T &value) {
  std::ostringstream out;
  if constexpr (requires { out << value; }) {
    if constexpr (sizeof(T) == 1) {
      out << +value;
    } else {
      out << value;
    }
  } else {
    out << "?";
  }
  return out.str();
}
template <class A, class B>
void check_equal(const A &a, const B &b, const char *text, const char *file, int line) {
  if (!(a == b)) fail(file, line, std::string(text) + ": " + show(a) + " != " + show(b));
}

/// Runs the cases of the file FILE_test.cpp (null: all) whose name contains `name` (null: any); the exit status of the program.
inline int run_cases(const char *file, const char *name) {
  int run = 0;
  const std::string source = file ? std::string("/") + file + "_test.cpp" : "";
  for (const Case &c : cases()) {
    if (!std::string_view(c.file).ends_with(source)) continue;
    if (name && !std::strstr(c.name, name)) continue;
    int before = failures();
    c.run();
    ++run;
    std::printf("%s %s\n", failures() == before ? "ok  " : "FAIL", c.name);
  }
  if (run == 0) std::fprintf(stderr, "no case was run\n");
  return failures() != 0 || run == 0;
}
/// All is tested, of which `npm test` takes a part (`npm run test:long`).
inline bool long_run() { return std::getenv("GPU_MEMTRACE_ROUNDS") != nullptr; }

/// What else a program of many files can do, by name: PROGRAM(name) { ... words ... } gives the exit status.
using Words = std::vector<std::string>;
inline std::vector<std::pair<std::string_view, int (*)(const Words &)>> &programs() {
  static std::vector<std::pair<std::string_view, int (*)(const Words &)>> all;
  return all;
}
inline int run_program(std::string_view name, const Words &words) {
  for (const auto &[own, run] : programs())
    if (own == name) return run(words);
  std::fprintf(stderr, "no such program\n");
  return 2;
}
inline int run_all(int argc, char **argv) { return run_cases(nullptr, argc > 1 ? argv[1] : nullptr); }

/// A path that ctest gives by the environment: a compiled path would be another one in each checkout, and no cache would help.
inline std::string given(const char *name) {
  const char *path = std::getenv(name);
  if (!path) std::exit((std::fprintf(stderr, "%s is not set: run this by ctest\n", name), 2));
  return path;
}

/// A folder of its own for one case; removed with it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "gmt-test-XXXXXX").string();
    if (!mkdtemp(name.data())) std::abort();
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;
  const std::string &path() const { return path_; }
  std::string operator/(const std::string &name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace gmt::test

#define TEST(name)                                                                   \
  static void test_##name();                                                         \
  static const int added_##name = gmt::test::add_case(__FILE__, #name, test_##name); \
  static void test_##name()
#define PROGRAM(name)                                                                          \
  static int program_##name(const gmt::test::Words &);                                         \
  static const auto &added_##name = gmt::test::programs().emplace_back(#name, program_##name); \
  static int program_##name(const gmt::test::Words &words)
#define CHECK(condition)                                               \
  do {                                                                 \
    if (!(condition)) gmt::test::fail(__FILE__, __LINE__, #condition); \
  } while (0)
#define CHECK_EQ(a, b) gmt::test::check_equal((a), (b), #a " == " #b, __FILE__, __LINE__)
/// Leaves the case when the condition does not hold.
#define REQUIRE(condition)                             \
  do {                                                 \
    if (!(condition)) {                                \
      gmt::test::fail(__FILE__, __LINE__, #condition); \
      return;                                          \
    }                                                  \
  } while (0)
#ifdef GMT_MANY_FILES
#define TEST_MAIN
#else
#define TEST_MAIN \
  int main(int argc, char **argv) { return gmt::test::run_all(argc, argv); }
#endif
