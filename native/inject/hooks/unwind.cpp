#include "inject/hooks/unwind.h"

#include <string.h>

namespace gmt::inject {
namespace {

// Formats: DWARF 4 §6.4 and §7.6; .eh_frame and .eh_frame_hdr: Linux Standard Base, Core, §10.6; registers: the processor's ABI.
constexpr uint64_t kFrameRegister = 6, kStackRegister = 7, kReturnRegister = 16;
constexpr int64_t kReturnFromCfa = -8;
constexpr uint8_t kFrameBased = 0x70 + kFrameRegister;  // DW_OP_breg

/// Reads forward through bytes [at, end); what lies behind the end reads as 0 and leaves `good` false.
struct Bytes {
  const uint8_t *at;
  const uint8_t *end;
  bool good = true;

  template <class T>
  T read() {
    T value{};
    if (static_cast<size_t>(end - at) < sizeof value) return good = false, at = end, value;
    memcpy(&value, at, sizeof value);
    at += sizeof value;
    return value;
  }
  uint64_t uleb() {
    uint64_t value = 0;
    for (uint32_t shift = 0; shift < 64; shift += 7) {
      const auto byte = read<uint8_t>();
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (!(byte & 0x80)) return value;
    }
    return good = false, value;
  }
  int64_t sleb() {
    int64_t value = 0;
    for (uint32_t shift = 0; shift < 64;) {
      const auto byte = read<uint8_t>();
      value |= static_cast<int64_t>(static_cast<uint64_t>(byte & 0x7f) << shift);
      shift += 7;
      if (byte & 0x80) continue;
      return shift < 64 && (byte & 0x40) ? value | -(static_cast<int64_t>(1) << shift) : value;
    }
    return good = false, value;
  }
  void skip(uint64_t bytes) {
    if (bytes > static_cast<uint64_t>(end - at)) return void(good = false), void(at = end);
    at += bytes;
  }
  /// The next `bytes`, passed over.
  Bytes block(uint64_t bytes) {
    const uint8_t *begin = at;
    skip(bytes);
    return {begin, at};
  }
};

/// A pointer in one of the encodings of DW_EH_PE; `relative` adds the place where it stands.
uint64_t encoded(Bytes &bytes, uint8_t encoding, bool relative) {
  const auto place = reinterpret_cast<uintptr_t>(bytes.at);
  const uint8_t how = encoding & 0x70;
  if (how != 0 && how != 0x10) bytes.good = false;
  const uint64_t add = relative && how == 0x10 ? place : 0;
  switch (encoding & 0x0f) {
    case 0x00:
    case 0x04:
    case 0x0c:
      return bytes.read<uint64_t>() + add;
    case 0x02:
      return bytes.read<uint16_t>() + add;
    case 0x03:
      return bytes.read<uint32_t>() + add;
    case 0x0a:
      return static_cast<uint64_t>(static_cast<int64_t>(bytes.read<int16_t>())) + add;
    case 0x0b:
      return static_cast<uint64_t>(static_cast<int64_t>(bytes.read<int32_t>())) + add;
    default:
      return bytes.good = false, 0;
  }
}

/// What a common entry (CIE) says for the functions that name it.
struct Common {
  uint64_t code_align = 1;
  int64_t data_align = 1;
  uint64_t return_register = 0;
  uint8_t pointers = 0;
  bool sized = false;   ///< functions' entries have augmentation data
  bool signal = false;  ///< a signal handler's frame
  Bytes program{nullptr, nullptr};
};

Bytes entry_at(const uint8_t *at) {
  uint32_t length = 0;
  memcpy(&length, at, sizeof length);
  if (length == 0 || length == 0xffffffffu) return {at, at, false};
  return {at + sizeof length, at + sizeof length + length};
}

bool read_common(const uint8_t *at, Common *out) {
  Bytes bytes = entry_at(at);
  const auto id = bytes.read<uint32_t>();
  const auto version = bytes.read<uint8_t>();
  if (!bytes.good || id != 0 || (version != 1 && version != 3)) return false;
  char augmentation[8] = {};
  for (size_t i = 0; bytes.good; i++) {
    const char c = static_cast<char>(bytes.read<uint8_t>());
    if (c == 0) break;
    if (i == sizeof augmentation - 1) return false;
    augmentation[i] = c;
  }
  out->code_align = bytes.uleb();
  out->data_align = bytes.sleb();
  out->return_register = version == 1 ? bytes.read<uint8_t>() : bytes.uleb();
  for (const char *c = augmentation; *c; c++) {
    if (*c == 'z') out->sized = true, bytes.uleb();
    if (*c == 'R') out->pointers = bytes.read<uint8_t>();
    if (*c == 'L') bytes.read<uint8_t>();
    if (*c == 'P') encoded(bytes, bytes.read<uint8_t>() & 0x7f, false);
    if (*c == 'S') out->signal = true;
    if (!strchr("zRLPSB", *c)) return false;
  }
  out->program = bytes;
  return bytes.good;
}

/// The rows of the table as the instructions build them: only the registers that lead up.
struct Row {
  UnwindRule::Base base = UnwindRule::kNone;
  int64_t cfa = 0;
  uint8_t frame = UnwindRule::kKept;
  int64_t frame_offset = 0;
  uint8_t back = UnwindRule::kLost;
  int64_t back_offset = 0;
};

class Program {
 public:
  Program(const Common &common, uint64_t begin, uint64_t target) : common_(common), at_(begin), target_(target) {}

