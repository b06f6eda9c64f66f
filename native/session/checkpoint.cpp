#include "session/checkpoint.h"

namespace gmt::session {
namespace {

/// Rises with every change of what is kept, and of what the model makes of events: an older checkpoint is not what it would be now.
constexpr uint64_t kVersion = 1;

void pass(trace::Archive &a, trace::SessionReader &reader, model::Model &model) {
  a.hold(a.count(kVersion) == kVersion);
  if (a.good()) reader.checkpoint(a);
  if (a.good()) model.checkpoint(a);
}

}  // namespace

std::vector<std::byte> checkpoint(trace::SessionReader &reader, model::Model &model) {
  trace::Archive archive;
  pass(archive, reader, model);
  return archive.take();
}

bool resume(std::span<const std::byte> bytes, trace::SessionReader &reader, model::Model &model) {
  trace::Archive archive(bytes);
  pass(archive, reader, model);
  bool known = archive.complete();
  model.state().each_process([&](const model::ProcessState &one) { known &= one.number < reader.process_count(); });
  return known;
}

}  // namespace gmt::session
