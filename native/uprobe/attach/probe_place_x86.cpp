// x86-64: a decoder of the few instructions that functions begin with. What it does not know for sure ends the search.
#include <algorithm>

#include "uprobe/attach/probe_place.h"

namespace gmt::uprobe {
namespace {

constexpr uint32_t kFarthest = 48;

enum class Kind {
  kUnknown,
  kPush,     ///< the kernel does it itself
  kNop,      ///< the kernel does it itself
  kBranch,   ///< the kernel does it itself
  kPadding,  ///< does nothing: endbr64, a long nop
  kPlain,    ///< changes at most one register, flags and memory
};
struct Instruction {
  Kind kind = Kind::kUnknown;
  uint32_t bytes = 0;
  int changes = -1;  ///< register, -1 = none
};

// Registers by number: rax 0, rcx 1, rdx 2, rbx 3, rsp 4, rbp 5, rsi 6, rdi 7, r8 8, ...
constexpr int kStackPointer = 4;
constexpr bool is_argument(int reg) { return reg == 1 || reg == 2 || (reg >= 6 && reg <= 9); }

class Reader {
 public:
  explicit Reader(std::span<const std::byte> code) : code_(code) {}
  int peek(uint32_t ahead = 0) const {
    return at_ + ahead < code_.size() ? std::to_integer<int>(code_[at_ + ahead]) : -1;
  }
  bool starts_with(std::initializer_list<int> bytes) const {
    uint32_t i = 0;
    for (int byte : bytes)
      if (peek(i++) != byte) return false;
    return true;
  }
  void skip(uint32_t count) { at_ += count; }
  uint32_t at() const { return at_; }