  /// Runs up to the target's row. False: an instruction that this reader does not know.
  bool run(Bytes bytes) {
    while (bytes.good && bytes.at < bytes.end && at_ <= target_) {
      const auto code = bytes.read<uint8_t>();
      if (!(code & 0xc0 ? packed(bytes, code) : one(bytes, code))) return false;
    }
    return bytes.good;
  }
  void save_initial() { initial_ = row_; }
  const Row &row() const { return row_; }

 private:
  static constexpr uint32_t kRemembered = 8;

  /// Rows beyond the target are not taken: the loop of run() ends there.
  void advance(uint64_t delta) { at_ += delta * common_.code_align; }

  void set(uint64_t reg, uint8_t how, int64_t offset) {
    if (reg == kFrameRegister) row_.frame = how, row_.frame_offset = offset;
    if (reg == common_.return_register) row_.back = how, row_.back_offset = offset;
  }
  void restore(uint64_t reg) {
    if (reg == kFrameRegister) row_.frame = initial_.frame, row_.frame_offset = initial_.frame_offset;
    if (reg == common_.return_register) row_.back = initial_.back, row_.back_offset = initial_.back_offset;
  }
  void set_base(uint64_t reg) {
    row_.base = reg == kStackRegister   ? UnwindRule::kStack
                : reg == kFrameRegister ? UnwindRule::kFrame
                                        : UnwindRule::kNone;
  }
  int64_t factored(uint64_t value) const { return static_cast<int64_t>(value) * common_.data_align; }

  bool packed(Bytes &bytes, uint8_t code) {
    const uint8_t low = code & 0x3f;
    if ((code & 0xc0) == 0x40) advance(low);
    if ((code & 0xc0) == 0x80) set(low, UnwindRule::kFromCfa, factored(bytes.uleb()));
    if ((code & 0xc0) == 0xc0) restore(low);
    return true;
  }

  /// Where a function realigned its stack, the CFA lies in memory that the frame register leads to.
  void base_expression(Bytes &bytes) {
    Bytes block = bytes.block(bytes.uleb());
    row_.base = UnwindRule::kNone;
    if (block.read<uint8_t>() != kFrameBased) return;
    row_.cfa = block.sleb();
    if (block.read<uint8_t>() == 0x06 && block.good && block.at == block.end) row_.base = UnwindRule::kFrameMemory;
  }
  void register_expression(Bytes &bytes) {
    const uint64_t reg = bytes.uleb();
    Bytes block = bytes.block(bytes.uleb());
    const bool simple = block.read<uint8_t>() == kFrameBased;
    const int64_t offset = block.sleb();
    set(reg, simple && block.good && block.at == block.end ? UnwindRule::kFromFrame : UnwindRule::kLost, offset);
  }

  bool one(Bytes &bytes, uint8_t code) {
    switch (code) {
      case 0x00:  // nop
        return true;
      case 0x02:
        return advance(bytes.read<uint8_t>()), true;
      case 0x03:
        return advance(bytes.read<uint16_t>()), true;
      case 0x04:
        return advance(bytes.read<uint32_t>()), true;
      case 0x0a:  // remember_state
        if (depth_ == kRemembered) return false;
        return kept_[depth_++] = row_, true;
      case 0x0b:  // restore_state
        if (depth_ == 0) return false;
        return row_ = kept_[--depth_], true;
      case 0x2e:  // GNU_args_size
        return bytes.uleb(), true;
      default:
        return code >= 0x0c && code <= 0x13 && code != 0x10 && code != 0x11 ? base(bytes, code) : saved(bytes, code);
    }
  }

  bool base(Bytes &bytes, uint8_t code) {
    switch (code) {
      case 0x0c:  // def_cfa
        set_base(bytes.uleb());
        return row_.cfa = static_cast<int64_t>(bytes.uleb()), true;
      case 0x0d:  // def_cfa_register
        return set_base(bytes.uleb()), true;
      case 0x0e:  // def_cfa_offset
        return row_.cfa = static_cast<int64_t>(bytes.uleb()), true;
      case 0x0f:
        return base_expression(bytes), true;
      case 0x12:  // def_cfa_sf
        set_base(bytes.uleb());
        return row_.cfa = bytes.sleb() * common_.data_align, true;
      default:  // def_cfa_offset_sf
        return row_.cfa = bytes.sleb() * common_.data_align, true;
    }
  }

