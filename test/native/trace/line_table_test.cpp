// The line decoder against PyCode_Addr2Line of the CPythons that are here: reads what line_table_dump.py prints. In the long run of all;
// else of one for each format of the table, with some of the modules.
#include "trace/log/line_table.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <sstream>

#include "check.h"

using namespace gmt;

namespace {

std::vector<std::string> pythons() {
  std::vector<std::string> found;
  std::error_code ignored;
  const char *home = std::getenv("HOME");
  for (const auto &entry :
       std::filesystem::directory_iterator(std::string(home ? home : "") + "/.pyenv/versions", ignored)) {
    std::string python = entry.path().string() + "/bin/python3";
    if (std::filesystem::exists(python, ignored)) found.push_back(python);
  }
  for (const char *name : {"python3.9", "python3.10", "python3.11", "python3.12", "python3.13", "python3.14"}) {
    std::string python = std::string("/usr/bin/") + name;
    if (std::filesystem::exists(python, ignored)) found.push_back(python);
  }
  found.push_back("python3");
  return found;
}

std::vector<uint8_t> bytes_of(const std::string &hex) {
  std::vector<uint8_t> bytes;
  for (size_t i = 0; hex != "-" && i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<uint8_t>(std::stoul(hex.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

// Lines of one code object: "line*count" for every second offset. Returns the offsets compared.
uint64_t compare(const std::string &text, std::set<int> &versions, uint64_t *wrong) {
  std::istringstream words(text);
  int version = 0;
  uint32_t first_line = 0;
  std::string hex, run;
  words >> version >> first_line >> hex;
  std::vector<uint8_t> table = bytes_of(hex);
  uint32_t offset = 0;
  while (words >> run) {
    int line = std::atoi(run.c_str());
    int count = std::atoi(run.c_str() + run.find('*') + 1);
    for (int i = 0; i < count; ++i, offset += 2) {
      int got = trace::line_of_offset(static_cast<uint16_t>(version), table, first_line, offset);
      if (got != line && (*wrong)++ < 5) {
        std::fprintf(stderr, "%x: first line %u, offset %u: %d, not %d: %.200s\n", version, first_line, offset, got,
                     line, hex.c_str());
      }
    }
  }
  versions.insert(version);
  return offset / 2;
}

using Pipe = std::unique_ptr<FILE, int (*)(FILE *)>;

// 0x030b for 3.11; 0: it does not run.
int version_of(const std::string &python) {
  std::string command = python + " -c 'import sys; print(sys.version_info[0] << 8 | sys.version_info[1])' 2>/dev/null";
  Pipe pipe(popen(command.c_str(), "r"), pclose);
  int version = 0;
  return pipe && std::fscanf(pipe.get(), "%d", &version) == 1 ? version : 0;
}

/// By version: 3.9, 3.10 and the newest, or all of them.
std::map<int, std::string> chosen() {
  constexpr int kOldest = 0x0309, kNewFormat = 0x030b, kNewest = 0x030e;
  std::map<int, std::string> found;
  for (const std::string &python : pythons()) {
    const int version = version_of(python);
    if (version >= kOldest && version <= kNewest) found.emplace(version, python);
  }
  if (gmt::test::long_run() || found.empty()) return found;
  const int newest = found.rbegin()->first;
  std::erase_if(found, [&](const auto &one) { return one.first >= kNewFormat && one.first != newest; });
  return found;
}

void check_python(const std::string &python, std::set<int> &versions) {
  std::string command =
      python + " -W ignore '" + gmt::test::given("GMT_TEST_SOURCE") + "/line_table_dump.py' 2>/dev/null";
  Pipe pipe(popen(command.c_str(), "r"), pclose);
  std::string line;
  uint64_t compared = 0, wrong = 0, objects = 0;
  for (int c; pipe && (c = std::getc(pipe.get())) != EOF;) {
    if (c != '\n') {
      line.push_back(static_cast<char>(c));
      continue;
    }
    compared += compare(line, versions, &wrong);
    ++objects;
    line.clear();
  }
  std::printf("%s: %llu code objects, %llu offsets, %llu wrong\n", python.c_str(),
              static_cast<unsigned long long>(objects), static_cast<unsigned long long>(compared),
              static_cast<unsigned long long>(wrong));
  CHECK_EQ(wrong, 0u);
  CHECK(objects > 1000);
}

}  // namespace

TEST(lines_are_those_of_every_python_here) {
  std::set<int> versions;
  for (const auto &[version, python] : chosen()) check_python(python, versions);
  for (int version = 0x0309; version <= 0x030e; ++version) {
    if (!versions.contains(version)) std::printf("skipped: Python 3.%d, not here or not chosen\n", version & 0xff);
  }
  if (versions.empty()) std::printf("skipped: no Python 3.9 to 3.14 here\n");
}

TEST_MAIN
