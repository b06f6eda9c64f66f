// A program with a profiler of its own, as Kineto is one in torch.profiler: it subscribes to CUPTI and prints each callback that
// it gets. `inject_profiler import|dlsym before|after SCENE`: by import slots or dlsym, before or after cuInit. Addresses go to
// stderr, so that stdout is the same with and without the tracer.
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

using Subscriber = void *;
using Callback = void (*)(void *, uint32_t, uint32_t, const void *);
extern "C" {
int cuptiSubscribe(Subscriber *, Callback, void *);
int cuptiUnsubscribe(Subscriber);
int cuptiEnableCallback(uint32_t, Subscriber, uint32_t, uint32_t);
int cuptiEnableDomain(uint32_t, Subscriber, uint32_t);
int cuptiGetCallbackState(uint32_t *, Subscriber, uint32_t, uint32_t);
int cuptiFinalize();
}

namespace {

/// The part of CUpti_CallbackData that is looked at.
struct Data {
  int site;
  const char *function_name;
  const void *params, *result;
  const char *symbol;
  void *context;
  uint32_t context_uid;
  uint64_t *correlation_data;
  uint32_t correlation_id;
};

constexpr uint32_t kDriver = 1, kResource = 3, kMemAlloc = 243, kMemFree = 245, kMemGetInfo = 242, kContextCreated = 1;

/// Calls go through import slots; a function's address in data would be fixed before the tracer comes without LD_PRELOAD.
struct Functions {
  int (*subscribe)(Subscriber *, Callback, void *) = [](Subscriber *out, Callback callback, void *user) {
    return cuptiSubscribe(out, callback, user);
  };
  int (*unsubscribe)(Subscriber) = [](Subscriber mine) { return cuptiUnsubscribe(mine); };
  int (*enable)(uint32_t, Subscriber, uint32_t, uint32_t) = [](uint32_t on, Subscriber mine, uint32_t domain,
                                                               uint32_t id) {
    return cuptiEnableCallback(on, mine, domain, id);
  };
  int (*enable_domain)(uint32_t, Subscriber, uint32_t) = [](uint32_t on, Subscriber mine, uint32_t domain) {
    return cuptiEnableDomain(on, mine, domain);
  };
  int (*state)(uint32_t *, Subscriber, uint32_t, uint32_t) = [](uint32_t *on, Subscriber mine, uint32_t domain,
                                                                uint32_t id) {
    return cuptiGetCallbackState(on, mine, domain, id);
  };
  int (*finalize)() = [] { return cuptiFinalize(); };
} cupti;

void *g_driver;
int g_user, g_other_user;
std::map<uint32_t, uint64_t> g_marks;  ///< what was put into correlation_data at a call's entry

void on_callback(void *user, uint32_t domain, uint32_t id, const void *data) {
  if (domain != kDriver) {
    std::printf("  callback user %d domain %u id %u\n", user == &g_user, domain, id);
    return;
  }
  const auto &call = *static_cast<const Data *>(data);
  std::printf("  callback user %d domain %u id %u site %d %s result %d", user == &g_user, domain, id, call.site,
              call.function_name, call.result ? *static_cast<const int *>(call.result) : -1);
  if (call.site == 0) {
    std::printf(" word %llu\n", static_cast<unsigned long long>(*call.correlation_data));
    *call.correlation_data = g_marks[call.correlation_id] = 1000 + g_marks.size();
  } else {
    std::printf(" word kept %d\n", *call.correlation_data == g_marks[call.correlation_id]);
  }
}
void on_other(void *, uint32_t, uint32_t, const void *) { std::printf("  callback of the second one\n"); }

template <class... Arguments>
int driver(const char *name, Arguments... arguments) {
  const auto function = reinterpret_cast<int (*)(Arguments...)>(dlsym(g_driver, name));
  if (!function) std::exit(3);
  return function(arguments...);
}

void use_cupti_by_dlsym() {
  void *library = dlopen("libcupti.so.13", RTLD_NOW);
  const auto find = [&](auto *slot, const char *name) {
    void *found = library ? dlsym(library, name) : nullptr;
    if (!found) std::exit(4);
    memcpy(slot, &found, sizeof found);
  };
  find(&cupti.subscribe, "cuptiSubscribe");
  find(&cupti.unsubscribe, "cuptiUnsubscribe");
  find(&cupti.enable, "cuptiEnableCallback");
  find(&cupti.enable_domain, "cuptiEnableDomain");
  find(&cupti.state, "cuptiGetCallbackState");
  find(&cupti.finalize, "cuptiFinalize");
}

void start_driver() {
  static void *context;
  std::printf("init %d\n", driver("cuInit", 0u));
  std::printf("retain %d\n", driver("cuDevicePrimaryCtxRetain", &context, 0));
  std::printf("current %d\n", driver("cuCtxSetCurrent", context));
}

/// An allocation, a question, a free and a free that fails.
void work(const char *when) {
  uint64_t address = 0;
  size_t free_bytes = 0, total = 0;
  std::printf("%s: allocate %d\n", when, driver("cuMemAlloc_v2", &address, static_cast<size_t>(1 << 20)));
  std::fprintf(stderr, "%llx\n", static_cast<unsigned long long>(address));
  std::printf("%s: info %d\n", when, driver("cuMemGetInfo_v2", &free_bytes, &total));
  std::printf("%s: free %d\n", when, driver("cuMemFree_v2", address));
  std::printf("%s: free again %d\n", when, driver("cuMemFree_v2", address));
}

Subscriber subscribe() {
  Subscriber mine = nullptr, second = nullptr;
  std::printf("subscribe %d\n", cupti.subscribe(&mine, on_callback, &g_user));
  std::printf("second %d\n", cupti.subscribe(&second, on_other, &g_other_user));
  return mine;
}

void tell_state(Subscriber mine, uint32_t domain, uint32_t id) {
  uint32_t on = 9;
  const int result = cupti.state(&on, mine, domain, id);
  std::printf("state of %u %u: %d %u\n", domain, id, result, on);
}

void single_callbacks(Subscriber mine) {
  std::printf("enable %d\n", cupti.enable(1, mine, kDriver, kMemAlloc));
  std::printf("enable %d\n", cupti.enable(1, mine, kDriver, kMemGetInfo));
  tell_state(mine, kDriver, kMemAlloc);
  tell_state(mine, kDriver, kMemFree);
  work("two on");
  std::printf("disable %d\n", cupti.enable(0, mine, kDriver, kMemAlloc));
  tell_state(mine, kDriver, kMemAlloc);
  work("one on");
  std::printf("no such one %d\n", cupti.enable(1, mine, kDriver, 1000000));
}

void whole_domains(Subscriber mine) {
  std::printf("domain %d\n", cupti.enable_domain(1, mine, kDriver));
  std::printf("domain %d\n", cupti.enable_domain(1, mine, kResource));
  work("all on");
  void *context = nullptr;
  std::printf("create %d\n", driver("cuCtxCreate_v2", &context, 0u, 0));
  std::printf("destroy %d\n", driver("cuCtxDestroy_v2", context));
  std::printf("disable %d\n", cupti.enable(0, mine, kDriver, kMemFree));
  work("all but free on");
  std::printf("domain off %d\n", cupti.enable_domain(0, mine, kDriver));
  tell_state(mine, kDriver, kMemAlloc);
  work("off");
  std::printf("no such domain %d %d\n", cupti.enable_domain(1, mine, 0), cupti.enable_domain(0, mine, 0));
}

void ends(Subscriber mine, bool finalize) {
  single_callbacks(mine);
  if (finalize)
    std::printf("finalize %d\n", cupti.finalize());
  else
    std::printf("unsubscribe %d\n", cupti.unsubscribe(mine));
  work("after it");
  std::printf("unsubscribe again %d\n", cupti.unsubscribe(mine));
  std::printf("enable an ended one %d %d\n", cupti.enable(0, mine, kDriver, kMemAlloc),
              cupti.enable_domain(0, mine, kDriver));
  tell_state(mine, kDriver, kMemAlloc);
  work("after that");
  Subscriber again = nullptr;
  std::printf("subscribe again %d\n", cupti.subscribe(&again, on_callback, &g_user));
  std::printf("enable %d\n", cupti.enable(1, again, kDriver, kMemFree));
  work("again");
  std::printf("unsubscribe %d\n", cupti.unsubscribe(again));
  std::printf("finalize %d\n", cupti.finalize());
  work("at the end");
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  const char *scene = argv[3];
  g_driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (!g_driver) return 3;
  const bool before = strcmp(argv[2], "before") == 0;
  if (!before) {
    start_driver();
    work("alone");
  }
  if (strcmp(argv[1], "dlsym") == 0) use_cupti_by_dlsym();
  const Subscriber mine = subscribe();
  if (before) start_driver();
  if (strcmp(scene, "single") == 0) single_callbacks(mine);
  if (strcmp(scene, "domain") == 0) whole_domains(mine);
  if (strcmp(scene, "unsubscribe") == 0) ends(mine, false);
  if (strcmp(scene, "finalize") == 0) ends(mine, true);
  return 0;
}
