#include "uprobe/run/options.h"

#include <bit>
#include <charconv>
#include <string_view>

namespace gmt::uprobe {
namespace {

constexpr uint64_t kLeastRing = 64 << 10, kMostRing = 1 << 30;

Problem bad(std::string message) { return {"bad-arguments", std::move(message) + " See gpu-memtrace-uprobe --help."}; }

bool parse_number(std::string_view text, uint64_t *out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return error == std::errc() && end == text.data() + text.size();
}

/// A ring buffer's size is a power of two.
Problem set_ring(uint64_t bytes, AttachOptions *to) {
  if (bytes < kLeastRing || bytes > kMostRing)
    return bad("--ring-bytes needs a number from " + std::to_string(kLeastRing) + " to " + std::to_string(kMostRing) +
               ".");
  to->ring_bytes = std::bit_ceil(bytes);
  return {};
}

Problem set_value(std::string_view name, std::string_view value, AttachOptions *to) {
  if (name == "--directory") return to->directory = value, Problem{};
  uint64_t number = 0;
  if (!parse_number(value, &number)) return bad(std::string(name) + " needs a number, not " + std::string(value) + ".");
  if (name == "--ring-bytes") return set_ring(number, to);
  if (name == "--budget-bytes") return to->budget_bytes = number, Problem{};
  if (name == "--earlier-bytes") return to->earlier_bytes.push_back(number), Problem{};
  if (number == 0 || number > INT32_MAX) return bad("--pid needs a process ID.");
  return to->pid = static_cast<uint32_t>(number), Problem{};
}

bool set_flag(std::string_view name, AttachOptions *to) {
  if (name == "--children") return to->children = true;
  if (name == "--no-stacks") return to->stacks = false, true;
  if (name == "--no-autograd") return to->autograd = false, true;
  if (name == "--native-stacks") return to->native_stacks = true;
  if (name == "--wait-libraries") return to->wait_libraries = true;
  if (name == "--perf-probes") return to->perf_probes = true;
  return false;
}

Problem parse_attach(int count, char **words, AttachOptions *out) {
  for (int i = 0; i < count; i++) {
    const std::string_view name = words[i];
    if (set_flag(name, out)) continue;
    if (name != "--pid" && name != "--directory" && name != "--ring-bytes" && name != "--budget-bytes" &&
        name != "--earlier-bytes")
      return bad("There is no option " + std::string(name) + ".");
    if (++i == count) return bad(std::string(name) + " needs a value.");
    if (const Problem problem = set_value(name, words[i], out)) return problem;
  }
  if (out->pid == 0) return bad("attach needs --pid PID.");
  if (out->directory.empty()) return bad("attach needs --directory DIR.");
  return {};
}

}  // namespace

const char kHelp[] =
    R"(gpu-memtrace-uprobe attach --pid PID --directory DIR [options]
  Records the GPU memory of a running program from outside, by probes in its libraries, into trace logs in DIR.
  It goes on until the program ends, SIGINT or SIGTERM comes, or standard input (a pipe or a terminal) ends.
    --children          processes that the program makes are recorded too
    --wait-libraries    for a program that was just started: it is held up at each new library until the probes are in
                        place, so that no call is missed
    --no-stacks         events carry no Python stack
    --no-autograd       backward passes of PyTorch are not followed: what they allocate carries no line
    --native-stacks     events without a Python stack carry the native one
    --perf-probes       one perf event for each probe, as on kernels before Linux 6.6: slower to take away, and needs root
    --earlier-bytes N   what the program holds by now on one of its GPUs by nvidia-smi; once for each of them
    --ring-bytes N      room between the kernel and this program (default 67108864)
    --budget-bytes N    most that the log of one process may take (default 8589934592)
gpu-memtrace-uprobe self-test
  Tells as one line of JSON whether this machine lets it attach, by probing a function of its own.
gpu-memtrace-uprobe --help | --version

It prints what happens as lines of JSON. Exit status: 0 attached and detached again (self-test: attaching works), 1 self-test:
attaching does not work, 2 a problem, told in a line of type "error".
It needs CAP_BPF and CAP_PERFMON, or root:  sudo setcap cap_bpf,cap_perfmon+ep gpu-memtrace-uprobe
)";

Problem parse_options(int count, char **words, Options *out) {
  if (count < 2) return bad("Choose a command: attach or self-test.");
  const std::string_view command = words[1];
  if (command == "--help" || command == "-h" || command == "help") return out->command = Command::kHelp, Problem{};
  if (command == "--version") return out->command = Command::kVersion, Problem{};
  if (command == "self-test") {
    out->command = Command::kSelfTest;
    return count == 2 ? Problem{} : bad("self-test takes no options.");
  }
  if (command != "attach") return bad("There is no command " + std::string(command) + ".");
  out->command = Command::kAttach;
  return parse_attach(count - 2, words + 2, &out->attach);
}

}  // namespace gmt::uprobe
