// A memory snapshot: the pickle, and the trace that is made of it. The file is only written of what is a snapshot.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>

#include "fuzz.h"
#include "trace/log_merger.h"
#include "trace/snapshot/import_snapshot.h"
#include "trace/snapshot/pickle_reader.h"
#include "trace/snapshot/snapshot_replay.h"

using namespace gmt;

namespace {

const std::string &folder() {
  static const std::string path = [] {
    std::string name = ::access("/dev/shm", W_OK) == 0 ? "/dev/shm/gmt-fuzz-XXXXXX" : "/tmp/gmt-fuzz-XXXXXX";
    if (!::mkdtemp(name.data())) std::abort();
    return name;
  }();
  static const int at_end = std::atexit([] {
    ::unlink((folder() + "/x.pickle").c_str());
    ::rmdir(folder().c_str());
  });
  (void)at_end;
  return path;
}

void check_sentence(const std::string &text) {
  if (text.empty() || text.find('\n') != std::string::npos) __builtin_trap();
}

bool is_snapshot(const uint8_t *data, size_t size) {
  auto bytes = std::make_unique<std::byte[]>(size + 1);
  std::copy_n(reinterpret_cast<const std::byte *>(data), size, bytes.get());
  auto tree = trace::read_pickle(std::move(bytes), size, "x");
  if (!tree) return check_sentence(tree.error()), false;
  trace::FieldReader fields(tree.value());
  trace::SnapshotStacks stacks(tree.value(), fields);
  auto read = trace::read_snapshot(tree.value(), fields, stacks, "x");
  if (!read) return check_sentence(read.error()), false;
  auto beginning = trace::replay_snapshot(read.value(), "x");
  if (!beginning) return check_sentence(beginning.error()), false;
  return true;
}

}  // namespace

FUZZ(pickle, const uint8_t *data, size_t size) {
  if (!is_snapshot(data, size)) return 0;
  const std::string pickle = folder() + "/x.pickle", target = folder() + "/x.gputrace";
  std::ofstream(pickle, std::ios::binary)
      .write(reinterpret_cast<const char *>(data), static_cast<std::streamsize>(size));
  if (const auto status = trace::import_snapshot(pickle, target)) {
    check_sentence(status->message);
    if (::access(target.c_str(), F_OK) == 0) __builtin_trap();
    return 0;
  }
  auto session = trace::LogMerger::open(target);
  if (!session) __builtin_trap();
  uint64_t events = 0;
  session.value()->poll([&](const trace::Batch &batch) {
    for (const trace::Event &event : batch.events) {
      if (event.stack != 0 && !session.value()->tables(0).resolve(event.stack)) __builtin_trap();
      ++events;
    }
  });
  // What is written is whole: nothing is missing but what the snapshot itself could not say.
  const trace::Losses losses = session.value()->losses();
  if (losses.total() != losses.count[GMT_LOST_UNSUPPORTED] || events != session.value()->events()) __builtin_trap();
  ::unlink(target.c_str());
  return 0;
}
