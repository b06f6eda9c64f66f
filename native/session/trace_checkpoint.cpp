#include "session/trace_checkpoint.h"

namespace gmt::session {
namespace {

void pass(trace::Archive &a, trace::LogMerger &reader, model::Model &model) {
  a.hold(a.count(kCheckpointVersion) == kCheckpointVersion);
  if (a.good()) reader.checkpoint(a);
  if (a.good()) model.checkpoint(a);
}

}  // namespace

std::vector<std::byte> checkpoint(trace::LogMerger &reader, model::Model &model) {
  trace::Archive archive;
  pass(archive, reader, model);
  return archive.take();
}

bool resume(std::span<const std::byte> bytes, trace::LogMerger &reader, model::Model &model) {
  trace::Archive archive(bytes);
  pass(archive, reader, model);
  bool known = archive.complete();
  model.state().each_process([&](const model::ProcessState &one) { known &= one.number < reader.process_count(); });
  return known;
}

}  // namespace gmt::session
