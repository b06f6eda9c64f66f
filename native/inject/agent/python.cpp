#include "inject/agent/python.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <type_traits>
#include <utility>

#include "inject/agent/allocator.h"
#include "inject/agent/arrays.h"
#include "inject/agent/frames.h"
#include "inject/agent/gradients.h"
#include "inject/agent/records.h"
#include "inject/agent/search.h"
#include "inject/agent/steps.h"
#include "inject/agent/workspaces.h"
#include "inject/agent_sources.h"
#include "inject/hooks/nvtx.h"
#include "python/frames.h"

namespace gmt::inject {

const PythonApi *g_api;

Py *none() {
  g_api->hold(g_api->none);
  return g_api->none;
}

uint64_t number_of(Py *value) {
  const uint64_t number = g_api->as_number(value);
  if (number == ~0ull) g_api->error_clear();
  return number;
}

namespace {

Py *g_turn;  ///< the agent's function `turn`
Steps g_steps;
uint32_t g_steps_generation;  ///< of the log that g_steps counts for

Py *or_none(Py *found) {
  if (found) return found;
  g_api->error_clear();
  return none();
}

/// UTF-8 of a str; `at` is null where it is none (or holds a lone surrogate).
struct Text {
  const char *at;
  uint32_t bytes;
};

Text text_of(Py *value) {
  ssize_t bytes = 0;
  const char *text = g_api->text_bytes(value, &bytes);
  if (!text) g_api->error_clear();
  return {text, static_cast<uint32_t>(bytes)};
}

/// What Python calls: `Function` with its `Count` arguments. Where that fails or gives nothing, and with others, the call gives None.
template <auto Function, ssize_t Count>
Py *taking(Py *, Py *const *arguments, ssize_t count) {
  if (count != Count) return none();
  if constexpr (!std::is_void_v<decltype(Function(arguments))>) return or_none(Function(arguments));
  Function(arguments);
  return none();
}

bool g_own_steps;  ///< the program tells its steps itself

/// With the GIL held. `who` has stepped: an optimizer, or the program.
void step_done(const void *who) {
  const uint32_t generation = log_generation();
  if (!generation) return;
  const int saved = errno;
  if (g_steps_generation != generation) {  // a forked child counts from 1
    g_steps.restart();
    g_steps_generation = generation;
    write_agent_note(GMT_NOTE_STEPS, g_own_steps ? "program" : "optimizer");
  }
  if (const uint64_t number = g_steps.stepped(who)) {
    if (!asleep()) {
      ask_allocator_at_step();
      write_step(number);
      if (number >= next_turn_step()) offer_turn(Turn::kStep, number);
    } else if (wakes(g_log.control->start_step, number)) {
      offer_turn(Turn::kStep, number);
    }
  }
  errno = saved;
}

/// Called by the optimizer hook with the optimizer.
Py *on_step(Py *, Py *const *arguments, ssize_t count) {
  if (count >= 1 && !g_own_steps) step_done(arguments[0]);
  return none();
}

/// An entry of gc.callbacks: (phase, info).
void on_collection(Py *const *arguments) {
  if (!log_generation()) return;
  const int saved = errno;
  const bool begins = text_of(arguments[0]).bytes == 5;  // "start", else "stop"
  Py *value = g_api->dict_get(arguments[1], begins ? "generation" : "collected");
  write_collection(begins, value ? number_of(value) : 0);
  errno = saved;
}

void on_exit(Py *const *) { end_agent(); }

/// (address, device, category, text)
void name(Py *const *arguments) {
  const Text text = text_of(arguments[3]);
  if (text.at)
    write_name(number_of(arguments[0]), static_cast<uint8_t>(number_of(arguments[1])),
               static_cast<uint8_t>(number_of(arguments[2])), text.at, text.bytes);
}

/// (id of a module, its path)
void module(Py *const *arguments) {
  const Text text = text_of(arguments[1]);
  if (text.at) write_module(number_of(arguments[0]), text.at, text.bytes);
}

/// (name of the range that begins), empty: the innermost one ends
void range(Py *const *arguments) {
  const Text text = text_of(arguments[0]);
  if (text.at) text.bytes > 0 ? push_range(text.at) : pop_range();
}

/// (`torch._C._cuda_memoryStats`)
void allocator(Py *const *arguments) { watch_allocator(*g_api, arguments[0]); }

/// (address, device, the newest event's sequence when it was looked, bytes asked, stream, the pool's two numbers); what is not known
/// is negative
void block(Py *const *arguments) {
  gmt_block block{};
  block.address = number_of(arguments[0]);
  block.device = static_cast<uint32_t>(number_of(arguments[1]));
  block.sequence = number_of(arguments[2]);
  block.asked_bytes = number_of(arguments[3]);
  block.stream = number_of(arguments[4]);
  block.pool_owner = number_of(arguments[5]);
  block.pool_number = number_of(arguments[6]);
  write_block(block);
}

/// (): a number that is not 0 while recording is off
Py *is_asleep(Py *const *) { return g_api->number(log_generation() && asleep()); }

/// (): a number that is not 0 once each time that recording has been switched on
Py *has_woken(Py *const *) { return g_api->number(take_waking()); }

/// Hands the numbers of a list to `write(numbers, count)`.
template <class Write>
void with_numbers(Py *list, Write write) {
  const ssize_t count = g_api->list_size(list);
  if (count < 0) return g_api->error_clear();
  const size_t room = static_cast<size_t>(count) * sizeof(uint64_t) + 1;
  void *at = mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return count_loss(GMT_LOST_RECORD_SIZE);
  auto *numbers = static_cast<uint64_t *>(at);
  for (ssize_t i = 0; i < count; i++) numbers[i] = number_of(g_api->list_item(list, i));
  write(numbers, static_cast<size_t>(count));
  munmap(at, room);
}

/// (the newest event's sequence before it was looked, the pool's two numbers, device, enum gmt_pool_kind, how many have it, the path
/// of one, [address of a segment])
void pool(Py *const *arguments) {
  const Text text = text_of(arguments[6]);
  if (!text.at) return;
  gmt_pool about{};
  about.sequence = number_of(arguments[0]);
  about.owner = number_of(arguments[1]);
  about.number = number_of(arguments[2]);
  about.device = static_cast<uint32_t>(number_of(arguments[3]));
  about.kind = static_cast<uint32_t>(number_of(arguments[4]));
  about.makers = static_cast<uint32_t>(number_of(arguments[5]));
  about.text_bytes = text.bytes;
  with_numbers(arguments[7], [&](uint64_t *addresses, size_t each) { write_pool(about, text.at, addresses, each); });
}

/// (line, text as gmt_generated has it)
void generated(Py *const *arguments) {
  const Text text = text_of(arguments[1]);
  if (text.at) write_generated(static_cast<uint32_t>(number_of(arguments[0])), text.at, text.bytes);
}

/// (milliseconds): pools were looked at, which took so long
void looked_at_pools(Py *const *arguments) { pools_looked_at(number_of(arguments[0])); }

/// (): a number that is not 0 where they should be looked at
Py *pools_due(Py *const *) { return g_api->number(pools_want_look()); }

/// (kind, device, the newest event's sequence before it was looked, bytes of all segments, [address, bytes, address, ...])
void before(Py *const *arguments) {
  gmt_before about{};
  about.kind = static_cast<uint32_t>(number_of(arguments[0]));
  about.device = static_cast<uint32_t>(number_of(arguments[1]));
  about.sequence = number_of(arguments[2]);
  about.reserved_bytes = number_of(arguments[3]);
  with_numbers(arguments[4], [&](uint64_t *numbers, size_t each) {
    write_before(about, reinterpret_cast<const gmt_before_block *>(numbers), each / 2);
  });
}

/// (): the newest event's sequence.
Py *sequence(Py *const *) { return g_api->number(newest_sequence()); }

/// (request, JSON, the newest event's sequence when it was looked)
void answer(Py *const *arguments) {
  const Text text = text_of(arguments[1]);
  if (text.at)
    write_answer(static_cast<uint32_t>(number_of(arguments[0])), number_of(arguments[2]), text.at, text.bytes);
}

/// (code, text)
void note(Py *const *arguments) {
  const Text text = text_of(arguments[1]);
  if (text.at) write_agent_note(static_cast<gmt_note_code>(number_of(arguments[0])), text.at);
}

/// (name of a part): its text, None where there is none.
Py *source(Py *const *arguments) {
  const char *wanted = text_of(arguments[0]).at;
  for (const AgentSource &part : kAgentSources)
    if (wanted && strcmp(part.name, wanted) == 0)
      return g_api->text(part.text, static_cast<ssize_t>(strlen(part.text)));
  return nullptr;
}

/// (name of a file in the trace directory): its text, None where there is none.
Py *file(Py *const *arguments) {
  const char *wanted = text_of(arguments[0]).at;
  const char *directory = getenv("GPU_MEMTRACE_DIR");
  if (!wanted || !directory) return nullptr;
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", directory, wanted);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return nullptr;
  char text[4096];
  const ssize_t got = read(fd, text, sizeof text);
  close(fd);
  return got >= 0 ? g_api->text(text, got) : nullptr;
}

/// (frame, number of its variables): their values, None where this version is not read so.
Py *values(Py *const *arguments) {
  return frame_values(*g_api, python::version_hex(), arguments[0], static_cast<uint32_t>(number_of(arguments[1])));
}

/// (class made in Python): itself where the functions below work, else None.
Py *searchable(Py *const *arguments) {
  if (!search_works(*g_api, arguments[0])) return nullptr;
  g_api->hold(arguments[0]);
  return arguments[0];
}

/// (getter of a tensor's gradient, `sys._current_frames`, tensors or Nones): None while a backward pass runs
Py *read_gradients(Py *const *arguments) { return gradients(*g_api, arguments[0], arguments[1], arguments[2]); }

/// (`sys._current_frames`): a number that is not 0 while a backward pass runs
Py *backward_runs(Py *const *arguments) { return g_api->number(in_backward(*g_api, arguments[0])); }

/// (`gc.get_objects`)
Py *living_objects(Py *const *arguments) { return living(*g_api, arguments[0]); }

/// (objects, types)
Py *pick_objects(Py *const *arguments) { return pick(*g_api, arguments[0], arguments[1]); }

/// (waves, barriers, targets, milliseconds)
Py *find_paths(Py *const *arguments) {
  return descend(*g_api, arguments[0], arguments[1], arguments[2], number_of(arguments[3]));
}

/// (objects, wanted)
Py *find_places(Py *const *arguments) { return places(*g_api, arguments[0], arguments[1]); }

/// (objects, wanted, most pairs)
Py *find_referrers(Py *const *arguments) {
  return referrers(*g_api, arguments[0], arguments[1], number_of(arguments[2]));
}

/// (): of each workspace of cuBLAS its address and its device, in one list.
Py *workspaces(Py *const *) {
  Workspace found[64];
  const size_t count = find_workspaces(found, sizeof found / sizeof *found);
  Py *list = g_api->list_new(0);
  if (!list) return nullptr;
  for (size_t i = 0; i < 2 * count; i++) {
    Py *number = g_api->number(i % 2 ? found[i / 2].device : found[i / 2].address);
    if (!number) break;
    g_api->list_append(list, number);
    g_api->drop(number);
  }
  return list;
}

// PyMethodDef, and the flag of functions that take (self, arguments, count).
struct Method {
  const char *name;
  Py *(*function)(Py *, Py *const *, ssize_t);
  int flags;
  const char *doc;
};
constexpr int kFastCall = 0x80;
constexpr int kFileInput = 257;  // Py_file_input
Method g_methods[] = {
    {"gpu_memtrace_step", on_step, kFastCall, nullptr},
    {"gpu_memtrace_collection", taking<on_collection, 2>, kFastCall, nullptr},
    {"gpu_memtrace_exit", taking<on_exit, 0>, kFastCall, nullptr},
    {"gpu_memtrace_name", taking<name, 4>, kFastCall, nullptr},
    {"gpu_memtrace_module", taking<module, 2>, kFastCall, nullptr},
    {"gpu_memtrace_range", taking<range, 1>, kFastCall, nullptr},
    {"gpu_memtrace_allocator", taking<allocator, 1>, kFastCall, nullptr},
    {"gpu_memtrace_array", tell_array, kFastCall, nullptr},
    {"gpu_memtrace_look", set_look, kFastCall, nullptr},
    {"gpu_memtrace_cupy_watch", watch_cupy, kFastCall, nullptr},
    {"gpu_memtrace_cupy_allocate", cupy_allocate, kFastCall, nullptr},
    {"gpu_memtrace_block", taking<block, 7>, kFastCall, nullptr},
    {"gpu_memtrace_asleep", taking<is_asleep, 0>, kFastCall, nullptr},
    {"gpu_memtrace_woke", taking<has_woken, 0>, kFastCall, nullptr},
    {"gpu_memtrace_before", taking<before, 5>, kFastCall, nullptr},
    {"gpu_memtrace_generated", taking<generated, 2>, kFastCall, nullptr},
    {"gpu_memtrace_pool", taking<pool, 8>, kFastCall, nullptr},
    {"gpu_memtrace_looked_at_pools", taking<looked_at_pools, 1>, kFastCall, nullptr},
    {"gpu_memtrace_pools_due", taking<pools_due, 0>, kFastCall, nullptr},
    {"gpu_memtrace_answer", taking<answer, 3>, kFastCall, nullptr},
    {"gpu_memtrace_note", taking<note, 2>, kFastCall, nullptr},
    {"gpu_memtrace_sequence", taking<sequence, 0>, kFastCall, nullptr},
    {"gpu_memtrace_source", taking<source, 1>, kFastCall, nullptr},
    {"gpu_memtrace_file", taking<file, 1>, kFastCall, nullptr},
    {"gpu_memtrace_values", taking<values, 2>, kFastCall, nullptr},
    {"gpu_memtrace_searchable", taking<searchable, 1>, kFastCall, nullptr},
    {"gpu_memtrace_gradients", taking<read_gradients, 3>, kFastCall, nullptr},
    {"gpu_memtrace_backward_runs", taking<backward_runs, 1>, kFastCall, nullptr},
    {"gpu_memtrace_living", taking<living_objects, 1>, kFastCall, nullptr},
    {"gpu_memtrace_pick", taking<pick_objects, 2>, kFastCall, nullptr},
    {"gpu_memtrace_places", taking<find_places, 2>, kFastCall, nullptr},
    {"gpu_memtrace_paths", taking<find_paths, 4>, kFastCall, nullptr},
    {"gpu_memtrace_referrers", taking<find_referrers, 3>, kFastCall, nullptr},
    {"gpu_memtrace_workspaces", taking<workspaces, 0>, kFastCall, nullptr},
};

/// The namespace that the first part runs in: the functions of above, by their names without the prefix.
Py *new_namespace(const PythonApi &api) {
  Py *space = api.dict_new();
  Py *natives = space ? api.dict_new() : nullptr;
  if (!natives) return space;
  for (Method &method : g_methods) {
    Py *function = api.function(&method, nullptr, nullptr);
    if (!function) break;
    api.dict_set(natives, method.name + strlen("gpu_memtrace_"), function);
    api.drop(function);
  }
  api.dict_set(space, "natives", natives);
  api.drop(natives);
  Py *own_name = api.text("gpu_memtrace", strlen("gpu_memtrace"));
  if (own_name) {
    api.dict_set(space, "__name__", own_name);
    api.drop(own_name);
  }
  api.dict_set(space, "__builtins__", api.builtins());
  return space;
}

/// Runs the first part in `space`, and keeps its function `turn`.
bool run_first_part(const PythonApi &api, Py *space) {
  Py *code = api.compile(kAgentSources[0].text, kAgentSources[0].file, kFileInput);
  Py *result = code ? api.evaluate(code, space, space) : nullptr;
  if (code) api.drop(code);
  if (!result) return false;
  api.drop(result);
  Py *turn = api.dict_get(space, "turn");
  if (!turn) return false;
  api.hold(turn);
  g_turn = turn;
  return true;
}

}  // namespace

bool library_imported(const PythonApi &api) {
  Py *modules = api.modules();
  const auto has = [&](const char *name) { return modules && api.dict_get(modules, name); };
  return has("torch") || has("jax") || has("cupy") || has("numba.cuda") || has("rmm");
}

bool install_agent(const PythonApi &api) {
  if (g_turn) return true;  // a forked child has its parent's
  g_api = &api;
  Py *space = new_namespace(api);
  const bool done = space && run_first_part(api, space);
  if (space) api.drop(space);
  if (done) return true;
  api.error_clear();
  write_agent_note(GMT_NOTE_AGENT, "The agent could not start in this interpreter: no steps, names or holders.");
  return false;
}

uint64_t run_turn(const PythonApi &api, Turn turn, uint64_t step, const char *request, uint64_t request_bytes,
                  bool *again) {
  Py *which = api.number(static_cast<unsigned>(turn));
  Py *number = api.number(step);
  Py *text = request ? api.text(request, static_cast<ssize_t>(request_bytes)) : nullptr;
  if (!text) api.error_clear();
  Py *next = which && number ? api.call(g_turn, which, number, text ? text : api.none, nullptr) : nullptr;
  Py *const mine[] = {which, number, text};
  for (Py *each : mine)
    if (each) api.drop(each);
  *again = false;
  if (!next) {
    api.error_clear();
    return ~0ull;
  }
  const uint64_t wanted = number_of(next);
  api.drop(next);
  *again = wanted == 0;
  return wanted == 0 ? ~0ull : wanted;
}

}  // namespace gmt::inject

/// The program has ended a step of its own: from then on optimizers end none. With the GIL held.
extern "C" __attribute__((visibility("default"))) void gpu_memtrace_step() {
  using namespace gmt::inject;
  if (!std::exchange(g_own_steps, true) && g_steps_generation) write_agent_note(GMT_NOTE_STEPS, "program");
  step_done(&g_own_steps);
}
