#include "addon/lifetime_reader.h"

#include <algorithm>

namespace gmt::addon {

trace::Result<std::shared_ptr<LifetimeReader>> LifetimeReader::open(const std::string &path, uint64_t from_ns,
                                                                    uint64_t until_ns) {
  auto reader = trace::SessionReader::open(path, until_ns);
  if (!reader) return trace::Error{reader.error()};
  return std::shared_ptr<LifetimeReader>(new LifetimeReader(std::move(reader.value()), from_ns));
}

LifetimeReader::LifetimeReader(std::unique_ptr<trace::SessionReader> reader, uint64_t from_ns)
    : reader_(std::move(reader)),
      names_(*reader_),
      model_(names_),
      log_(from_ns),
      session_json_(reader_->session_json()) {
  model_.log_lifetimes(&log_);
}

bool LifetimeReader::next(size_t count, std::vector<LifetimeRow> &rows) {
  while (!stopping_) {
    // A mutex is not fair: whoever waits to ask goes first.
    while (waiting_ > 0 && !stopping_) std::this_thread::yield();
    std::lock_guard lock(mutex_);
    if (slice(count)) continue;
    take(count, rows);
    return true;
  }
  return false;
}

/// False once there are `count` allocations or all was read.
bool LifetimeReader::slice(size_t count) {
  if (ended_ || log_.ready().size() >= count) return false;
  ended_ = !reader_->poll([this](const trace::Batch &batch) { model_.ingest(batch); }, kSlice).more;
  if (ended_) model_.finish_lifetimes();
  return true;
}

void LifetimeReader::take(size_t count, std::vector<LifetimeRow> &rows) {
  const model::Accounts &accounts = model_.settled().accounts;
  auto &ready = log_.ready();
  const auto end = ready.begin() + static_cast<std::ptrdiff_t>(std::min(count, ready.size()));
  for (auto one = ready.begin(); one != end; ++one) {
    const model::CellInfo &maker = accounts.cell_infos()[one->cell];
    rows.push_back({*one, accounts.site_of(one->cell), maker.process, maker.thread, maker.layer});
  }
  ready.erase(ready.begin(), end);
}

}  // namespace gmt::addon
