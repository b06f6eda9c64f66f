#include "addon/lifetime_reader.h"

#include <algorithm>

namespace gmt::addon {

trace::Result<std::shared_ptr<LifetimeReader>> LifetimeReader::open(const std::string &path, uint64_t from_ns,
                                                                    uint64_t until_ns) {
  // What ended before a checkpoint ended before `from_ns`.
  const uint64_t latest_ns = std::min(from_ns == 0 ? 0 : from_ns - 1, until_ns);
  auto session = session::open(path, until_ns, latest_ns);
  if (!session) return trace::Error{session.error()};
  return std::shared_ptr<LifetimeReader>(new LifetimeReader(std::move(session.value()), from_ns));
}

LifetimeReader::LifetimeReader(std::unique_ptr<session::Session> session, uint64_t from_ns)
    : session_(std::move(session)), log_(from_ns), session_json_(session_->reader->session_json()) {
  session_->model.log_lifetimes(&log_);
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
  ended_ = !session_->poll(kSlice);
  if (session_->reader->overtaken())
    session_->reader->note(
        "What came next is not kept any more: it was older than the window of full detail (--detail).");
  if (ended_) session_->model.finish_lifetimes();
  return true;
}

void LifetimeReader::take(size_t count, std::vector<LifetimeRow> &rows) {
  const model::Accounts &accounts = session_->model.settled().accounts;
  auto &ready = log_.ready();
  const auto end = ready.begin() + static_cast<std::ptrdiff_t>(std::min(count, ready.size()));
  for (auto one = ready.begin(); one != end; ++one) {
    const model::CellInfo &maker = accounts.cell_infos()[one->cell];
    rows.push_back({*one, accounts.site_of(one->cell), maker.process, maker.thread, maker.layer});
  }
  ready.erase(ready.begin(), end);
}

}  // namespace gmt::addon