  bool saved(Bytes &bytes, uint8_t code) {
    const uint8_t *before = bytes.at;
    const uint64_t reg = bytes.uleb();
    switch (code) {
      case 0x05:  // offset_extended
        return set(reg, UnwindRule::kFromCfa, factored(bytes.uleb())), true;
      case 0x06:
        return restore(reg), true;
      case 0x07:  // undefined
        return set(reg, UnwindRule::kLost, 0), true;
      case 0x08:  // same_value
        return set(reg, UnwindRule::kKept, 0), true;
      case 0x09:  // register
      case 0x14:  // val_offset
        return bytes.uleb(), set(reg, UnwindRule::kLost, 0), true;
      case 0x10:
        return bytes.at = before, register_expression(bytes), true;
      case 0x11:  // offset_extended_sf
        return set(reg, UnwindRule::kFromCfa, bytes.sleb() * common_.data_align), true;
      case 0x16:  // val_expression
        return bytes.skip(bytes.uleb()), set(reg, UnwindRule::kLost, 0), true;
      default:
        return false;
    }
  }

  const Common &common_;
  uint64_t at_;
  uint64_t target_;
  Row row_, initial_, kept_[kRemembered];
  uint32_t depth_ = 0;
};

/// The entry of the function that holds `address`: the last one in the sorted table that begins not behind it.
const uint8_t *find_entry(uintptr_t header, uintptr_t address) {
  struct Place {
    int32_t begin, entry;  // from the header
  };
  const auto *bytes = reinterpret_cast<const uint8_t *>(header);
  // The one form that linkers write: version 1, a 4-byte pointer, a 4-byte count, pairs relative to the header.
  if (!header || bytes[0] != 1 || (bytes[1] & 0x0f) != 0x0b || bytes[2] != 0x03 || bytes[3] != 0x3b) return nullptr;
  uint32_t count = 0;
  memcpy(&count, bytes + 8, sizeof count);
  const auto *places = reinterpret_cast<const Place *>(bytes + 12);
  const auto offset = static_cast<int64_t>(address - header);
  uint32_t first = 0;
  for (uint32_t last = count; first < last;) {
    const uint32_t middle = first + (last - first) / 2;
    if (places[middle].begin <= offset)
      first = middle + 1;
    else
      last = middle;
  }
  return first == 0 ? nullptr
                    : reinterpret_cast<const uint8_t *>(header + static_cast<intptr_t>(places[first - 1].entry));
}

UnwindRule rule_of(const Row &row) {
  constexpr int64_t most = kMostStack;
  const bool small = row.cfa > -most && row.cfa < most && row.frame_offset > -most && row.frame_offset < most;
  if (!small || row.frame == UnwindRule::kLost || row.back != UnwindRule::kFromCfa || row.back_offset != kReturnFromCfa)
    return {};
  return {row.base, row.frame, static_cast<int32_t>(row.cfa), static_cast<int32_t>(row.frame_offset)};
}

}  // namespace

UnwindRule unwind_rule(uintptr_t header, uintptr_t ip) {
  const uintptr_t call = ip - 1;  // the return address may lie behind the function's end
  const uint8_t *entry = find_entry(header, call);
  if (!entry) return {};
  Bytes bytes = entry_at(entry);
  const uint8_t *back = bytes.at;
  const auto distance = bytes.read<uint32_t>();
  Common common;
  if (!bytes.good || distance == 0 || !read_common(back - distance, &common) || common.signal) return {};
  const uint64_t begin = encoded(bytes, common.pointers, true);
  const uint64_t length = encoded(bytes, common.pointers & 0x0f, false);
  if (!bytes.good || call < begin || call - begin >= length || common.return_register != kReturnRegister) return {};
  if (common.sized) bytes.skip(bytes.uleb());
  Program program(common, begin, call);
  if (!program.run(common.program)) return {};
  program.save_initial();
  return program.run(bytes) ? rule_of(program.row()) : UnwindRule{};
}

bool unwind(const UnwindRule &rule, Registers *at) {
  // The thread's own block lies above its stack (the first thread's lies elsewhere).
  const auto self = reinterpret_cast<uintptr_t>(__builtin_thread_pointer());
  const uintptr_t low = at->sp;
  const uintptr_t high = self > low && self - low < kMostStack ? self : low + kMostStack;
  const auto inside = [&](uintptr_t address) { return address >= low && address < high - 7 && address % 8 == 0; };
  const auto load = [](uintptr_t address) { return *reinterpret_cast<const uintptr_t *>(address); };
  uintptr_t cfa =
      (rule.base == UnwindRule::kStack ? at->sp : at->fp) + static_cast<uintptr_t>(static_cast<intptr_t>(rule.cfa));
  if (rule.base == UnwindRule::kFrameMemory) {
    if (!inside(cfa)) return false;
    cfa = load(cfa);
  }
  if (rule.base == UnwindRule::kNone || !inside(cfa - 8)) return false;
  if (rule.saved != UnwindRule::kKept) {
    const uintptr_t from = rule.saved == UnwindRule::kFromCfa ? cfa : at->fp;
    const uintptr_t place = from + static_cast<uintptr_t>(static_cast<intptr_t>(rule.frame));
    if (!inside(place)) return false;
    at->fp = load(place);
  }
  at->ip = load(cfa - 8);
  at->sp = cfa;
  return true;
}

}  // namespace gmt::inject
