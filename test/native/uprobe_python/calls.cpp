// Calls the probed function in a loop, for Python tests to call through ctypes.
#include <pthread.h>
#include <stddef.h>
#include <time.h>

#define EXPORT extern "C" __attribute__((visibility("default")))

/// Never returns.
EXPORT void call_forever(int (*function)(void *, size_t), size_t number) {
  for (;;) {
    function(nullptr, number);
    const timespec pause = {0, 20000};
    nanosleep(&pause, nullptr);
  }
}

EXPORT void call_many(int (*function)(void *, size_t), size_t number, size_t count) {
  for (size_t i = 0; i < count; i++) function(nullptr, number);
}

/// Runs the callback on a new native thread, so that no Python frame is below it, and waits for it.
EXPORT void call_on_thread(void (*callback)()) {
  pthread_t thread;
  auto run = [](void *data) -> void * {
    reinterpret_cast<void (*)()>(data)();
    return nullptr;
  };
  if (pthread_create(&thread, nullptr, run, reinterpret_cast<void *>(callback)) == 0) pthread_join(thread, nullptr);
}

/// One call while `*place` has another value.
EXPORT void call_with(size_t *place, size_t value, int (*function)(void *, size_t), size_t number) {
  const size_t before = *place;
  *place = value;
  function(nullptr, number);
  *place = before;
}
