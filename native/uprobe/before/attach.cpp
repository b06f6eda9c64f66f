#include "uprobe/before/attach.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "torch/layouts.h"
#include "uprobe/attach/call_layout.h"
#include "uprobe/attach/library_probes.h"
#include "uprobe/before/remote.h"
#include "uprobe/before/torch.h"
#include "uprobe/bpf/ring.h"
#include "uprobe/python/process.h"
#include "wire/clock.h"

namespace gmt::uprobe {
namespace {

/// What happened first at an address.
struct First {
  bool frees;
  uint64_t bytes;  ///< of a tensor
  uint8_t device;
};
using Firsts = std::unordered_map<uint64_t, First>;

bool begins_memory(uint8_t kind) { return kind >= GMT_DEVICE_ALLOC && kind <= GMT_GRAPH_ALLOC; }

void take_tensor(const gmt_up_tensor &tensor, Firsts *firsts) {
  const bool frees = tensor.bytes < 0;
  const auto bytes = static_cast<uint64_t>(frees ? -tensor.bytes : tensor.bytes);
  firsts->insert({tensor.address, {frees, bytes, static_cast<uint8_t>(tensor.head.flags >> 8)}});
}

void take_call(const gmt_up_call &call, size_t bytes, Firsts *firsts) {
  cuda::CallFacts facts;
  if ((call.head.flags & GMT_UP_UNREAD) || !read_queued_call(call, bytes, &facts)) return;
  const bool begins = begins_memory(facts.kind) && call.result == 0;
  if (begins || facts.kind == GMT_FREE) firsts->insert({facts.address, {!begins, 0, 0}});
}

void drop_allocated(const Firsts &firsts, std::vector<BeforeBlock> *blocks) {
  std::erase_if(*blocks, [&](const BeforeBlock &block) {
    const auto first = firsts.find(block.address);
    return first != firsts.end() && !first->second.frees;
  });
}

/// The records that came while the allocator was read. They are held back, because what was there before belongs in front of them,
/// and they decide what was: the reading is of no single moment, but each block that changed meanwhile says so here.
class BeforeWindow {
 public:
  void hold(const void *record, size_t bytes) {
    const auto *from = static_cast<const std::byte *>(record);
    const uint64_t length = bytes;
    const size_t at = held_.size();
    held_.resize(at + sizeof length + (bytes + 7) / 8 * 8);
    std::memcpy(held_.data() + at, &length, sizeof length);
    std::copy_n(from, bytes, held_.data() + at + sizeof length);
    if (bytes >= sizeof(gmt_up_head)) newest_ns_ = std::max(newest_ns_, value_at<gmt_up_head>(from, 0).time);
  }
  size_t bytes() const { return held_.size(); }
  /// Time of the newest record.
  uint64_t newest_ns() const { return newest_ns_; }

  /// Makes of what was read what there was when recording began: a block that is allocated first was not there, one that is
  /// freed first was.
  void settle(uint32_t host_pid, BeforeMemory *memory) const {
    std::unordered_set<uint32_t> threads;
    Firsts tensors, calls;
    each([&](const std::byte *record, size_t bytes) {
      if (bytes < sizeof(gmt_up_head)) return;
      const auto &head = *reinterpret_cast<const gmt_up_head *>(record);
      if (head.type == GMT_UP_THREAD && bytes >= sizeof(gmt_up_thread) &&
          reinterpret_cast<const gmt_up_thread *>(record)->host_pid == host_pid)
        threads.insert(head.thread);
      if (!threads.count(head.thread)) return;
      if (head.type == GMT_UP_TENSOR && bytes >= sizeof(gmt_up_tensor))
        take_tensor(*reinterpret_cast<const gmt_up_tensor *>(record), &tensors);
      else if ((head.type == GMT_UP_ENTRY || head.type == GMT_UP_RETURN) && bytes >= offsetof(gmt_up_call, words))
        take_call(*reinterpret_cast<const gmt_up_call *>(record), bytes, &calls);
    });
    drop_allocated(tensors, &memory->blocks);
    drop_allocated(calls, &memory->segments);
    std::unordered_map<uint64_t, size_t> known;
    for (size_t i = 0; i < memory->blocks.size(); i++) known[memory->blocks[i].address] = i;
    for (const auto &[address, first] : tensors) {
      if (!first.frees) continue;
      // What the free says holds: the block that was read may be one that came to the address later.
      const BeforeBlock block{address, first.bytes, first.device};
      const auto place = known.find(address);
      if (place == known.end())
        memory->blocks.push_back(block);
      else
        memory->blocks[place->second] = block;
    }
  }

  /// Hands out what is held, in its order.
  template <class Handle>
  void release(Handle handle) {
    each([&](const std::byte *record, size_t bytes) { handle(record, bytes); });
    held_.clear();
  }

 private:
  template <class Each>
  void each(Each visit) const {
    for (size_t at = 0; at < held_.size();) {
      const auto bytes = value_at<uint64_t>(held_.data(), at);
      visit(held_.data() + at + sizeof(uint64_t), bytes);
      at += sizeof(uint64_t) + (bytes + 7) / 8 * 8;
    }
  }

