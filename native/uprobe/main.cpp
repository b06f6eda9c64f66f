// gpu-memtrace-uprobe: records the GPU memory of a running program from outside. It holds CAP_BPF and CAP_PERFMON, does nothing
// but attach and write the log, and says what happens as lines of JSON.
#include <cstdio>

#include "uprobe/attach/privileges.h"
#include "uprobe/attach/self_test.h"
#include "uprobe/run/options.h"
#include "uprobe/run/session.h"

namespace {

constexpr int kProblem = 2;

int tell(const gmt::uprobe::Problem &problem) {
  gmt::uprobe::OutputLine("error").text("code", problem.code).text("message", problem.message).print();
  return kProblem;
}

int attach(const gmt::uprobe::AttachOptions &options, const gmt::uprobe::Rights &rights) {
  gmt::uprobe::Session session(options, rights);
  if (const auto problem = session.begin()) return tell(problem);
  session.run();
  return 0;
}

}  // namespace

int main(int count, char **words) {
  using namespace gmt::uprobe;
  const Rights rights = acquire_rights();
  Options options;
  if (const Problem problem = parse_options(count, words, &options)) return tell(problem);
  switch (options.command) {
    case Command::kHelp:
      return std::fputs(kHelp, stdout) < 0;
    case Command::kVersion:
      return std::puts("gpu-memtrace-uprobe " GMT_VERSION) < 0;
    case Command::kSelfTest:
      return self_test(rights);
    case Command::kAttach:
      return attach(options.attach, rights);
  }
}
