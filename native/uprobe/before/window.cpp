#include "uprobe/before/window.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "uprobe/attach/call_layout.h"
#include "uprobe/bpf/ring.h"

namespace gmt::uprobe {
namespace {

/// What happened first at an address.
struct First {
  bool frees;
  uint64_t bytes;  ///< 0 = not told
  uint8_t device;
};
using Firsts = std::unordered_map<uint64_t, First>;

bool begins_memory(uint8_t kind) { return kind >= GMT_DEVICE_ALLOC && kind <= GMT_GRAPH_ALLOC; }

void take_tensor(const gmt_up_tensor &tensor, Firsts *firsts) {
  const bool known = tensor.head.flags != GMT_UP_DEVICE_UNKNOWN;
  const bool frees = tensor.bytes < 0;
  const uint64_t bytes = !known ? 0 : static_cast<uint64_t>(frees ? -tensor.bytes : tensor.bytes);
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

}  // namespace

void BeforeWindow::hold(const void *record, size_t bytes) {
  const auto *from = static_cast<const std::byte *>(record);
  const uint64_t length = bytes;
  const size_t at = held_.size();
  held_.resize(at + sizeof length + (bytes + 7) / 8 * 8);
  std::memcpy(held_.data() + at, &length, sizeof length);
  std::copy_n(from, bytes, held_.data() + at + sizeof length);
  if (bytes >= sizeof(gmt_up_head)) newest_ns_ = std::max(newest_ns_, value_at<gmt_up_head>(from, 0).time);
}

void BeforeWindow::settle(uint32_t host_pid, BeforeMemory *memory) const {
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
    if (!first.frees || first.bytes == 0) continue;
    // What the free says holds: the block that was read may be one that came to the address later.
    const BeforeBlock block{address, first.bytes, first.device};
    const auto place = known.find(address);
    if (place == known.end())
      memory->blocks.push_back(block);
    else
      memory->blocks[place->second] = block;
  }
}

}  // namespace gmt::uprobe
