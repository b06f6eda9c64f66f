#include "inject/log/chunk_supply.h"

#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inject/hooks/elf.h"
#include "inject/log/log.h"

namespace gmt::inject {
namespace {

gmt_chunk_header *g_ready[4];
gmt_chunk_header *g_retired[16];
gmt_chunk_header *(*g_make)();
uint32_t g_demand;   ///< futex: rises with each chunk taken or retired
uint32_t g_started;  ///< 0 = no, 1 = the thread runs or could not be made

/// False: there is no empty place.
template <size_t Count>
bool put_chunk(gmt_chunk_header *(&places)[Count], gmt_chunk_header *chunk) {
  for (auto &place : places) {
    gmt_chunk_header *empty = nullptr;
    if (__atomic_compare_exchange_n(&place, &empty, chunk, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) return true;
  }
  return false;
}

/// Null: there is none.
template <size_t Count>
gmt_chunk_header *pop_chunk(gmt_chunk_header *(&places)[Count]) {
  for (auto &place : places) {
    if (!__atomic_load_n(&place, __ATOMIC_RELAXED)) continue;
    if (gmt_chunk_header *chunk = __atomic_exchange_n(&place, nullptr, __ATOMIC_ACQUIRE)) return chunk;
  }
  return nullptr;
}

void wake() {
  __atomic_fetch_add(&g_demand, 1, __ATOMIC_RELEASE);
  syscall(SYS_futex, &g_demand, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

/// Fills the empty places; if there is no room, the next chunk taken tries again.
void restock() {
  for (auto &place : g_ready) {
    if (__atomic_load_n(&place, __ATOMIC_RELAXED)) continue;
    gmt_chunk_header *chunk = g_make();
    if (!chunk) return;
    __atomic_store_n(&place, chunk, __ATOMIC_RELEASE);  // no other thread fills places
  }
}

void *supply(void *) {
  begin_writing(t_thread);  // nothing that this thread does is the program's
  prctl(PR_SET_NAME, "gpu-memtrace", 0, 0, 0);
  for (;;) {
    const uint32_t seen = __atomic_load_n(&g_demand, __ATOMIC_ACQUIRE);
    while (gmt_chunk_header *old = pop_chunk(g_retired)) munmap(old, GMT_CHUNK_BYTES);
    restock();
    syscall(SYS_futex, &g_demand, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
  }
}

}  // namespace

gmt_chunk_header *supply_take() {
  gmt_chunk_header *chunk = pop_chunk(g_ready);
  if (chunk) wake();
  return chunk;
}

void supply_retire(gmt_chunk_header *chunk) {
  if (__atomic_load_n(&g_started, __ATOMIC_RELAXED) && put_chunk(g_retired, chunk)) return;  // the next take wakes
  munmap(chunk, GMT_CHUNK_BYTES);
}

bool start_own_thread(void *(*run)(void *), void *argument) {
  // Looked up: before glibc 2.34 it is in a library that this one must not bring in.
  int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  int (*detach)(pthread_t);
  if (!resolve(RTLD_DEFAULT, &create, "pthread_create") || !resolve(RTLD_DEFAULT, &detach, "pthread_detach"))
    return false;
  sigset_t all, before;
  sigfillset(&all);
  if (sigprocmask(SIG_SETMASK, &all, &before) != 0) return false;
  pthread_t thread;
  const bool made = create(&thread, nullptr, run, argument) == 0;
  if (made) detach(thread);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  return made;
}

void supply_start(gmt_chunk_header *(*make)()) {
  if (__atomic_load_n(&g_started, __ATOMIC_RELAXED) || __atomic_exchange_n(&g_started, 1, __ATOMIC_ACQ_REL)) return;
  g_make = make;
  start_own_thread(supply, nullptr);
}

void supply_forget() {
  for (auto &place : g_ready) place = nullptr;
  for (auto &place : g_retired) place = nullptr;
  g_started = 0;
}

}  // namespace gmt::inject
