// A saved trace, as a file, and the checkpoints in it.
#include "container_input.h"
#include "fuzz.h"
#include "memory_file.h"
#include "model_fixture.h"
#include "session/trace_checkpoint.h"
#include "session/trace_names.h"
#include "trace/log_merger.h"

using namespace gmt;

namespace {

/// The events up to the end, from the beginning or from a checkpoint.
void read_on(trace::LogMerger &reader, model::Model *model) {
  uint64_t events = reader.events();
  reader.poll([&](const trace::Batch &batch) {
    events += batch.events.size();
    if (model) model->ingest(batch);
  });
  if (!model && (events != reader.events() || reader.live())) __builtin_trap();
  reader.losses();
}

void resume(const std::string &path, const trace::CheckpointLocation &place) {
  auto session = trace::LogMerger::open(path);
  if (!session) __builtin_trap();
  const session::TraceNames names(*session.value());
  model::Model model(names);
  const auto bytes = trace::read_checkpoint(path, place);
  if (session::resume(bytes, *session.value(), model)) read_on(*session.value(), &model);
}

}  // namespace

FUZZ(container, const uint8_t *data, size_t size) {
  const test::Bytes file = test::container_of(data, size);
  const std::string path = test::memory_file(std::as_bytes(std::span(file)));
  auto session = trace::LogMerger::open(path);
  if (!session) {
    if (session.error().empty()) __builtin_trap();
    return 0;
  }
  const auto places = session.value()->checkpoints();
  read_on(*session.value(), nullptr);
  for (size_t i = 0; i < std::min<size_t>(places.size(), 2); ++i) resume(path, places[i]);
  return 0;
}
