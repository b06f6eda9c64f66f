#include "recorder/recorder.h"

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cstdlib>

#include "trace/process_runs.h"
#include "trace/trace_directory.h"

namespace gmt::recorder {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t kSlice = 1 << 18;           ///< events between two updates of the space
constexpr uint64_t kNear = 16ull << 20;        ///< bytes of logs between two checkpoints where they are small ...
constexpr uint64_t kMostApart = 64ull << 20;   ///< ... and where they are not
constexpr uint64_t kLittle = 4ull << 20;       ///< bytes of logs for which no checkpoint is made, however full it is
constexpr int kWorkToPause = 10;               ///< a checkpoint may take so little of the time
constexpr uint64_t kBehindNs = 1'000'000'000;  ///< processes are read at most so far apart
constexpr auto kJobCheckPause = std::chrono::milliseconds(300);
constexpr auto kNoProcessYet = std::chrono::seconds(60);
constexpr auto kNoProcessLeft = std::chrono::seconds(2);

Limits sensible(Limits limits) {
  limits.detail = std::min(limits.detail, limits.budget / 2);
  return limits;
}

uint64_t free_bytes(const std::string &directory) {
  struct statvfs about;
  return ::statvfs(directory.c_str(), &about) == 0 ? about.f_bavail * about.f_frsize : 0;
}

bool runs(const char *number) {
  const uint64_t pid = std::strtoull(number, nullptr, 10);
  return pid > 0 && pid <= INT32_MAX && trace::process_runs(static_cast<uint32_t>(pid), 0);
}

/// A process that the launcher named (session.json, pid) runs; it may not have used the GPU yet.
bool job_runs(const std::string &directory) {
  const std::string shell = trace::read_text(directory + "/pid");  // of a terminal's
  if (runs(shell.c_str())) return true;
  static constexpr char kKey[] = "\"pid\":";
  const std::string session = trace::read_session_json(directory);
  for (size_t at = session.find(kKey); at != std::string::npos; at = session.find(kKey, at + 1)) {
    if (runs(session.c_str() + at + sizeof kKey - 1)) return true;
  }
  return false;
}

}  // namespace

bool directory_is_there(const std::string &directory) {
  struct stat about;
  return ::stat(directory.c_str(), &about) == 0;
}

trace::Result<std::unique_ptr<Recorder>> Recorder::begin(const std::string &directory, const Limits &limits) {
  constexpr uint64_t kNewest = trace::LogMerger::kToTheEnd;
  if (!can_punch(directory)) return trace::Error{"The file system of " + directory + " cannot free parts of files."};
  auto modelled = session::open(directory, kNewest, kNewest);
  if (!modelled) return trace::Error{modelled.error()};
  return std::unique_ptr<Recorder>(new Recorder(directory, sensible(limits), std::move(modelled.value())));
}

Recorder::Recorder(std::string directory, const Limits &limits, std::unique_ptr<session::ModelledTrace> modelled)
    : directory_(std::move(directory)),
      limits_(limits),
      modelled_(std::move(modelled)),
      budget_(limits_.budget),
      room_(limits_.budget),
      moments_(directory_) {
  for (session::CheckpointFile &one : session::stored_checkpoints(directory_)) {
    if (!one.kind.empty()) continue;
    points_.push_back({std::move(one.path), session::disk_bytes(one.path), 0, 0, {}});
    point_bytes_ += points_.back().bytes;
  }
}

bool Recorder::turn() {
  const bool more = modelled_->poll(kSlice);
  update_logs();
  retain_first_steps();
  const uint64_t unfolded = (finished_chunks() - (points_.empty() ? 0 : points_.back().finished)) * GMT_CHUNK_BYTES;
  // A quarter is left for what comes while a checkpoint is made; where nothing is left, any chunk that is freed helps.
  const uint64_t worth = room_ < budget_ / 64 ? GMT_CHUNK_BYTES : std::min(kLittle + most_bytes_, budget_ / 8);
  const uint64_t apart = std::min(std::clamp(4 * most_bytes_, kNear, kMostApart), limits_.detail / 8);
  const bool due = Clock::now() >= next_point_, tight = room_ < budget_ / 4;
  if ((tight && unfolded >= worth && (due || fits_)) || (unfolded >= apart && due)) add_point();
  release_old(tight);
  share_room();
  return more;
}

void Recorder::fold() {
  update_logs();
  add_point();
  release_old(true);
  share_room();
}

bool Recorder::over() {
  const auto now = Clock::now();
  if (now - checked_ < kJobCheckPause) return false;
  checked_ = now;
  const trace::LogMerger &reader = *modelled_->reader;
  const bool begun = reader.process_count() > 0;
  if ((begun && reader.live()) || job_runs(directory_)) alive_ = now;
  return now - alive_ > (begun ? kNoProcessLeft : kNoProcessYet) || !directory_is_there(directory_);
}

uint64_t Recorder::finished_chunks() const {
  uint64_t sum = 0;
  for (size_t i = 0; i < modelled_->reader->process_count(); ++i) sum += modelled_->reader->finished_chunks(i);
  return sum;
}

uint64_t Recorder::reserved_chunks() const {
  uint64_t sum = 0;
  for (const auto &log : logs_) sum += log->reserved();
  return sum;
}

void Recorder::update_logs() {
  const trace::LogMerger &reader = *modelled_->reader;
  while (logs_.size() < reader.process_count()) {
    logs_.push_back(std::make_unique<LogRetention>(reader.log_path(logs_.size())));
    // All of a process that came later is behind the first steps.
    if (retained_ns_ && logs_.back()->retained_ns() == 0) logs_.back()->retain({}, retained_ns_);
    retained_ns_ = std::max(retained_ns_, logs_.back()->retained_ns());
  }
}

