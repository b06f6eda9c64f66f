#include "uprobe/python/target.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <optional>
#include <vector>

#include "python/versions.h"
#include "uprobe/python/foreign_process.h"

namespace gmt::uprobe {
namespace {

/// Where an interpreter lists its threads, in bytes.
struct ThreadPlaces {
  uint16_t interpreters;  ///< _PyRuntime: newest interpreter, and behind it the main one
  uint16_t threads;       ///< PyInterpreterState: newest thread
  uint16_t thread_next;   ///< PyThreadState: next older one
  uint16_t thread_id;     ///< PyThreadState: its pthread_t
};

// By DWARF of release builds, as the tables of native/python/python_layouts.h.
constexpr ThreadPlaces kPlaces39 = {32, 8, 8, 176};
constexpr ThreadPlaces kPlaces311 = {40, 16, 8, 152};
constexpr ThreadPlaces kPlaces312 = {40, 72, 8, 136};

constexpr size_t kMostThreads = 4096;
constexpr size_t kMostRuntimeBytes = 1u << 20;
constexpr uint32_t kMostKeys = 1024, kKeysInBlock = 32, kEntryBytes = 16, kMostFirstBlock = 1u << 16;

/// A Py_tss_t.
struct Key {
  uint32_t created, key;
};

struct Thread {
  uint64_t state;
  uint64_t pointer;  ///< its pthread_t, which glibc makes the thread pointer
};

/// Of the main interpreter.
std::vector<Thread> threads_of(const ForeignProcess &process, uint64_t runtime, const ThreadPlaces &places) {
  std::vector<Thread> threads;
  const uint64_t interpreter = process.read<uint64_t>(runtime + places.interpreters + 8).value_or(0);
  uint64_t state = interpreter ? process.read<uint64_t>(interpreter + places.threads).value_or(0) : 0;
  while (state && threads.size() < kMostThreads) {
    const auto pointer = process.read<uint64_t>(state + places.thread_id);
    if (!pointer) break;
    threads.push_back({state, *pointer});
    state = process.read<uint64_t>(state + places.thread_next).value_or(0);
  }
  return threads;
}

/// Whether the thread's value of the key is its state.
bool has_state(const ForeignProcess &process, const Thread &thread, uint32_t blocks, uint32_t key) {
  const auto block = process.read<uint64_t>(thread.pointer + blocks + 8 * (key / kKeysInBlock));
  if (!block || !*block) return false;
  return process.read<uint64_t>(*block + key % kKeysInBlock * kEntryBytes + 8) == thread.state;
}

/// glibc's description of one field, for libthread_db: bits of an element, elements, offset.
struct Descriptor {
  uint32_t bits, count, offset;
};

/// `description`: the first bytes of _PyRuntime, from 3.13 on.
ThreadPlaces thread_places(uint32_t version, const std::vector<char> &description) {
  if (version < 0x030b0000) return kPlaces39;
  if (version < 0x030c0000) return kPlaces311;
  if (version < python::kFirstSelfDescribed) return kPlaces312;
  const python::DebugWords &at = python::debug_words(version);
  auto field = [&](uint8_t index) { return static_cast<uint16_t>(python::debug_word(description.data(), index)); };
  return {field(python::kInterpretersWord), field(python::kThreadsWord), field(at.thread_next), field(at.thread_id)};
}

/// From a thread's pointer to glibc's pointers to its blocks of thread data, as glibc shows it to debuggers; 0: it is not glibc, or one
/// with blocks unlike those of all its versions so far.
uint32_t thread_data_offset(const ForeignProcess &process, const std::vector<MappedFile> &files) {
  for (const MappedFile &file : files) {
    // Before glibc 2.34 threads were a library of their own.
    if (!file.name().starts_with("libc.so.") && !file.name().starts_with("libc-2.") &&
        !file.name().starts_with("libpthread"))
      continue;
    const auto symbols = MappedSymbols::read(process, file);
    if (!symbols) continue;
    auto describe = [&](const char *name) {
      const auto symbol = symbols->find(name);
      return symbol ? process.read<Descriptor>(symbol->address).value_or(Descriptor{}) : Descriptor{};
    };
    const Descriptor blocks = describe("_thread_db_pthread_specific");
    const Descriptor entries = describe("_thread_db_pthread_key_data_level2_data");
    const Descriptor value = describe("_thread_db_pthread_key_data_data");
    if (blocks.offset && entries.bits == kEntryBytes * 8 && entries.count == kKeysInBlock && entries.offset == 0 &&
        value.offset == 8)
      return blocks.offset;
  }
  return 0;
}

/// Finds the key of the thread states in the `runtime_bytes` of _PyRuntime, at `hint` first: a thread of the interpreter must have
/// its own state there. Sets `thread_key` and `first_block` of `in`, whose `runtime` and `blocks` are set. False: no thread has.
bool find_thread_key(const ForeignProcess &process, const ThreadPlaces &places, uint32_t hint, size_t runtime_bytes,
                     gmt_python_interpreter &in) {
  const auto threads = threads_of(process, in.runtime, places);
  std::vector<char> runtime(std::min(runtime_bytes, kMostRuntimeBytes));
  if (!process.read(in.runtime, runtime.data(), runtime.size())) return false;
  auto try_at = [&](size_t at) {
    Key key;
    if (at + sizeof key > runtime.size()) return false;
    memcpy(&key, runtime.data() + at, sizeof key);
    if (key.created != 1 || key.key >= kMostKeys) return false;
    for (const Thread &thread : threads) {
      if (!has_state(process, thread, in.blocks, key.key)) continue;
      const auto first = process.read<uint64_t>(thread.pointer + in.blocks);
      if (!first || *first - thread.pointer >= kMostFirstBlock) continue;
      in.thread_key = static_cast<uint32_t>(at);
      in.first_block = static_cast<uint32_t>(*first - thread.pointer);
      return true;
    }
    return false;
  };
  if (try_at(hint)) return true;
  for (size_t at = 0; at + sizeof(Key) <= runtime.size(); at += 4)
    if (try_at(at)) return true;
  return false;
}

struct PythonVersion {
  uint32_t hex;  ///< PY_VERSION_HEX, 0 = not known
  bool exact;    ///< false: only the first two numbers are known
};

constexpr size_t kMostVariableBytes = 64u << 20;
constexpr uint32_t kFinal = 0xf0;

/// "libpython3.10.so.1.0", "python3.9d": 0x030a0000, 0x03090000; 0: no number in it.
uint32_t minor_of_name(const std::string &name) {
  const size_t at = name.find("python3.");
  if (at == std::string::npos) return 0;
  const char *digits = name.c_str() + at + strlen("python3.");
  if (!isdigit(static_cast<unsigned char>(*digits))) return 0;
  return 3u << 24 | python::parse_number(digits) << 16;
}

/// Bytes of the version that the text begins with, as Py_GetVersion has it: "3.10.13 (main, ..."; 0: it is none.
size_t version_bytes(const char *text, size_t bytes) {
  size_t at = 0;
  for (int number = 0; number < 3; number++) {
    const size_t begin = at;
    while (at < bytes && at - begin < 2 && isdigit(static_cast<unsigned char>(text[at]))) at++;
    if (at == begin) return 0;
    if (number < 2 && (at >= bytes || text[at++] != '.')) return 0;
  }
  while (at < bytes && at < 16 && (isalnum(static_cast<unsigned char>(text[at])) || text[at] == '+')) at++;
  return bytes - at >= 2 && text[at] == ' ' && text[at + 1] == '(' ? at : 0;
}

/// The text that Py_GetVersion gives lies in a variable of the library; `minor`: the version in the file's name, or 0.
uint32_t version_in(const std::vector<char> &variables, uint32_t minor) {
  const char *begin = variables.data(), *end = begin + variables.size();
  for (const char *at = begin; (at = static_cast<const char *>(memchr(at, '3', end - at))); at++) {
    if (!version_bytes(at, end - at)) continue;
    const uint32_t version = python::parse_version(at);
    if (version >> 24 == 3 && (!minor || version >> 16 == minor >> 16)) return version;
  }
  return 0;
}

/// As data (3.11 and later), else from the text that Py_GetVersion made at the start, else from the file's name.
PythonVersion python_version(const ForeignProcess &process, const MappedSymbols &symbols,
                             const std::string &file_name) {
  if (const auto data = symbols.find("Py_Version"))
    if (const auto version = process.read<uint64_t>(data->address)) return {static_cast<uint32_t>(*version), true};
  const uint32_t minor = minor_of_name(file_name);
  const auto section = symbols.section(".bss");
  std::vector<char> variables(section ? std::min<uint64_t>(section->bytes, kMostVariableBytes) : 0);
  if (!variables.empty() && process.read(section->address, variables.data(), variables.size()))
    if (const uint32_t version = version_in(variables, minor)) return {version, true};
  return {minor ? minor | kFinal : 0, false};
}

/// "3.9.18" of a PY_VERSION_HEX, with the letter and number of a pre-release.
std::string version_text(uint32_t version) {
  std::string text = std::to_string(version >> 24) + "." + std::to_string(version >> 16 & 0xff) + "." +
                     std::to_string(version >> 8 & 0xff);
  const uint32_t level = version >> 4 & 0xf;
  if (level != 0xf) text += (level == 0xa ? "a" : level == 0xb ? "b" : "rc") + std::to_string(version & 0xf);
  return text;
}

using python::Layout;

constexpr uint16_t kTypeBasicSize = 32;
constexpr uint64_t kMostMembers = 64;

PythonTarget refuse(uint32_t version, const std::string &because) {
  return {PythonSupport::kUnsupported, unsupported_sentence(version, because), version, {}};
}

PythonTarget not_yet(uint32_t version, const std::string &because) {
  return {PythonSupport::kNotYet, because, version, {}};
}

/// Where nothing of the process can be read, waiting does not help.
PythonTarget unreadable(uint32_t version) {
  if (errno == EPERM) return refuse(version, "the memory of the process may not be read");
  return not_yet(version, "the memory of the process cannot be read");
}

/// As in native/python/discover.cpp: whether PyCode_Type's own member table has co_filename and co_firstlineno where the layout has
/// them. A table that is not there yet (the dynamic linker has not relocated it) does not agree either.
bool code_type_agrees(const ForeignProcess &process, uint64_t code_type, uint64_t type_type, const Layout &layout) {
  struct Member {
    uint64_t name;
    int32_t type;
    int64_t offset;
    int32_t flags;
    uint64_t doc;
  };
  if (process.read<uint64_t>(code_type + GMT_PYTHON_OBJECT_TYPE) != type_type) return false;
  const uint64_t members = process.read<uint64_t>(code_type + python::kTypeMembers).value_or(0);
  unsigned agreed = 0;
  for (uint64_t i = 0; members && i < kMostMembers; i++) {
    const auto member = process.read<Member>(members + i * sizeof(Member));
    if (!member || !member->name) break;
    const std::string name = process.read_text(member->name, 32);
    if (name == "co_filename" && member->offset == layout.code_file) agreed |= 1;
    if (name == "co_firstlineno" && member->offset == layout.code_first_line) agreed |= 2;
  }
  return agreed == 3;
}

/// 3.9 and 3.10, which do not have their version as data, differ in the size of a frame.
bool frame_type_agrees(const ForeignProcess &process, const MappedSymbols &symbols, uint32_t version) {
  if (version >= 0x030b0000) return true;
  const auto frame_type = symbols.find("PyFrame_Type");
  const auto bytes = frame_type ? process.read<uint64_t>(frame_type->address + kTypeBasicSize) : std::nullopt;
  return bytes == (version >= 0x030a0000 ? 360u : 368u);
}

uint16_t up_to(std::initializer_list<uint16_t> offsets) {
  uint16_t most = 0;
  for (uint16_t offset : offsets)
    if (offset != GMT_PYTHON_NONE) most = std::max(most, offset);
  return static_cast<uint16_t>((most + 8 + 7) & ~7);
}

void fill(gmt_python_interpreter &in, const Layout &layout) {
  in.at = layout;
  // An owner is one byte, and behind the frame's fixed part there may be the end of the memory.
  const uint16_t owner = layout.frame_owner == GMT_PYTHON_NONE ? 0 : static_cast<uint16_t>(layout.frame_owner & ~7);
  in.frame_read = up_to({layout.frame_previous, layout.frame_code, layout.frame_position, owner});
  in.code_read = up_to({layout.code_counts, static_cast<uint16_t>(layout.code_counts + 8), layout.code_first_line,
                        layout.code_file, layout.code_name, layout.code_full_name, layout.code_line_table,
                        static_cast<uint16_t>(layout.code_version == GMT_PYTHON_NONE ? 0 : layout.code_version & ~7)});
}

bool fits(const gmt_python_interpreter &in) {
  return in.thread_read < GMT_PYTHON_THREAD_BYTES && in.frame_read < GMT_PYTHON_FRAME_BYTES &&
         in.code_read < GMT_PYTHON_CODE_BYTES;
}

PythonTarget examine(const ForeignProcess &process, const std::vector<MappedFile> &files, const MappedFile &file,
                     const MappedSymbols &symbols) {
  const auto [version, exact] = python_version(process, symbols, std::string(file.name()));
  if (version == 0 || (!exact && !python::table_of(version))) return not_yet(version, "its version is unknown");
  const auto runtime = symbols.find("_PyRuntime");
  const auto code_type = symbols.find("PyCode_Type"), type_type = symbols.find("PyType_Type");
  const bool described = version >= python::kFirstSelfDescribed && python::table_of(version);
  std::vector<char> description(described ? python::kDebugOffsetsBytes : 0);
  if (described && runtime && !process.read(runtime->address, description.data(), description.size()))
    return unreadable(version);
  Layout layout;
  const char *because = python::choose_layout(version, runtime ? description.data() : nullptr, layout);
  if (because) return refuse(version, because);
  if (!runtime || !code_type || !type_type) return refuse(version, python::kFewSymbols);
  if (!process.read<uint64_t>(runtime->address)) return unreadable(version);
  const ThreadPlaces places = thread_places(version, description);
  if (threads_of(process, runtime->address, places).empty())
    return not_yet(version, "the interpreter is not initialized yet");
  if (!code_type_agrees(process, code_type->address, type_type->address, layout) ||
      !frame_type_agrees(process, symbols, version))
    return refuse(version, "this build lays out its objects unlike the release builds");

  PythonTarget target;
  target.version = version;
  gmt_python_interpreter &in = target.interpreter;
  in.runtime = runtime->address;
  in.code_type = code_type->address;
  in.version = version;
  fill(in, layout);
  in.thread_id = places.thread_id;
  in.thread_read = up_to({layout.thread_frame, in.thread_id});
  if (!fits(in)) return refuse(version, python::kUndescribed);
  in.blocks = thread_data_offset(process, files);
  if (!in.blocks) return refuse(version, "its C library is not glibc, which the thread states are kept by");
  const size_t bytes = std::max<uint64_t>(runtime->bytes, layout.thread_key + 8u);
  if (!find_thread_key(process, places, layout.thread_key, bytes, in))
    return not_yet(version, "no thread of the interpreter has a state that could be found");
  target.support = PythonSupport::kReady;
  return target;
}

}  // namespace

std::string unsupported_sentence(uint32_t version, const std::string &because) {
  const std::string name = version ? version_text(version) : "of an unknown version";
  return "Python " + name + " is not supported (" + because + "): events have no Python lines";
}

PythonTarget find_python(pid_t pid) {
  const ForeignProcess process(pid);
  const auto files = process.mapped_files();
  for (size_t i = 0; i < files.size(); i++) {
    // The first one is the program.
    if (i != 0 && !files[i].name().starts_with("libpython")) continue;
    const auto symbols = MappedSymbols::read(process, files[i]);
    if (!symbols || !symbols->find("Py_GetVersion")) continue;
    if (!symbols->has_variables(files[i])) return not_yet(0, "its library is being loaded");
    return examine(process, files, files[i], *symbols);
  }
  return {};
}

}  // namespace gmt::uprobe