 private:
  std::span<const std::byte> code_;
  uint32_t at_ = 0;
};

struct ModRm {
  bool good = false;
  int mod = 0, reg = 0, rm = 0;
};

/// Reads the byte and what belongs to it (SIB, displacement).
ModRm read_modrm(Reader &in, int rex) {
  const int byte = in.peek();
  if (byte < 0) return {};
  in.skip(1);
  ModRm out{true, byte >> 6, (byte >> 3 & 7) | (rex & 4) << 1, (byte & 7) | (rex & 1) << 3};
  if (out.mod == 3) return out;
  uint32_t displacement = out.mod == 1 ? 1 : out.mod == 2 ? 4 : 0;
  if ((byte & 7) == 4) {
    const int sib = in.peek();
    if (sib < 0) return {};
    in.skip(1);
    if (out.mod == 0 && (sib & 7) == 5) displacement = 4;
  } else if (out.mod == 0 && (byte & 7) == 5) {
    displacement = 4;  // relative to the instruction, which stays where it is
  }
  in.skip(displacement);
  return out;
}

/// `op r/m, r` and `op r, r/m` of add, or, and, sub, xor, cmp, mov, lea, test.
Instruction two_operands(Reader &in, int opcode, int rex) {
  const ModRm operands = read_modrm(in, rex);
  if (!operands.good) return {};
  const bool compares = opcode == 0x85 || opcode == 0x84 || (opcode >= 0x38 && opcode <= 0x3b);
  const bool to_reg = opcode == 0x8d || (opcode & 2) != 0;
  int changed = -1;
  if (!compares) changed = to_reg ? operands.reg : operands.mod == 3 ? operands.rm : -1;
  if (opcode == 0x8d && operands.mod == 3) return {};
  return {Kind::kPlain, in.at(), changed};
}

/// `op r/m, immediate` of add, or, and, sub, xor, cmp (80, 81, 83), mov (c6, c7), test (f6, f7).
Instruction immediate(Reader &in, int opcode, int rex) {
  const ModRm operands = read_modrm(in, rex);
  if (!operands.good) return {};
  const int op = operands.reg & 7;
  const bool test = opcode == 0xf6 || opcode == 0xf7, mov = opcode == 0xc6 || opcode == 0xc7;
  if ((test || mov) && op != 0) return {};
  if (!test && !mov && (op == 2 || op == 3)) return {};  // with carry
  // Without a REX prefix registers of one byte have other numbers.
  const bool one_byte = opcode == 0x80 || opcode == 0xc6;
  if (one_byte && operands.mod == 3) return {};
  const bool wide = opcode == 0x81 || opcode == 0xc7 || opcode == 0xf7;
  in.skip(wide ? 4 : 1);
  const bool compares = test || (!mov && op == 7);
  return {Kind::kPlain, in.at(), compares || operands.mod != 3 ? -1 : operands.rm};
}

constexpr int kTwoOperands[] = {0x01, 0x03, 0x09, 0x0b, 0x21, 0x23, 0x29, 0x2b, 0x31, 0x33,
                                0x38, 0x39, 0x3a, 0x3b, 0x84, 0x85, 0x89, 0x8b, 0x8d};
constexpr int kImmediate[] = {0x80, 0x81, 0x83, 0xc6, 0xc7, 0xf6, 0xf7};

bool is_one_of(std::span<const int> opcodes, int opcode) {
  return std::find(opcodes.begin(), opcodes.end(), opcode) != opcodes.end();
}

Instruction by_opcode(Reader &in, int opcode, int rex) {
  if (is_one_of(kTwoOperands, opcode)) return two_operands(in, opcode, rex);
  if (is_one_of(kImmediate, opcode)) return immediate(in, opcode, rex);
  if (opcode >= 0xb8 && opcode <= 0xbf) {  // mov register, immediate
    in.skip(rex & 8 ? 8 : 4);
    return {Kind::kPlain, in.at(), (opcode & 7) | (rex & 1) << 3};
  }
  return {};
}

/// Long nops: [66] 0f 1f /0.
Instruction long_nop(Reader in) {
  while (in.peek() == 0x66 && in.at() < 4) in.skip(1);
  if (in.peek() == 0x2e) in.skip(1);
  if (!in.starts_with({0x0f, 0x1f})) return {};
  in.skip(2);
  return read_modrm(in, 0).good ? Instruction{Kind::kPadding, in.at()} : Instruction{};
}

Instruction decode(std::span<const std::byte> code) {
  Reader in(code);
  if (in.starts_with({0xf3, 0x0f, 0x1e, 0xfa})) return {Kind::kPadding, 4};
  const int first = in.peek();
  if (first >= 0x50 && first <= 0x57) return {Kind::kPush, 1};
  if (first == 0x41 && in.peek(1) >= 0x50 && in.peek(1) <= 0x57) return {Kind::kPush, 2};
  if (first == 0x90) return {Kind::kNop, 1};
  if (in.starts_with({0x66, 0x90})) return {Kind::kNop, 2};
  if (first == 0xeb || first == 0xe9 || first == 0xe8) return {Kind::kBranch, 0};
  if (const Instruction nop = long_nop(in); nop.kind != Kind::kUnknown) return nop;
  if (in.peek() == 0x64) in.skip(1);  // the thread's segment
  int rex = 0;
  if (in.peek() >= 0x40 && in.peek() <= 0x4f) {
    rex = in.peek();
    in.skip(1);
  }
  const int opcode = in.peek();
  in.skip(1);
  return by_opcode(in, opcode, rex);
}

}  // namespace

uint32_t probe_place(std::span<const std::byte> code, bool keeps_stack) {
  bool only_padding = true;
  for (uint32_t at = 0; at < code.size() && at <= kFarthest;) {
    const Instruction next = decode(code.subspan(at));
    // A branch or a nop may be the head of a loop; behind real work only a push is sure to be passed once.
    if (next.kind == Kind::kPush || (only_padding && (next.kind == Kind::kNop || next.kind == Kind::kBranch)))
      return at;
    const bool passes = next.kind == Kind::kPadding || next.kind == Kind::kNop || next.kind == Kind::kPlain;
    if (!passes || next.bytes == 0 || next.bytes > code.size() - at) return 0;
    if (next.kind == Kind::kPlain) {
      if (is_argument(next.changes) || (keeps_stack && next.changes == kStackPointer)) return 0;
      only_padding = false;
    }
    at += next.bytes;
  }
  return 0;
}

}  // namespace gmt::uprobe
