// A checkpoint that passed its checksum and was made by hand: it is refused, or what it says is harmless.
#include <algorithm>

#include "checkpoint_session.h"
#include "fuzz.h"

using namespace gmt;
using namespace gmt::test;

FUZZ(checkpoint, const uint8_t *data, size_t size) {
  static const CheckpointSession session;
  auto reader = std::move(trace::LogMerger::open(session.path()).value());
  const session::TraceNames names(*reader);
  QueriedModel model(names);
  std::vector<std::byte> bytes(1 + size, static_cast<std::byte>(session::kCheckpointVersion));
  std::copy_n(reinterpret_cast<const std::byte *>(data), size, bytes.data() + 1);
  if (!session::resume(bytes, *reader, model)) return 0;
  reader->poll([&](const trace::Batch &batch) { model.ingest(batch); });
  describe(model);
  return 0;
}
