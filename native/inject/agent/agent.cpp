#include "inject/agent/agent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "inject/agent/allocator.h"
#include "inject/agent/api.h"
#include "inject/agent/arrays.h"
#include "inject/agent/python.h"
#include "inject/agent/records.h"
#include "inject/agent/turn_offer.h"
#include "inject/hooks/elf.h"
#include "inject/log/chunk_supply.h"
#include "inject/log/stacks.h"
#include "wire/process_start.h"

namespace gmt::inject {
namespace {

constexpr uint64_t kTick = 500'000'000, kGlance = 50'000'000, kWaitingTick = 20'000'000, kPatience = 300'000'000;  // ns
constexpr uint32_t kTries = 240;  // ticks: two minutes

uint32_t g_running;  ///< generation of the log whose thread runs; 0 = none
uint32_t g_wake;     ///< futex of the tracer's thread: rises with each turn that is offered
TurnOffer g_offer;
uint32_t g_pending;  ///< the main thread has been pending for its turn
uint32_t g_moment;   ///< ... and for a moment to request_turn the allocator in
uint64_t g_next_step = ~0ull;
uint32_t g_ended;  ///< the interpreter ends: from here on this thread takes the GIL only while another waits for it
bool g_installed;
uint64_t g_newest, g_newest_cpu_ns;  ///< memory_events() as the tracer's thread saw it last, and main_cpu_ns() then

/// What only the tracer's thread uses.
struct Work {
  uint32_t generation;
  uint64_t pending_since;    ///< ns; when the main thread was pending, 0 = not
  uint64_t tick_at;          ///< ns; until then only requests are looked for
  bool refused;              ///< no agent in this interpreter
  bool due;                  ///< the agent has something to do
  uint32_t tries;            ///< turns in which the agent still waited for a part of PyTorch
  unsigned long long added;  ///< libraries_added() at the last turn for their sake
  Request request;
};

/// A generation as the argument of what is called with one.
void *pointer_of(uint32_t generation) { return reinterpret_cast<void *>(static_cast<uintptr_t>(generation)); }
uint32_t number_in(void *argument) { return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(argument)); }

/// Processor time of the main thread, ns: what waits, for a person or for a request, uses none.
uint64_t main_cpu_ns() {
  constexpr int kSchedulerClock = 6;  // CPUCLOCK_PERTHREAD_MASK | CPUCLOCK_SCHED of the kernel's posix-timers.h
  return clock_ns(static_cast<clockid_t>(~static_cast<unsigned>(getpid()) << 3 | kSchedulerClock));
}

/// Notes when an event came last, as the main thread's time goes.
void note_newest_event() {
  if (!log_generation()) return;
  const uint64_t newest = memory_events();
  if (newest == __atomic_load_n(&g_newest, __ATOMIC_RELAXED)) return;
  __atomic_store_n(&g_newest_cpu_ns, main_cpu_ns(), __ATOMIC_RELAXED);
  __atomic_store_n(&g_newest, newest, __ATOMIC_RELEASE);
}

/// Since the newest event; 0 where that came just now.
uint64_t busy_ns() {
  if (!log_generation() || memory_events() != __atomic_load_n(&g_newest, __ATOMIC_ACQUIRE)) return 0;
  return main_cpu_ns() - __atomic_load_n(&g_newest_cpu_ns, __ATOMIC_RELAXED);
}

/// The agent's turn, with the GIL.
void install_and_run(Work &work, Turn turn, uint64_t step) {
  work.due = false;
  work.pending_since = 0;
  if (!g_installed) {
    if (!library_imported()) return;
    if (!install_agent()) {
      work.refused = true;
      return;
    }
    g_installed = true;
  }
  if (!work.request.text()) next_request(work.request);
  bool again = false;
  const uint64_t next = run_turn(turn, step, work.request.text(), &again);
  __atomic_store_n(&g_next_step, next, __ATOMIC_RELAXED);
  work.tries = again ? work.tries + 1 : kTries;
  work.request.release();
}

/// The interpreter runs, and is not about to end.
bool python_alive() {
  return !__atomic_load_n(&g_ended, __ATOMIC_ACQUIRE) && g_api->is_initialized() && !python::finalizing();
}

/// Takes the GIL for this thread, which has no thread state of its own but for now.
void with_python(Work &work, Turn turn, uint64_t step) {
  if (!python_api()) return;
  const int state = g_api->ensure();
  void *thread = g_api->thread_state();
  const bool hides = g_api->enter_tracing && g_api->leave_tracing;
  if (hides) g_api->enter_tracing(thread);
  install_and_run(work, turn, step);
  if (hides) g_api->leave_tracing(thread);
  g_api->release(state);
}

bool run_offered_turn(Work &work) {
  uint64_t step = 0;
  const uint32_t turn = g_offer.take(&step);
  if (!turn) return false;
  with_python(work, static_cast<Turn>(turn), step);
  g_offer.end();
  return true;
}

/// Runs on the main thread between two instructions of Python, with the GIL.
int on_pending(void *generation) {
  if (number_in(generation) != log_generation()) return 0;  // a forked child has its parent's pending calls
  __atomic_store_n(&g_pending, 0, __ATOMIC_RELAXED);
  offer_turn(Turn::kAsked, 0);
  return 0;
}

/// Whether the agent has something to do: a request, a look at arrays, its start once a library came (PyTorch's may be among them), a
/// part of a library that it waits for.
bool has_work(Work &work) {
  if (work.due || work.refused) return !work.refused;
  const unsigned long long added = libraries_added();
  work.due = work.added != added;
  work.added = added;
  if (g_installed) {
    next_request(work.request);
    work.due |= work.request.text() || work.tries < kTries || recording_woke() || look_due() || pools_due();
  }
  return work.due;
}

/// Up to 3.12 the main thread runs its pending calls only when it gives up the GIL, where another thread pending it to take one.
void interrupt_main_thread() {
  if (python_alive()) g_api->release(g_api->ensure());
}

/// Has the main thread call `function` once, which clears `pending` then. False: it has been pending.
bool call_on_main(uint32_t generation, uint32_t *pending, int (*function)(void *)) {
  if (__atomic_exchange_n(pending, 1, __ATOMIC_RELAXED)) return false;
  if (g_api->add_pending_call(function, pointer_of(generation)) != 0) __atomic_store_n(pending, 0, __ATOMIC_RELAXED);
  return true;
}

int on_moment(void *generation) {
  if (number_in(generation) != log_generation()) return 0;
  __atomic_store_n(&g_moment, 0, __ATOMIC_RELAXED);
  if (!python_api() || !python_alive()) return 0;
  const KeptErrno kept;
  read_allocator_without_steps();
  return 0;
}

/// A program without steps is pending for a moment of its main thread, now and then.
void request_moment(uint32_t generation) {
  if (!g_installed || !allocator_due() || !python_alive()) return;
  if (call_on_main(generation, &g_moment, on_moment)) interrupt_main_thread();
}

/// The main thread waits in the kernel: it is not in the midst of ending the interpreter.
bool main_thread_sleeps() {
  char path[64], text[4096];
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", static_cast<int>(getpid()));
  const char *fields = gmt_stat_fields(path, text);
  return fields && fields[2] == 'S';
}

/// Asks the main thread for its turn; where that sleeps in C (joins another thread, say), the GIL is taken without it.
void request_turn(Work &work) {
  if (!python_alive()) return;  // pending calls go with the interpreter, and asking for one would end the program
  const uint64_t now = clock_ns(CLOCK_MONOTONIC);
  if (!work.pending_since) work.pending_since = now;
  if (call_on_main(work.generation, &g_pending, on_pending)) {
    interrupt_main_thread();
  } else if (now - work.pending_since > kPatience && main_thread_sleeps()) {
    with_python(work, Turn::kAsked, 0);
  }
}

/// What there is to do when no turn was offered. Gives how long to wait.
uint64_t find_work(Work &work) {
  note_newest_event();
  const uint64_t now = clock_ns(CLOCK_MONOTONIC);
  if (g_installed && !work.due) {
    // A program of a few seconds is over soon after a question.
    next_request(work.request);
    // What was compiled is known best before its backward pass is.
    work.due = work.request.text() || look_due() || met_compiled_code();
    if (!work.due && now < work.tick_at) return kGlance;
  }
  work.tick_at = now + kTick;
  sample_memory();
  const python::Support support = work.refused ? python::Support::kUnsupported : python::discover();
  work.refused = support == python::Support::kUnsupported;  // the log says so already
  const bool ready = support == python::Support::kReady && python_api();
  if (ready) request_moment(work.generation);
  if (!ready || !has_work(work)) return g_installed ? kGlance : kTick;
  request_turn(work);
  return kWaitingTick;
}

void *agent_main(void *generation) {
  Work work{};
  work.generation = number_in(generation);
  prctl(PR_SET_NAME, "gpu-memtrace", 0, 0, 0);
  for (;;) {
    const uint32_t seen = __atomic_load_n(&g_wake, __ATOMIC_ACQUIRE);
    if (run_offered_turn(work)) continue;
    const uint64_t wait = find_work(work);
    futex_wait(&g_wake, seen, wait);
  }
}

}  // namespace

