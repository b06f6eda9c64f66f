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
  Records the GPU memory of a running program into trace logs in DIR, with kernel probes in the program's libraries.
  Recording ends when the program ends, on SIGINT or SIGTERM, or when standard input (a pipe or a terminal) ends.
    --children          also record processes that the program starts
    --wait-libraries    for a program that was just started: pause it at each new library until the probes are in place, so
                        that no call is missed
    --no-stacks         record no Python lines
    --no-autograd       do not track backward passes: their memory has no line
    --native-stacks     record native stacks for events without a Python stack
    --perf-probes       use one perf event per probe, as before Linux 6.6: detaching is slower, and needs root
    --earlier-bytes N   memory of the program on one of its GPUs, according to nvidia-smi; pass it once per GPU
    --ring-bytes N      size of the buffer between the kernel and this program (default 67108864)
    --budget-bytes N    maximum size of the log of one process (default 8589934592)
gpu-memtrace-uprobe self-test
  Prints one line of JSON: whether attaching works on this machine, tested by probing one of its own functions.
gpu-memtrace-uprobe --help | --version

Events are printed as lines of JSON. Exit status: 0 after attaching and detaching (self-test: attaching works); 1 if the
self-test failed; 2 for an error, which is printed as a line of type "error".
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
