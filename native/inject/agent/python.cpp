#include "inject/agent/python.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "inject/agent/allocator.h"
#include "inject/agent/arrays.h"
#include "inject/agent/natives.h"
#include "inject/agent/object_table.h"
#include "inject/agent/records.h"
#include "inject/agent/steps.h"
#include "inject/agent_sources.h"
#include "inject/hooks/nvtx.h"
#include "wire/process_start.h"

namespace gmt::inject {
namespace {

Py *g_turn;  ///< the agent's function `turn`
Steps g_steps;
uint32_t g_steps_generation;  ///< of the log that g_steps counts for
uint64_t g_steps_left;        ///< to be recorded until the program gets Ctrl+C; 0: it never does

/// The next argument from Python. A text is UTF-8, ended by 0; its data is null where it is no str, or holds a lone surrogate.
template <class Parameter>
Parameter take(Py *const *&next) {
  Py *value = *next++;
  if constexpr (std::is_same_v<Parameter, Py *>) {
    return value;
  } else if constexpr (std::is_same_v<Parameter, std::string_view>) {
    ssize_t bytes = 0;
    const char *text = g_api->text_bytes(value, &bytes);
    if (!text) g_api->error_clear();
    return {text, text ? static_cast<size_t>(bytes) : 0};
  } else {
    return static_cast<Parameter>(number_of(value));
  }
}

bool is_there(std::string_view text) { return text.data(); }
template <class Parameter>
bool is_there(Parameter) {
  return true;
}

Py *result(Py *made) { return made; }
Py *result(uint64_t number) { return g_api->number(number); }

/// What Python calls: `Function` with an argument for each of its parameters. Where that fails or gives nothing, where a text is
/// none, and with other arguments, the call gives None.
template <auto Function, class Result, class... Parameter>
Py *call(Result (*)(Parameter...), [[maybe_unused]] Py *const *next, ssize_t count) {
  if (count != sizeof...(Parameter)) return none();
  const std::tuple<Parameter...> given{take<Parameter>(next)...};
  const bool good = std::apply([](auto... each) { return (is_there(each) && ...); }, given);
  if constexpr (std::is_void_v<Result>) {
    if (good) std::apply(Function, given);
    return none();
  } else {
    Py *made = good ? result(std::apply(Function, given)) : nullptr;
    if (!made) g_api->error_clear();
    return made ? made : none();
  }
}
template <auto Function>
Py *calling(Py *, Py *const *arguments, ssize_t count) {
  return call<Function>(Function, arguments, count);
}

bool g_own_steps;  ///< the program marks its steps itself

/// With the GIL held. `who` has stepped: an optimizer, or the program.
void step_done(const void *who) {
  const uint32_t generation = log_generation();
  if (!generation) return;
  const KeptErrno kept;
  if (g_steps_generation != generation) {  // a forked child counts from 1
    g_steps.restart();
    g_steps_generation = generation;
    const char *most = getenv("GPU_MEMTRACE_MAX_STEPS");
    g_steps_left = most ? strtoull(most, nullptr, 10) : 0;
    write_agent_note(GMT_NOTE_STEPS, g_own_steps ? "program" : "optimizer");
  }
  if (const uint64_t number = g_steps.stepped(who)) {
    if (!asleep()) {
      read_allocator_at_step();
      write_step(number);
      if (number >= next_turn_step()) offer_turn(Turn::kStep, number);
      if (g_steps_left && --g_steps_left == 0) kill(getpid(), SIGINT);
    } else if (wakes(g_log.control->start_step, number)) {
      offer_turn(Turn::kStep, number);
    }
  }
}

/// Called by the optimizer hook with the optimizer.
Py *on_step(Py *, Py *const *arguments, ssize_t count) {
  if (count >= 1 && !g_own_steps) step_done(arguments[0]);
  return none();
}

/// An entry of gc.callbacks.
void on_collection(std::string_view phase, Py *info) {
  if (!log_generation()) return;
  const KeptErrno kept;
  const bool begins = phase == "start";  // else "stop"
  Py *value = g_api->dict_get(info, begins ? "generation" : "collected");
  write_collection(begins, value ? number_of(value) : 0);
}

/// The range that begins; an empty name: the innermost one ends.
void range(std::string_view name) { name.empty() ? pop_range() : push_range(name.data()); }

bool is_asleep() { return log_generation() && asleep(); }

/// Hands the numbers of a list to `write(numbers, count)`.
template <class Write>
void with_numbers(Py *list, Write write) {
  const ssize_t count = g_api->list_size(list);
  if (count < 0) return g_api->error_clear();
  MappedArray<uint64_t> numbers;
  if (!numbers.reset(static_cast<size_t>(count) + 1)) return count_loss(GMT_LOST_RECORD_SIZE);
  for (ssize_t i = 0; i < count; i++) numbers[static_cast<size_t>(i)] = number_of(g_api->list_item(list, i));
  write(&numbers[0], static_cast<size_t>(count));
}

/// `sequence`: the newest event's before it was looked; `text`: the path of one that has it; `addresses`: of segments.
void pool(uint64_t sequence, uint64_t owner, uint64_t number, uint32_t device, uint32_t kind, uint32_t makers,
          std::string_view text, Py *addresses) {
  const gmt_pool about{sequence, owner, number, device, kind, makers, 0, 0, 0};
  with_numbers(addresses, [&](uint64_t *each, size_t count) { write_pool(about, text, each, count); });
}

/// `blocks`: [address, bytes, address, ...]
void before(uint32_t kind, uint32_t device, uint64_t sequence, uint64_t reserved_bytes, Py *blocks) {
  const gmt_before about{sequence, reserved_bytes, device, 0, kind, 0, 0, 0, 0};
  with_numbers(blocks, [&](uint64_t *numbers, size_t count) {
    write_before(about, reinterpret_cast<const gmt_before_block *>(numbers), count / 2);
  });
}

/// The text of a part of the agent, None where there is none.
Py *source(std::string_view name) {
  for (const AgentSource &part : kAgentSources)
    if (name == part.name) return g_api->text(part.text, static_cast<ssize_t>(strlen(part.text)));
  return nullptr;
}

/// The text of a file in the trace directory, None where there is none.
Py *file(std::string_view name) {
  const char *directory = getenv("GPU_MEMTRACE_DIR");
  if (!directory) return nullptr;
  char path[4096], text[4096];
  snprintf(path, sizeof path, "%s/%s", directory, name.data());
  const ssize_t bytes = gmt_read_start(path, text, sizeof text);
  return bytes >= 0 ? g_api->text(text, bytes) : nullptr;
}

// PyMethodDef, and the flag of functions that take (self, arguments, count).
constexpr int kFastCall = 0x80;
constexpr int kFileInput = 257;  // Py_file_input
struct Method {
  const char *name;
  Py *(*function)(Py *, Py *const *, ssize_t);
  int flags = kFastCall;
  const char *doc = nullptr;
};
Method g_methods[] = {
    {"gpu_memtrace_step", on_step},
    {"gpu_memtrace_collection", calling<on_collection>},
    {"gpu_memtrace_exit", calling<end_agent>},
    {"gpu_memtrace_name", calling<write_name>},
    {"gpu_memtrace_module", calling<write_module>},
    {"gpu_memtrace_range", calling<range>},
    {"gpu_memtrace_allocator", calling<watch_allocator>},
    {"gpu_memtrace_array", tell_array},
    {"gpu_memtrace_look", calling<set_look>},
    {"gpu_memtrace_cupy_watch", calling<watch_cupy>},
    {"gpu_memtrace_cupy_allocate", cupy_allocate},
    {"gpu_memtrace_block", calling<write_block>},
    {"gpu_memtrace_asleep", calling<is_asleep>},
    {"gpu_memtrace_woke", calling<take_waking>},
    {"gpu_memtrace_before", calling<before>},
    {"gpu_memtrace_generated", calling<write_generated>},
    {"gpu_memtrace_pool", calling<pool>},
    {"gpu_memtrace_looked_at_pools", calling<pools_looked_at>},
    {"gpu_memtrace_pools_due", calling<pools_due>},
    {"gpu_memtrace_answer", calling<write_answer>},
    {"gpu_memtrace_note", calling<write_agent_note>},
    {"gpu_memtrace_sequence", calling<newest_sequence>},
    {"gpu_memtrace_source", calling<source>},
    {"gpu_memtrace_file", calling<file>},
    {"gpu_memtrace_values", calling<frame_values>},
    {"gpu_memtrace_searchable", calling<searchable>},
    {"gpu_memtrace_gradients", calling<gradients>},
    {"gpu_memtrace_backward_runs", calling<in_backward>},
    {"gpu_memtrace_living", calling<living>},
    {"gpu_memtrace_pick", calling<pick>},
    {"gpu_memtrace_places", calling<places>},
    {"gpu_memtrace_paths", calling<descend>},
    {"gpu_memtrace_referrers", calling<referrers>},
    {"gpu_memtrace_workspaces", calling<workspaces>},
};

/// The namespace that the first part runs in: the functions of above, by their names without the prefix.
Py *new_namespace() {
  Held space(g_api->dict_new());
  const Held natives(g_api->dict_new());
  const Held own_name(g_api->text("gpu_memtrace", strlen("gpu_memtrace")));
  if (!space || !natives || !own_name) return nullptr;
  for (Method &method : g_methods) {
    const Held function(g_api->function(&method, nullptr, nullptr));
    if (function) g_api->dict_set(natives, method.name + strlen("gpu_memtrace_"), function);
  }
  g_api->dict_set(space, "natives", natives);
  g_api->dict_set(space, "__name__", own_name);
  g_api->dict_set(space, "__builtins__", g_api->builtins());
  return space.give();
}

/// Runs the first part in `space`, and keeps its function `turn`.
bool run_first_part(Py *space) {
  const Held code(g_api->compile(kAgentSources[0].text, kAgentSources[0].file, kFileInput));
  const Held result(code ? g_api->evaluate(code, space, space) : nullptr);
  Py *turn = result ? g_api->dict_get(space, "turn") : nullptr;
  if (turn) g_api->hold(turn);
  g_turn = turn;
  return turn != nullptr;
}

}  // namespace

bool library_imported() {
  Py *modules = g_api->modules();
  const auto has = [&](const char *name) { return modules && g_api->dict_get(modules, name); };
  return has("torch") || has("jax") || has("cupy") || has("numba.cuda") || has("rmm");
}

bool install_agent() {
  if (g_turn) return true;  // a forked child has its parent's
  const Held space(new_namespace());
  if (space && run_first_part(space)) return true;
  write_agent_note(
      GMT_NOTE_AGENT,
      "The thread gpu-memtrace could not start in this interpreter, so there are no steps, names or holders.");
  return false;
}

uint64_t run_turn(Turn turn, uint64_t step, const char *request, bool *again) {
  const Held which(g_api->number(static_cast<unsigned>(turn)));
  const Held number(g_api->number(step));
  const Held text(request ? g_api->text(request, static_cast<ssize_t>(strlen(request))) : nullptr);
  const Held next(which && number ? g_api->call(g_turn, static_cast<Py *>(which), static_cast<Py *>(number),
                                                text ? text : g_api->none, nullptr)
                                  : nullptr);
  const uint64_t next_step = next ? number_of(next) : ~0ull;
  *again = next_step == 0;
  return next_step == 0 ? ~0ull : next_step;
}

}  // namespace gmt::inject

/// The program has ended a step of its own: from then on optimizers end none. With the GIL held.
extern "C" __attribute__((visibility("default"))) void gpu_memtrace_step() {
  using namespace gmt::inject;
  if (!std::exchange(g_own_steps, true) && g_steps_generation) write_agent_note(GMT_NOTE_STEPS, "program");
  step_done(&g_own_steps);
}