bool agent_runs() {
  const uint32_t generation = log_generation();
  return generation && __atomic_load_n(&g_running, __ATOMIC_ACQUIRE) == generation;
}

uint64_t next_turn_step() { return __atomic_load_n(&g_next_step, __ATOMIC_RELAXED); }

bool offer_turn(Turn turn, uint64_t step) {
  constexpr uint64_t kLong = 10'000'000'000;  // ns
  if (!python_api() || !agent_runs()) return false;
  // Once the interpreter ends, it ends each other thread that takes the GIL: this one would wait for ever.
  if (turn != Turn::kExit && !python_alive()) return false;
  const auto offer = static_cast<uint32_t>(turn);
  if (!g_offer.make(offer, step)) return false;
  const KeptErrno kept;
  void *state = g_api->save_thread();
  __atomic_fetch_add(&g_wake, 1, __ATOMIC_RELEASE);
  futex_wake(&g_wake);
  g_offer.wait(offer, kLong, [] { return clock_ns(CLOCK_MONOTONIC); });
  g_api->restore_thread(state);
  return true;
}

void end_agent() {
  write_python_ending(busy_ns());
  __atomic_store_n(&g_ended, 1, __ATOMIC_RELEASE);
  for (int i = 0; i < 1000 && agent_runs() && !offer_turn(Turn::kExit, 0); i++) {
    void *state = g_api->save_thread();
    usleep(1000);
    g_api->restore_thread(state);
  }
}

void start_agent(Thread &thread) {
  const char *setting = getenv("GPU_MEMTRACE_AGENT");
  if (setting && strcmp(setting, "0") == 0)
    return write_note(thread, GMT_NOTE_AGENT, "The thread gpu-memtrace is turned off (GPU_MEMTRACE_AGENT=0).");
  const uint32_t generation = log_generation();
  // After a fork the parent's thread and what it was about to do are not here.
  g_offer.reset();
  g_pending = 0;
  g_moment = 0;
  g_ended = 0;
  forget_memory();
  forget_allocator();
  __atomic_store_n(&g_running, generation, __ATOMIC_RELEASE);
  if (!start_own_thread(agent_main, pointer_of(generation))) {
    g_running = 0;
    return;
  }
  // The thread would request_turn at once; from the main thread itself it needs no GIL.
  if (getpid() == syscall(SYS_gettid) && python_api() && python::discover() == python::Support::kReady)
    call_on_main(generation, &g_pending, on_pending);
}

}  // namespace gmt::inject
