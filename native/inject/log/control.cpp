// Switches of the recording, which the launcher, or a process of the trace, makes in the control word.
#include "inject/log/log.h"

namespace gmt::inject {

void follow_control(Thread &thread) {
  const uint32_t now = __atomic_load_n(&g_log.control->generation, __ATOMIC_ACQUIRE);  // before `recording`
  uint32_t seen = __atomic_load_n(&g_log.seen_control, __ATOMIC_RELAXED);
  if (now == seen ||
      !__atomic_compare_exchange_n(&g_log.seen_control, &seen, now, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
    return;
  const bool on = __atomic_load_n(&g_log.control->recording, __ATOMIC_RELAXED) != 0;
  // An odd distance is one switch; an even one is a stop and a start that no event saw in between.
  if (on && (now - seen) % 2 == 0) write_event(thread, GMT_RECORDING_STOP, GMT_DEVICE_NONE, 0, 0, 0);
  write_event(thread, on ? GMT_RECORDING_START : GMT_RECORDING_STOP, GMT_DEVICE_NONE, 0, 0, 0);
}

bool enter_slow(Thread &thread, uint32_t generation) {
  bool opened = false;
  bool on = generation != 0 || open_log(&opened);
  // Asleep, a process has its log from its first event on, and no thread but that one's needs more.
  if (on && asleep() && !opened) on = false;
  if (on && (generation == 0 || !has_chunk(thread, generation))) on = attach_thread(thread);
  if (on && g_log.control) {
    follow_control(thread);
    on = __atomic_load_n(&g_log.control->recording, __ATOMIC_RELAXED) != 0;
  }
  if (!on) leave(thread);
  return on;
}

bool wake_recording() {
  if (!g_log.can_wake) return false;
  auto *control = const_cast<gmt_control *>(g_log.control);
  uint32_t off = 0;
  if (!__atomic_compare_exchange_n(&control->recording, &off, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
    return false;
  __atomic_store_n(&control->start_step, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&control->start_reserved, 0, __ATOMIC_RELAXED);
  __atomic_fetch_add(&control->generation, 1, __ATOMIC_RELEASE);
  return true;
}

}  // namespace gmt::inject
