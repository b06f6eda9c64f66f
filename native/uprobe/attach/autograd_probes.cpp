#include "uprobe/attach/autograd_probes.h"

#include <cstring>
#include <string_view>

#include "torch/torch_layouts.h"
#include "uprobe/attach/probe_place.h"

namespace gmt::uprobe {
namespace {

constexpr std::string_view kNumber = "_ZN2at15sequence_number17get_and_incrementEv";
constexpr std::string_view kThread = "_ZN2at14RecordFunction15currentThreadIdEv";
constexpr std::string_view kEvaluate = "_ZN5torch8autograd6Engine17evaluate_functionE";  // arguments: node_begins
constexpr std::string_view kEvaluateArguments = "RSt10shared_ptrINS0_9GraphTaskEEPNS0_4NodeERNS0_11InputBufferE";
constexpr std::string_view kExecute = "_ZN5torch8autograd6Engine23execute_with_graph_taskE";
constexpr std::string_view kNode = "_ZTIN5torch8autograd4NodeE";

/// Which layout a node has, the names of the engine's functions say: by what they hold one.
std::optional<torch::NodeLayout> node_layout(const ElfFile &elf) {
  for (const ElfSymbol &symbol : elf.symbols()) {
    if (!symbol.name.starts_with(kExecute)) continue;
    if (symbol.name.find("intrusive_ptrINS0_4NodeE") != symbol.name.npos) return torch::kIntrusiveNode;
    const std::string_view rest = symbol.name.substr(kExecute.size());
    if (rest.find("S2_INS0_4NodeEE") != rest.npos || rest.find("St10shared_ptrINS0_4NodeEE") != rest.npos)
      return torch::kSharedNode;
  }
  return std::nullopt;
}

const ElfSymbol *find_evaluate(const ElfFile &elf) {
  for (const ElfSymbol &symbol : elf.symbols())
    if (symbol.function && symbol.name.starts_with(kEvaluate) &&
        symbol.name.substr(kEvaluate.size()).starts_with(kEvaluateArguments))
      return &symbol;
  return nullptr;
}

class Code {
 public:
  explicit Code(std::span<const std::byte> code) : code_(code) {}
  bool starts(size_t at, std::initializer_list<int> bytes) const {
    if (at + bytes.size() > code_.size()) return false;
    for (int byte : bytes)
      if (std::to_integer<int>(code_[at++]) != byte) return false;
    return true;
  }
  int byte(size_t at) const { return at < code_.size() ? std::to_integer<int>(code_[at]) : -1; }
  template <class T>
  std::optional<T> number(size_t at) const {
    T value;
    if (at + sizeof value > code_.size()) return std::nullopt;
    std::memcpy(&value, code_.data() + at, sizeof value);
    return value;
  }

 private:
  std::span<const std::byte> code_;
};

/// Bytes of a call of __tls_get_addr at `at`, with the prefixes that the linker may find there; 0: there is none.
size_t call_bytes(const Code &code, size_t at) {
  if (code.starts(at, {0xe8})) return 5;
  if (code.starts(at, {0x66, 0x66, 0x48, 0xe8})) return 8;
  if (code.starts(at, {0xff, 0x15})) return 6;
  if (code.starts(at, {0x66, 0x48, 0xff, 0x15})) return 8;
  return 0;
}

/// `mov offset(%rax), register`, of 8 bytes.
std::optional<int32_t> read_offset(const Code &code, size_t at) {
  if ((code.byte(at) & ~4) != 0x48 || code.byte(at + 1) != 0x8b) return std::nullopt;
  const int modrm = code.byte(at + 2);
  if (modrm < 0 || (modrm & 7) != 0) return std::nullopt;
  if (modrm >> 6 == 0) return 0;
  if (modrm >> 6 == 1) return code.number<int8_t>(at + 3);
  return modrm >> 6 == 2 ? code.number<int32_t>(at + 3) : std::nullopt;
}

}  // namespace

std::optional<ThreadLocal> find_thread_local(std::span<const std::byte> bytes, uint64_t address) {
  const Code code(bytes);
  for (size_t at = 0; at < bytes.size(); at++) {
    if (!code.starts(at, {0x48, 0x8d, 0x3d})) continue;  // lea distance(%rip), %rdi
    const auto distance = code.number<int32_t>(at + 3);
    const size_t call = at + 7, length = call_bytes(code, call);
    const auto offset = length ? read_offset(code, call + length) : std::nullopt;
    if (!distance || !offset) return std::nullopt;
    // The kernel carries out a plain call by itself, and refuses to probe one with prefixes. Each pass comes by it once.
    const bool plain = code.byte(call) == 0xe8;
    const auto index = address + call + static_cast<uint64_t>(int64_t{*distance});
    return ThreadLocal{plain ? static_cast<uint32_t>(call) : probe_place(bytes, false), index, *offset};
  }
  return std::nullopt;
}

AutogradProbes find_autograd(const FileBytes &file, const ElfFile &elf) {
  AutogradProbes out{};
  const ElfSymbol *number = elf.find(kNumber), *thread = elf.find(kThread), *evaluate = find_evaluate(elf);
  const auto layout = node_layout(elf);
  out.unreadable = elf.find(kNode) != nullptr;
  if (!number || !thread || !evaluate || !layout) return out;
  const auto counter = find_thread_local(elf.code_of(file, *number), number->address);
  const auto id = find_thread_local(elf.code_of(file, *thread), thread->address);
  const auto number_at = elf.offset_of(number->address, true), evaluate_at = elf.offset_of(evaluate->address, true);
  if (!counter || !id || !number_at || !evaluate_at) return out;
  const uint64_t probe = number->address + counter->probe;
  out.numbers = *number_at + counter->probe;
  out.evaluations = *evaluate_at + probe_place(elf.code_of(file, *evaluate), true);
  out.layout.counter_index = static_cast<int64_t>(counter->index - probe);
  out.layout.thread_index = static_cast<int64_t>(id->index - probe);
  out.layout.counter_offset = counter->offset;
  out.layout.thread_offset = id->offset;
  out.layout.node_sequence = layout->sequence;
  out.layout.node_thread = layout->thread;
  out.unreadable = false;
  return out;
}

}  // namespace gmt::uprobe
