// A checkpoint that passed its checksum and was made by hand: it is refused, or what it says is harmless.
#include "checkpoint_session.h"

using namespace gmt;
using namespace gmt::test;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const CheckpointSession session;
  auto reader = std::move(trace::SessionReader::open(session.path()).value());
  const session::TraceNames names(*reader);
  AskedModel model(names);
  if (!session::resume({reinterpret_cast<const std::byte *>(data), size}, *reader, model)) return 0;
  reader->poll([&](const trace::Batch &batch) { model.ingest(batch); });
  describe(model);
  return 0;
}
