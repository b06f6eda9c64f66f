// Finds the interpreter and decides whether its layout is known.
#include <stdio.h>
#include <string.h>

#include "python/interpreter.h"
#include "python/symbols.h"

namespace gmt::python {

constinit Interpreter interpreter = {};

namespace {

constexpr size_t kReasonBytes = 200;

struct Search {
  std::atomic<Support> answer;
  std::atomic<bool> busy;
  bool looked;     ///< `seen` is set
  LoadCount seen;  ///< libraries at the time of the last look, which found no Python
  char reason[kReasonBytes];
};
constinit Search search = {};

enum Wanted {
  kRuntime,
  kCodeType,
  kTypeType,
  kVersionData,
  kVersionText,
  kIsInitialized,
  kThreadState,
  kSpecific,
  kWantedCount
};

/// Where _Py_DebugOffsets has the fields of interest, in words of 8 bytes (Include/internal/pycore_runtime.h of
/// 3.13, pycore_debug_offsets.h of 3.14).
struct DebugWords {
  uint8_t current_frame, previous, executable, position, owner;
  uint8_t file, name, full_name, line_table, first_line, code_bytes;
  uint8_t object_type, bytes_size, bytes_data, string_state, string_length, string_ascii;
};
constexpr uint8_t kVersionWord = 1, kFreeThreadedWord = 2, kFinalizingWord = 4;
constexpr DebugWords kWords313 = {23, 29, 30, 31, 33, 35, 36, 37, 38, 39, 43, 45, 65, 66, 68, 69, 70};
constexpr DebugWords kWords314 = {26, 32, 33, 34, 36, 40, 41, 42, 43, 44, 48, 51, 75, 76, 78, 79, 80};

/// Reads digits and moves past them. By hand: strtoul would bind the guest library to the builder's glibc.
uint32_t parse_number(const char *&text) {
  uint32_t value = 0;
  for (; *text >= '0' && *text <= '9'; text++) value = value * 10 + static_cast<uint32_t>(*text - '0');
  return value & 0xff;
}

/// "3.9.18 (main, ...)" of Py_GetVersion as PY_VERSION_HEX; the level is final unless a letter says else.
uint32_t parse_version(const char *text) {
  uint32_t numbers[3] = {};
  for (uint32_t &number : numbers) {
    number = parse_number(text);
    if (*text == '.') text++;
  }
  uint32_t level = *text == 'a' ? 0xa0 : *text == 'b' ? 0xb0 : *text == 'r' ? 0xc0 : 0xf0;
  return numbers[0] << 24 | numbers[1] << 16 | numbers[2] << 8 | level;
}

Support refuse(const char *version, const char *because) {
  int length = static_cast<int>(strcspn(version, " "));
  snprintf(search.reason, kReasonBytes, "Python %.*s is not supported (%s): events carry no Python stack", length,
           version, because);
  return Support::kUnsupported;
}

uint64_t word(const char *runtime, uint8_t index) { return load<uint64_t>(runtime, index * sizeof(uint64_t)); }

/// The layout that the interpreter describes itself; false if it contradicts what the walk takes for granted.
bool read_debug_offsets(const char *runtime, const DebugWords &at, uint32_t version, Layout &layout) {
  if (memcmp(runtime, "xdebugpy", 8) != 0 || word(runtime, kVersionWord) != version) return false;
  auto field = [&](uint8_t index) {
    uint64_t offset = word(runtime, index);
    return static_cast<uint16_t>(offset < 4096 ? offset : kNone);
  };
  layout.thread_frame = field(at.current_frame);
  layout.frame_previous = field(at.previous);
  layout.frame_code = field(at.executable);
  layout.frame_position = field(at.position);
  layout.frame_owner = field(at.owner);
  layout.code_file = field(at.file);
  layout.code_name = field(at.name);
  layout.code_full_name = field(at.full_name);
  layout.code_line_table = field(at.line_table);
  layout.code_first_line = field(at.first_line);
  layout.code_counts = static_cast<uint16_t>(layout.code_first_line - 4);
  layout.code_version = static_cast<uint16_t>(layout.code_first_line + 24);
  layout.code_bytes = field(at.code_bytes);
  layout.string_ascii = field(at.string_ascii);
  layout.string_other = static_cast<uint16_t>(layout.string_ascii + 16);
  layout.finalizing = field(kFinalizingWord);
  for (uint16_t offset :
       {layout.thread_frame, layout.frame_previous, layout.frame_code, layout.frame_position, layout.frame_owner,
        layout.code_file, layout.code_name, layout.code_full_name, layout.code_line_table, layout.code_first_line,
        layout.code_bytes, layout.string_ascii, layout.finalizing})
    if (offset == kNone) return false;
  return field(at.object_type) == kObjectType && field(at.bytes_size) == kBytesSize &&
         field(at.bytes_data) == kBytesData && field(at.string_state) == kStringState &&
         field(at.string_length) == kStringLength;
}

/// Whether PyCode_Type's own member table has co_filename and co_firstlineno where `layout` has them. A build with
/// other object headers (Py_TRACE_REFS, Py_GIL_DISABLED) already differs in the place of its type.
bool code_type_agrees(const void *code_type, const void *type_type, const Layout &layout) {
  if (load<const void *>(code_type, kObjectType) != type_type) return false;
  struct Member {
    const char *name;
    int type;
    ptrdiff_t offset;
    int flags;
    const char *doc;
  };
  unsigned agreed = 0;
  for (const auto *m = load<const Member *>(code_type, kTypeMembers); m && m->name; m++) {
    if (strcmp(m->name, "co_filename") == 0 && m->offset == layout.code_file) agreed |= 1;
    if (strcmp(m->name, "co_firstlineno") == 0 && m->offset == layout.code_first_line) agreed |= 2;
  }
  return agreed == 3;
}

const Layout *table_of(uint32_t version) {
  switch (version >> 16) {
    case 0x0309:
      return &kLayout39;
    case 0x030a:
      return &kLayout310;
    case 0x030b:
      return &kLayout311;
    case 0x030c:
      return &kLayout312;
    case 0x030d:
      return &kLayout313;
    case 0x030e:
      return &kLayout314;
    default:
      return nullptr;
  }
}

Support adopt(const Symbol (&found)[kWantedCount]) {
  auto version_text = reinterpret_cast<const char *(*)()>(found[kVersionText].address)();
  uint32_t version = found[kVersionData].address
                         ? static_cast<uint32_t>(load<unsigned long>(found[kVersionData].address, 0))
                         : parse_version(version_text);
  interpreter.version = version;
  const Layout *table = table_of(version);
  if (!table) return refuse(version_text, "3.9 to 3.14 are");
  if ((version & 0xf0) < 0xc0) return refuse(version_text, "a pre-release; 3.9 to 3.14 are");
  if (!found[kRuntime].address || !found[kCodeType].address || !found[kTypeType].address ||
      !found[kThreadState].address || !found[kSpecific].address)
    return refuse(version_text, "this build exports too few symbols");

  auto *runtime = static_cast<const char *>(found[kRuntime].address);
  Layout layout = *table;
  if (version >= 0x030d0000) {
    if (memcmp(runtime, "xdebugpy", 8) == 0 && word(runtime, kFreeThreadedWord))
      return refuse(version_text, "a build without the GIL; builds of 3.9 to 3.14 with it are");
    if (!read_debug_offsets(runtime, version >= 0x030e0000 ? kWords314 : kWords313, version, layout))
      return refuse(version_text, "its description of itself, _Py_DebugOffsets, cannot be read");
  }
  if (!code_type_agrees(found[kCodeType].address, found[kTypeType].address, layout))
    return refuse(version_text, "this build lays out its objects unlike the release builds");

  interpreter.runtime = runtime;
  interpreter.code_type = found[kCodeType].address;
  interpreter.thread_state = reinterpret_cast<void *(*)()>(found[kThreadState].address);
  interpreter.specific = reinterpret_cast<void *(*)(unsigned)>(found[kSpecific].address);
  interpreter.layout = layout;
  choose_walk(interpreter);
  interpreter.ready.store(true, std::memory_order_release);
  return Support::kReady;
}

Support look() {
  LoadCount now = load_count();
  if (search.looked && search.seen == now) return Support::kNoPython;
  Symbol found[kWantedCount] = {{"_PyRuntime", nullptr},
                                {"PyCode_Type", nullptr},
                                {"PyType_Type", nullptr},
                                {"Py_Version", nullptr},
                                {"Py_GetVersion", nullptr},
                                {"Py_IsInitialized", nullptr},
                                {"PyGILState_GetThisThreadState", nullptr},
                                {"pthread_getspecific", nullptr}};
  find_symbols(found, kWantedCount);
  if (!found[kIsInitialized].address || !found[kVersionText].address) {
    search.seen = now;
    search.looked = true;
    return Support::kNoPython;
  }
  if (!reinterpret_cast<int (*)()>(found[kIsInitialized].address)()) return Support::kNoPython;
  return adopt(found);
}

}  // namespace

/// The interpreter's own word, for versions whose memory is not read.
bool asks_finalizing() {
  static Symbol names[] = {{"Py_IsFinalizing", nullptr}, {"_Py_IsFinalizing", nullptr}};
  static std::atomic<bool> found{false};
  if (!found.load(std::memory_order_acquire)) {
    find_symbols(names, 2);
    found.store(true, std::memory_order_release);
  }
  void *function = names[0].address ? names[0].address : names[1].address;
  return function && reinterpret_cast<int (*)()>(function)() != 0;
}

Support discover() {
  Support answer = search.answer.load(std::memory_order_acquire);
  if (answer != Support::kNoPython) return answer;
  if (search.busy.exchange(true, std::memory_order_acquire)) return Support::kNoPython;
  answer = search.answer.load(std::memory_order_acquire);
  if (answer == Support::kNoPython) answer = look();
  search.answer.store(answer, std::memory_order_release);
  search.busy.store(false, std::memory_order_release);
  return answer;
}

const char *unsupported_reason() {
  return search.answer.load(std::memory_order_acquire) == Support::kUnsupported ? search.reason : "";
}

uint32_t version_hex() {
  return search.answer.load(std::memory_order_acquire) == Support::kNoPython ? 0 : interpreter.version;
}

}  // namespace gmt::python
