// Finds the interpreter and decides whether its layout is known.
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "python/code_deaths.h"
#include "python/interpreter.h"
#include "python/symbols.h"
#include "python/versions.h"
#include "wire/taken.h"

namespace gmt::python {

// Beside what else each event reads (inject/log/log.h).
[[gnu::section(".gmt_hot_state")]] constinit Interpreter interpreter = {};
[[gnu::section(".gmt_hot_state")]] constinit const uintptr_t *finalizing_word = nullptr;

namespace {

constexpr size_t kReasonBytes = 200;
constexpr int kPatienceRounds = 1000;
constexpr long kPatienceNs = 50'000;

struct Search {
  std::atomic<Support> answer;
  uint32_t busy;   ///< taken by the thread that looks
  bool searched;   ///< `seen` is set
  LoadCount seen;  ///< libraries at the time of the last search, which found no Python
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

Support refuse(const char *version, const char *because) {
  int length = static_cast<int>(strcspn(version, " "));
  snprintf(search.reason, kReasonBytes, "Python %.*s is not supported (%s): events have no Python lines", length,
           version, because);
  return Support::kUnsupported;
}

/// Whether PyCode_Type's own member table has co_filename and co_firstlineno where `layout` has them. A build with
/// other object headers (Py_TRACE_REFS, Py_GIL_DISABLED) already differs in the place of its type.
bool code_type_agrees(const void *code_type, const void *type_type, const Layout &layout) {
  if (load<const void *>(code_type, GMT_PYTHON_OBJECT_TYPE) != type_type) return false;
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

Support adopt(const Symbol (&found)[kWantedCount]) {
  auto version_text = reinterpret_cast<const char *(*)()>(found[kVersionText].address)();
  uint32_t version = found[kVersionData].address
                         ? static_cast<uint32_t>(load<unsigned long>(found[kVersionData].address, 0))
                         : parse_version(version_text);
  interpreter.version = version;
  auto *runtime = static_cast<const char *>(found[kRuntime].address);
  Layout layout;
  if (const char *because = choose_layout(version, runtime, layout)) return refuse(version_text, because);
  if (!runtime || !found[kCodeType].address || !found[kTypeType].address || !found[kThreadState].address ||
      !found[kSpecific].address)
    return refuse(version_text, kFewSymbols);
  if (!code_type_agrees(found[kCodeType].address, found[kTypeType].address, layout))
    return refuse(version_text, "this build lays out its objects unlike the release builds");
  if (!watch_code_deaths(found[kCodeType].address)) return refuse(version_text, "code objects that end are not seen");

  interpreter.runtime = runtime;
  interpreter.code_type = found[kCodeType].address;
  interpreter.thread_state = reinterpret_cast<void *(*)()>(found[kThreadState].address);
  interpreter.specific = reinterpret_cast<void *(*)(unsigned)>(found[kSpecific].address);
  interpreter.layout = layout;
  choose_walk(interpreter);
  __atomic_store_n(&finalizing_word, reinterpret_cast<const uintptr_t *>(runtime + layout.finalizing),
                   __ATOMIC_RELEASE);
  interpreter.ready.store(true, std::memory_order_release);
  return Support::kReady;
}

Support find_interpreter() {
  LoadCount now = load_count();
  if (search.searched && search.seen == now) return Support::kNoPython;
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
    search.searched = true;
    return Support::kNoPython;
  }
  if (!reinterpret_cast<int (*)()>(found[kIsInitialized].address)()) return Support::kNoPython;
  return adopt(found);
}

/// Another thread looks, which takes a millisecond: an event without a stack would be worse. No longer, since the
/// calling thread may hold the loader's lock, for which that other one waits.
Support wait_for_answer() {
  for (int round = 0; round < kPatienceRounds; round++) {
    const timespec pause = {0, kPatienceNs};
    nanosleep(&pause, nullptr);
    if (!gmt_is_taken(&search.busy)) break;
  }
  return search.answer.load(std::memory_order_acquire);
}

}  // namespace

/// The interpreter's own word, for versions whose memory is not read.
bool can_check_finalizing() {
  if (unsupported_reason()[0] == 0) return false;
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
  if (!gmt_take(&search.busy)) return wait_for_answer();
  answer = search.answer.load(std::memory_order_acquire);
  if (answer == Support::kNoPython) answer = find_interpreter();
  search.answer.store(answer, std::memory_order_release);
  gmt_give(&search.busy);
  return answer;
}

const char *unsupported_reason() {
  return search.answer.load(std::memory_order_acquire) == Support::kUnsupported ? search.reason : "";
}

uint32_t version_hex() {
  return search.answer.load(std::memory_order_acquire) == Support::kNoPython ? 0 : interpreter.version;
}

}  // namespace gmt::python
