// What TraceInfo says of steps, pauses, categories, habits and answers; what memory looked like at a failure.
#include "addon/answers/answers.h"
#include "addon/answers/columns.h"

namespace gmt::addon {
namespace {

/// One object: fields that are numbers, and others.
class Fields {
 public:
  explicit Fields(Napi::Env env) : env_(env), object_(Napi::Object::New(env)) {}
  template <typename Number>
  Fields &number(const char *name, Number value) {
    object_.Set(name, static_cast<double>(value));
    return *this;
  }
  template <typename Number>
  Fields &number_or_null(const char *name, Number value, bool known) {
    if (known) return number(name, value);
    object_.Set(name, env_.Null());
    return *this;
  }
  template <typename Value>
  Fields &set(const char *name, Value value) {
    object_.Set(name, value);
    return *this;
  }
  Napi::Object object() const { return object_; }

 private:
  Napi::Env env_;
  Napi::Object object_;
};

void add_habits(const model::State &state, const model::ProcessState &process, StepInfo &data) {
  const auto &all = process.habits.all();
  for (size_t at = 0; at < all.size(); ++at) {
    if (all[at].allocations == 0) continue;
    data.habits.push_back({process.number, at / model::kLayers, static_cast<model::Layer>(at % model::kLayers), all[at],
                           state.accounts.site_of(all[at].largest_cell)});
  }
}

Napi::Object steps_of(Napi::Env env, const StepInfo::Steps &one) {
  return Fields(env)
      .number("process", one.process)
      .set("source", model::word_of(one.source))
      .number("count", one.count)
      .number("lastEndNs", one.last_end_ns)
      .number_or_null("sliceNs", model::ProcessSteps::kSliceNs, one.source == model::StepSource::Time)
      .number_or_null("anchorSite", one.anchor, one.anchor != model::kNone)
      .number("touched", one.touched)
      .object();
}

Napi::Object pause_of(Napi::Env env, const StepInfo::Pause &one) {
  const bool over = one.interval.end_ns != ~0ull;
  return Fields(env)
      .number("process", one.process)
      .set("kind", one.driver ? "driver" : "recording")
      .number("beginNs", one.interval.begin_ns)
      .number_or_null("endNs", one.interval.end_ns, over)
      .number("beginStep", one.interval.begin_step)
      .number_or_null("endStep", one.interval.end_step, over)
      .object();
}

Napi::Object category_of(Napi::Env env, const StepInfo::Category &one) {
  return Fields(env)
      .number("process", one.process)
      .number("device", model::device_number(one.row.device))
      .set("category", model::category_name(one.row.category))
      .number("bytes", one.row.sum.bytes)
      .number("count", one.row.sum.count)
      .object();
}

Napi::Object habit_of(Napi::Env env, const StepInfo::Habit &one) {
  return Fields(env)
      .number("process", one.process)
      .number("thread", one.thread)
      .set("layer", model::word_of(one.layer))
      .number("allocations", one.habit.allocations)
      .number("medianBytes", one.habit.median ? model::size_of_log(one.habit.median) : 0)
      .number("largestBytes", one.habit.largest_bytes)
      .number("largestNs", one.habit.largest_ns)
      .number("largestSite", one.site)
      .object();
}

Napi::Object answer_of(Napi::Env env, const StepInfo::Answer &one) {
  return Fields(env)
      .number("process", one.process)
      .number("index", one.index)
      .number("request", one.request)
      .number("timeNs", one.time_ns)
      .set("complete", Napi::Boolean::New(env, one.complete))
      .number("bytes", one.bytes)
      .object();
}

Napi::Object snapshot_site(Napi::Env env, const model::SnapshotSite &site) {
  return Fields(env)
      .number("site", site.site)
      .number("liveBytes", site.live_bytes)
      .number("liveCount", site.live_count)
      .number("oldestStep", site.oldest_step)
      .number("grownBytes", site.grown_bytes)
      .number("stepAllocatedBytes", site.step_allocated_bytes)
      .number("usualAllocatedBytes", site.usual_allocated_bytes)
      .object();
}

Napi::Array categories_of(Napi::Env env, const model::MemorySnapshot &snapshot) {
  auto list = Napi::Array::New(env);
  for (uint8_t category = 0; category < model::kCategories; ++category) {
    const model::CategorySum &sum = snapshot.categories[category];
    if (sum.count == 0) continue;
    list.Set(list.Length(), Fields(env)
                                .set("category", model::category_name(category))
                                .number("bytes", sum.bytes)
                                .number("count", sum.count)
                                .object());
  }
  return list;
}

}  // namespace

StepInfo step_info(const Follower::View &view) {
  StepInfo data;
  for (uint32_t process = 0; process < view.reader.process_count(); ++process) {
    const model::ProcessState *state = view.state.process(process);
    if (!state) continue;
    const model::ProcessSteps &steps = state->steps;
    data.steps.push_back(
        {process, steps.source, state->frame->step - 1, steps.last_end_ns, steps.anchor, steps.touched});
    for (const model::Interval &one : state->pauses) data.pauses.push_back({process, false, one});
    for (const model::Interval &one : state->gaps) data.pauses.push_back({process, true, one});
    for (const model::CategoryRow &row : model::categories(view.state, process))
      data.categories.push_back({process, row});
    add_habits(view.state, *state, data);
    for (const model::Answer &answer : state->answers.answers()) {
      data.answers.push_back(
          {process, answer.index, answer.request, answer.time_ns, answer.complete(), answer.text.size()});
    }
  }
  return data;
}

void put_step_info(Napi::Env env, Napi::Object &info, const StepInfo &data) {
  const auto list = [&](const char *name, const auto &items, auto make) {
    info.Set(name, objects(env, items, [&](const auto &item) { return make(env, item); }));
  };
  list("steps", data.steps, steps_of);
  list("pauses", data.pauses, pause_of);
  list("categories", data.categories, category_of);
  list("habits", data.habits, habit_of);
  list("answers", data.answers, answer_of);
}

Napi::Value snapshot_answer(Napi::Env env, const model::MemorySnapshot *snapshot) {
  if (!snapshot) return env.Null();
  const trace::Memory memory = snapshot->memory.value_or(trace::Memory{});
  const bool known = snapshot->memory.has_value();
  return Fields(env)
      .number("step", snapshot->step)
      .number("tensorBytes", snapshot->tensor_bytes)
      .number_or_null("reservedBytes", snapshot->reserved_bytes.value_or(0), snapshot->reserved_bytes.has_value())
      .number("driverBytes", snapshot->driver_bytes)
      .number_or_null("processBytes", memory.process_bytes, known && memory.process_bytes != ~0ull)
      .number_or_null("usedBytes", memory.used_bytes, known)
      .number_or_null("totalBytes", memory.total_bytes, known)
      .set("fragmentation", fragmentation_answer(env, snapshot->fragmentation))
      .number("thisStepBytes", snapshot->this_step_bytes)
      .number("recentBytes", snapshot->recent_bytes)
      .number("olderBytes", snapshot->older_bytes)
      .set("categories", categories_of(env, *snapshot))
      .set("sites",
           objects(env, snapshot->sites, [&](const model::SnapshotSite &site) { return snapshot_site(env, site); }))
      .object();
}

}  // namespace gmt::addon
