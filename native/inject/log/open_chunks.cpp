#include "inject/log/open_chunks.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace gmt::inject {
namespace {

constexpr uint32_t kPlaces = 256;
struct Place {
  uint32_t locked;
  Thread *owner;            ///< null: no thread writes there
  gmt_chunk_header *chunk;  ///< left by an ended thread; null: there is none, or it is the owner's
  uint32_t next;            ///< slot of it
};
Place g_places[kPlaces];
uint32_t g_hand;  ///< where the next search begins
uint32_t g_left;  ///< chunks that lie in places

bool lock(Place &place) { return __atomic_exchange_n(&place.locked, 1, __ATOMIC_ACQUIRE) == 0; }
void unlock(Place &place) { __atomic_store_n(&place.locked, 0, __ATOMIC_RELEASE); }

/// Each other thread of the process comes to a full barrier before this returns. False: the kernel cannot.
bool barrier_everywhere() {
  const auto call = [](int command) { return syscall(SYS_membarrier, command, 0, 0) == 0; };
  if (call(MEMBARRIER_CMD_PRIVATE_EXPEDITED)) return true;
  return errno == EPERM && call(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) && call(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}

bool is_left(Place &place) { return !place.owner && place.chunk; }
bool is_free(Place &place) { return !place.owner; }

/// `enter` stores `busy` and then reads `generation`; here it is the other way round, with a barrier on both sides. So either the owner
/// is seen writing, or it sees that it has no chunk any more.
bool is_idle(Place &place) {
  Thread &owner = *place.owner;
  const uint32_t generation = __atomic_load_n(&owner.generation, __ATOMIC_RELAXED);
  if (generation == 0) return false;  // it is just getting its chunk
  __atomic_store_n(&owner.generation, 0, __ATOMIC_RELAXED);
  if (!barrier_everywhere() || __atomic_load_n(&owner.busy, __ATOMIC_ACQUIRE)) {
    __atomic_store_n(&owner.generation, generation, __ATOMIC_RELAXED);
    return false;
  }
  place.chunk = owner.chunk;
  place.next = owner.next;
  owner.chunk = nullptr;
  __atomic_store_n(&owner.place, 0, __ATOMIC_RELEASE);
  return true;
}

bool take(Thread &thread, uint32_t places, bool stays, bool (*fits)(Place &)) {
  const uint32_t begin = __atomic_fetch_add(&g_hand, 1, __ATOMIC_RELAXED);
  for (uint32_t i = 0; i < places; i++) {
    const uint32_t at = (begin + i) % places;
    Place &place = g_places[at];
    if (!lock(place)) continue;
    const bool taken = fits(place);
    if (taken) {
      if (!place.owner && place.chunk) __atomic_fetch_sub(&g_left, 1, __ATOMIC_RELAXED);
      thread.chunk = place.chunk;
      thread.next = place.next;
      place.owner = stays ? &thread : nullptr;
      place.chunk = nullptr;
      __atomic_store_n(&thread.place, stays ? at + 1 : 0, __ATOMIC_RELAXED);
    }
    unlock(place);
    if (taken) return true;
  }
  return false;
}

/// The place of this thread, locked; null: it has none.
Place *lock_own(Thread &thread) {
  while (const uint32_t number = __atomic_load_n(&thread.place, __ATOMIC_ACQUIRE)) {
    Place &place = g_places[number - 1];
    if (!lock(place)) {
      const timespec moment{0, 20'000};
      nanosleep(&moment, nullptr);
      continue;
    }
    if (__atomic_load_n(&thread.place, __ATOMIC_RELAXED) == number) return &place;
    unlock(place);
  }
  return nullptr;
}

}  // namespace

bool take_place(Thread &thread, uint32_t places, bool stays) {
  if (places > kPlaces) places = kPlaces;
  if (__atomic_load_n(&g_left, __ATOMIC_RELAXED) && take(thread, places, stays, is_left)) return true;
  return stays && (take(thread, places, stays, is_free) || take(thread, places, stays, is_idle));
}

bool keeps_place(Thread &thread) {
  Place *place = lock_own(thread);
  if (place) unlock(*place);
  return place != nullptr;
}

void leave_place(Thread &thread, bool with_chunk) {
  Place *place = lock_own(thread);
  if (!place) return;
  place->owner = nullptr;
  if (with_chunk) {
    place->chunk = thread.chunk;
    place->next = thread.next;
    thread.chunk = nullptr;
    __atomic_fetch_add(&g_left, 1, __ATOMIC_RELAXED);
  }
  thread.place = 0;
  unlock(*place);
}

void open_chunks_forget() {
  for (Place &place : g_places) place = {};
  g_left = 0;
}

}  // namespace gmt::inject