  std::vector<std::byte> held_;  ///< each record behind its length, at multiples of 8
  uint64_t newest_ns_ = 0;
};

constexpr uint32_t kStack = 0xfffffff0;  ///< id of the stack that stands for "before": those of Python count from 1
constexpr size_t kMostHeld = 256u << 20;
constexpr size_t kRound = 4096;
/// A block that is being freed is missing from the books a moment before that is reported.
constexpr uint64_t kGraceNs = 30'000'000;

/// Where the process's pointer to PyTorch's CUDA allocator lies. Nullopt: it has none; `why` says so.
std::optional<uint64_t> find_allocator(pid_t pid, std::string *why) {
  const ForeignProcess process(pid);
  *why = "the program has not loaded PyTorch's CUDA allocator";
  for (const MappedFile &file : process.mapped_files()) {
    if (role_of(file.name()) != LibraryRole::kAllocator) continue;
    const auto symbols = MappedSymbols::read(process, file);
    const auto symbol = symbols ? symbols->find(torch::kAllocatorSymbol) : std::nullopt;
    if (symbol) return symbol->address;
    *why = file.path + (symbols ? " is of a PyTorch before 2.0, whose allocator is not known" : " cannot be read");
  }
  return std::nullopt;
}

/// Why nothing could be read; empty: it was.
std::string read_before(pid_t pid, int directory, BeforeMemory *out) {
  std::string why;
  const auto place = find_allocator(pid, &why);
  if (!place) return why;
  BoundedMemory memory(pid);
  const auto object = memory.read<uint64_t>(*place);
  if (!object && memory.error() == EPERM)
    return "the program's memory may not be read; run the tracer as root, or allow it: sudo sysctl "
           "kernel.yama.ptrace_scope=0";
  if (!object) return std::string("the program's memory cannot be read (") + std::strerror(memory.error()) + ")";
  if (*object == 0) return "PyTorch has made no CUDA allocator yet";
  const std::string name = class_name(memory, *object);
  if (name.find(torch::kAsyncAllocator) != std::string::npos)
    return "PyTorch allocates with cudaMallocAsync, which keeps no records that can be read";
  if (name.find(torch::kPluggableAllocator) != std::string::npos)
    return "PyTorch uses an allocator that is not its own";
  if (ask_interpreter(pid, directory, out)) return {};
  // Not of the time that asking took.
  BoundedMemory fresh(pid);
  return read_torch_allocator(fresh, *object, out);
}

/// The driver's blocks that PyTorch cut into tensors. Expandable segments are only counted: what the driver calls their parts is
/// not known.
void write_segments(Process &process, const BeforeMemory &memory, uint64_t ns) {
  std::map<uint8_t, uint64_t> reserved;
  const auto tell = [&](uint8_t device) { process.log().event(0, ns, GMT_RESERVED, device, 0, reserved[device], 0); };
  for (const BeforeBlock &segment : memory.mapped) {
    reserved[segment.device] += segment.bytes;
    tell(segment.device);
  }
  for (const BeforeBlock &segment : memory.segments) {
    process.log().event(0, ns, GMT_DEVICE_ALLOC, segment.device, segment.address, segment.bytes, kStack);
    reserved[segment.device] += segment.bytes;
    tell(segment.device);
  }
}

void write_before(Process &process, const BeforeMemory &memory, uint64_t ns) {
  const gmt_stack_record stack{kStack, 0, GMT_STACK_BEFORE_ATTACH};
  process.log().local(0, GMT_STACK, &stack, sizeof stack);
  write_segments(process, memory, ns);
  for (const BeforeBlock &block : memory.blocks) {
    process.log().event(0, ns, GMT_TENSOR_ALLOC, block.device, block.address, block.bytes, kStack);
    process.add_before(block.bytes, block.device);
  }
}

std::string came_at() {
  const time_t now = ::time(nullptr);
  tm parts{};
  char text[64] = "";
  if (::gmtime_r(&now, &parts)) std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts);
  return std::string("The tracer came at ") + text + " to a program that ran already; ";
}

std::string known_text(const BeforeMemory &memory) {
  uint64_t bytes = 0, mapped = 0;
  for (const BeforeBlock &block : memory.blocks) bytes += block.bytes;
  for (const BeforeBlock &block : memory.mapped) mapped += block.bytes;
  std::string text = "of what was allocated before, PyTorch's " + std::to_string(memory.blocks.size()) + " blocks (" +
                     bytes_text(bytes) + ") and " + std::to_string(memory.segments.size()) + " segments are known, " +
                     (memory.told ? "by its own account" : "read from outside") +
                     ", without their lines; other driver memory is not.";
  if (mapped) text += " PyTorch's expandable segments (" + bytes_text(mapped) + ") are missing from the driver layer.";
  if (!memory.whole) text += " Segments may be missing that changed each time they were looked at.";
  return text;
}

/// Holds back what comes until `until_ns`.
void hold_records(KernelSide &kernel, uint64_t until_ns, BeforeWindow *window) {
  const auto take = kernel.on_record;
  kernel.on_record = [window](const void *record, size_t bytes) { window->hold(record, bytes); };
  while (window->newest_ns() <= until_ns && window->bytes() < kMostHeld) {
    if (kernel.consume(kRound)) continue;
    if (monotonic_ns() > until_ns) break;
    ::usleep(1000);
  }
  kernel.on_record = take;
}

}  // namespace

void recover_before(KernelSide &kernel, Recorder &recorder, uint32_t host_pid, int directory, bool recording) {
  Process *process = recorder.find(host_pid);
  if (!process || !process->log().is_open()) return;
  const uint64_t began_ns = monotonic_ns();
  BeforeMemory memory;
  const std::string why =
      recording ? read_before(static_cast<pid_t>(process->info().pid), directory, &memory) : "recording was off";
  process->begin_before();
  if (!why.empty()) {
    process->log().note(GMT_NOTE_ATTACHED, came_at() + "what was allocated before is not known: " + why + ".");
    return;
  }
  BeforeWindow window;
  hold_records(kernel, monotonic_ns() + kGraceNs, &window);
  window.settle(host_pid, &memory);
  write_before(*process, memory, began_ns);
  process->log().note(GMT_NOTE_ATTACHED, came_at() + known_text(memory));
  window.release([&](const void *record, size_t bytes) { recorder.handle(record, bytes); });
}

}  // namespace gmt::uprobe
