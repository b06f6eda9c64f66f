// A memory snapshot: the pickle, and the trace that is made of it.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "trace/session_reader.h"
#include "trace/snapshot/import_snapshot.h"

using namespace gmt;

namespace {

const std::string &folder() {
  static const std::string path = [] {
    std::string name = "/tmp/gmt-fuzz-XXXXXX";
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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string pickle = folder() + "/x.pickle", target = folder() + "/x.gputrace";
  std::ofstream(pickle, std::ios::binary)
      .write(reinterpret_cast<const char *>(data), static_cast<std::streamsize>(size));
  if (const auto status = trace::import_snapshot(pickle, target)) {
    if (status->message.empty() || status->message.find('\n') != std::string::npos) __builtin_trap();
    if (::access(target.c_str(), F_OK) == 0) __builtin_trap();
    return 0;
  }
  auto session = trace::SessionReader::open(target);
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