/// What is not taken of the budget is shared by those that still write. Read in this order, nothing is given twice.
void Recorder::share_room() {
  const auto on_the_way = std::min<uint64_t>(8 * GMT_CHUNK_BYTES, limits_.budget / 8);  // chunks without space yet
  std::vector<uint64_t> reserved;
  uint64_t writers = 0;
  for (size_t i = 0; i < logs_.size(); ++i) {
    reserved.push_back(logs_[i]->reserved());
    writers += !modelled_->reader->ended(i);
  }
  uint64_t taken = point_bytes_ + moments_.bytes();
  most_bytes_ = 0;
  for (const Point &one : points_) most_bytes_ = std::max(most_bytes_, one.bytes);
  for (const auto &log : logs_) taken += log->disk_bytes();
  const auto room = [&](uint64_t budget) { return budget - std::min(budget, taken + 2 * most_bytes_ + on_the_way); };
  const uint64_t chunks = room(limits_.budget) / GMT_CHUNK_BYTES / std::max<uint64_t>(writers, 1);
  for (size_t i = 0; i < logs_.size(); ++i) logs_[i]->limit(reserved[i] + chunks);
  budget_ = std::min(limits_.budget, taken + free_bytes(directory_));
  room_ = room(budget_);
}

bool Recorder::first_steps_over() const {
  bool over = false;
  modelled_->model.state().each_process([&](const model::ProcessState &one) {
    over |= one.frame->step > kFirstSteps && one.steps.source != model::StepSource::Time;
  });
  return over;
}

void Recorder::retain_first_steps() {
  if (retained_ns_) return;
  const trace::LogMerger &reader = *modelled_->reader;
  if (!first_steps_ns_ && first_steps_over()) first_steps_ns_ = reader.time_ns();
  const uint64_t sure = reader.sure_ns();
  const bool enough = finished_chunks() * GMT_CHUNK_BYTES >= limits_.detail / 2;  // they are long, or there are none
  if (!enough && (!first_steps_ns_ || sure <= first_steps_ns_ + kBehindNs)) return;
  uint64_t bytes = 0;
  for (size_t i = 0; i < logs_.size(); ++i) bytes += reader.read_position(i).begun * GMT_CHUNK_BYTES;
  const bool retains = sure > kBehindNs && bytes <= budget_ / 3;
  retained_ns_ = retains ? sure - kBehindNs : 1;
  for (size_t i = 0; i < logs_.size(); ++i)
    logs_[i]->retain(retains ? reader.read_position(i) : trace::Merge::ReadPosition{}, retained_ns_);
}

void Recorder::add_point() {
  const auto begin = Clock::now();
  trace::LogMerger &reader = *modelled_->reader;
  auto path = session::store_checkpoint(directory_, reader.events(), {}, *modelled_, packer_);
  const auto end = Clock::now();
  next_point_ = end + kWorkToPause * (end - begin);
  fits_ = static_cast<bool>(path);
  if (!fits_) return;  // the disk is full: what there is continues to serve
  if (!points_.empty() && points_.back().path == path.value()) {
    point_bytes_ -= points_.back().bytes;
    points_.pop_back();
  }
  Point point{std::move(path.value()), 0, finished_chunks(), reader.sure_ns(), {}};
  point.bytes = session::disk_bytes(point.path);
  for (size_t i = 0; i < reader.process_count(); ++i) point.positions.push_back(reader.read_position(i));
  point_bytes_ += point.bytes;
  points_.push_back(std::move(point));
}

/// What lies before the newest checkpoint that is older than the window of full detail; `all`: before the newest one.
void Recorder::release_old(bool all) {
  const uint64_t window = limits_.detail / GMT_CHUNK_BYTES, reserved = reserved_chunks();
  const auto is_old = [&](const Point &one) { return all || one.finished + window <= reserved; };
  size_t at = points_.size();
  while (at > 0 && (points_[at - 1].positions.empty() || !is_old(points_[at - 1]))) --at;
  if (at == 0 || points_[at - 1].released) return;
  retain_moments(points_[at - 1].sure_ns);
  const session::DirectoryLock lock(directory_, session::DirectoryLock::kSaver, session::DirectoryLock::Way::kWhenFree);
  if (!lock.held()) return;  // the trace is being saved
  if (!retained_ns_) {       // the first steps do not fit into the budget
    retained_ns_ = 1;
    for (const auto &log : logs_) log->retain({}, retained_ns_);
  }
  Point &point = points_[at - 1];
  point.released = true;
  for (size_t i = 0; i < point.positions.size(); ++i) logs_[i]->punch_before(point.positions[i]);
  for (; at > 1; --at) {
    remove_file(points_.front().path.c_str());
    point_bytes_ -= points_.front().bytes;
    points_.pop_front();
  }
}

/// Those that are about to go. Where the budget is nearly used up there is no time for it.
void Recorder::retain_moments(uint64_t until_ns) {
  const auto has_room = [this] { return moments_.bytes() <= budget_ / 8; };
  if (room_ >= budget_ / 16 && has_room()) {
    const auto moments = moments_of(modelled_->model.state(), modelled_->reader->session_json(),
                                    std::max(retained_ns_, moments_ns_), until_ns);
    for (const Moment &one : moments) {
      if (has_room()) moments_.add(one, packer_);  // one may be as large as a checkpoint
    }
  }
  moments_ns_ = until_ns;
}

}  // namespace gmt::recorder
