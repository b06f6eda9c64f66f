#include "trace/log_merger.h"

#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "trace/process_runs.h"
#include "trace/trace_directory.h"

namespace gmt::trace {
namespace {

constexpr uint64_t kCheckIntervalNs = 100'000'000;
constexpr uint64_t kAheadNs = 100'000'000;

uint64_t steady_ns() {
  auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

std::string cut_note(const Container &file) {
  const std::string there = std::to_string(file.bytes);
  const std::string what = file.whole_bytes > file.bytes ? "of its " + std::to_string(file.whole_bytes) +
                                                               " bytes, only the first " + there + " exist"
                                                         : "it ends at byte " + there;
  return file.path + " is cut short: " + what + ". The readable part is shown.";
}

}  // namespace

LogMerger::Process::Process(LogFile opened, const gmt_file_header &h, uint64_t zero_ns)
    : log(std::move(opened)),
      facts{h.pid,           h.parent_pid,     h.uid,
            h.driver_source, h.simulated != 0, h.start_realtime_ns > zero_ns ? h.start_realtime_ns - zero_ns : 0},
      process_start(h.process_start),
      merge(Clock(h, facts.start_ns)),
      gone(log.saved()) {}

ProcessFacts LogMerger::facts(size_t process) const {
  ProcessFacts facts = processes_[process]->facts;
  const gmt_file_header header = processes_[process]->log.header();
  facts.driver_source = header.driver_source;
  facts.simulated = header.simulated != 0;
  return facts;
}

Result<std::unique_ptr<LogMerger>> LogMerger::open(const std::string &path, uint64_t until_ns) {
  struct stat status;
  if (::stat(path.c_str(), &status) != 0) return Error{"Cannot open " + path + ": " + std::strerror(errno) + "."};
  bool saved = !S_ISDIR(status.st_mode);
  std::unique_ptr<LogMerger> merger(new LogMerger(path, saved, until_ns));
  if (auto error = saved ? merger->open_saved() : merger->open_directory()) return *error;
  return merger;
}

Status LogMerger::open_saved() {
  auto container = read_container(path_);
  if (!container) return Error{container.error()};
  cut_ = container.value().cut;
  saved_json_ = container.value().session_json;
  checkpoints_ = container.value().checkpoints;
  std::string problem;
  for (const LogSection &section : container.value().logs) {
    auto log = LogFile::open_section(path_, section);
    if (log) {
      opened_.push_back(std::move(log.value()));
    } else {
      problem = log.error();
      notes_.push_back(problem);
    }
  }
  if (opened_.empty()) return Error{problem};
  if (cut_) notes_.push_back(cut_note(container.value()));
  return std::nullopt;
}

Status LogMerger::open_directory() {
  if (auto error = check_directory(path_)) return error;
  discover();
  if (!opened_.empty()) return std::nullopt;
  if (!notes_.empty()) return Error{notes_.front()};
  if (finished_logs_.empty() && session_over(session_json())) {
    return Error{path_ + " has no log: no process of this session used the GPU while it was traced."};
  }
  return std::nullopt;
}

void LogMerger::discover() {
  auto names = file_names(path_, GMT_LOG_SUFFIX);
  if (!names) return;
  for (const std::string &name : names.value()) {
    if (!finished_logs_.contains(name)) try_log(name);
  }
}

void LogMerger::try_log(const std::string &name) {
  auto log = LogFile::open(path_ + "/" + name);
  if (log && !log.value().ready()) return;  // being created: looked at again
  finished_logs_.insert(name);
  if (log) {
    opened_.push_back(std::move(log.value()));
  } else {
    notes_.push_back(log.error());
  }
}

// Makes processes of the logs found, in the order of their start.
void LogMerger::adopt() {
  sort_by_start(opened_);
  for (LogFile &log : opened_) {
    gmt_file_header header = log.header();
    if (processes_.empty()) start_realtime_ns_ = header.start_realtime_ns;
    if (begins_later(header)) continue;
    processes_.push_back(std::make_unique<Process>(std::move(log), header, start_realtime_ns_));
  }
  opened_.clear();
}

bool LogMerger::begins_later(const gmt_file_header &header) const {
  return header.start_realtime_ns > start_realtime_ns_ && header.start_realtime_ns - start_realtime_ns_ > until_ns_;
}

void LogMerger::check_processes() {
  for (auto &process : processes_) {
    if (!process->gone)
      process->gone = !process_runs(process->facts.pid, process->process_start) && !process->log.written_from_outside();
  }
}

// The one whose time is furthest behind.
LogMerger::Process *LogMerger::next_to_read() {
  Process *next = nullptr;
  for (auto &process : processes_) {
    if (!process->idle && (!next || process->time_ns() < next->time_ns())) next = process.get();
  }
  return next;
}

// How far it may be read now: not much ahead of the others, so that what was delivered is everything up to about one time.
uint64_t LogMerger::horizon(const Process &process) const {
  uint64_t until = until_ns_;
  for (const auto &other : processes_) {
    if (!other->idle && other.get() != &process) until = std::min(until, other->time_ns() + kAheadNs);
  }
  return until;
}

// Whoever took its time before `until_ns` has had the time to write.
bool LogMerger::time_is_over() const {
  if (until_ns_ == kToTheEnd) return false;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto now_ns = static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
  return now_ns > start_realtime_ns_ + Merge::kMaxWaitNs && now_ns - start_realtime_ns_ - Merge::kMaxWaitNs > until_ns_;
}

PollResult LogMerger::poll(const BatchSink &sink, uint64_t max_events) {
  uint64_t now = steady_ns();
  if (!saved_ && (checked_ns_ == 0 || now - checked_ns_ >= kCheckIntervalNs)) {
    discover();
    adopt();
    check_processes();  // before reading: what a process that is gone wrote is all there
    checked_ns_ = now;
  }
  if (!opened_.empty()) adopt();
  if (overtaken()) return {};
  for (auto &process : processes_) process->idle = process->past;
  PollResult result;
  while (result.events < max_events) {
    Process *process = next_to_read();
    if (!process) return result;
    batch_.clear();
    const uint64_t until = horizon(*process);
    const bool more = process->merge.read(process->log, process->tables, batch_, process->gone, now, until);
    process->past = process->merge.next_ns() > until_ns_;
    process->idle = !more || process->past;
    if (process->merge.overtaken()) return result;
    result.events += batch_.size();
    if (batch_.empty()) continue;
    const auto same = [&](const auto &other) { return other.get() == process; };
    const auto index = std::ranges::find_if(processes_, same) - processes_.begin();
    sink(batch_.batch(static_cast<uint32_t>(index)));
  }
  result.more = next_to_read() != nullptr;
  return result;
}

uint64_t LogMerger::time_ns() const {
  uint64_t newest = 0;
  for (const auto &process : processes_) {
    if (process->merge.started()) newest = std::max({newest, process->facts.start_ns, process->merge.last_ns()});
  }
  return newest;
}

bool LogMerger::overtaken() const {
  const auto lacks = [&](const LogFile &log, uint64_t sequence) { return !log.retains(sequence, until_ns_); };
  const auto is_missed = [&](const LogFile &log) {
    return lacks(log, 1) && (start_realtime_ns_ == 0 || !begins_later(log.header()));
  };
  return std::ranges::any_of(opened_, is_missed) || std::ranges::any_of(processes_, [&](const auto &one) {
           return one->merge.overtaken() || (!one->past && lacks(one->log, one->merge.expected()));
         });
}

uint64_t LogMerger::retained_ns() const {
  uint64_t retained = 0;
  for (const LogFile &log : opened_) {
    if (log.header_word(&gmt_file_header::gone_sequence) == 0) continue;
    const uint64_t own = log.header_word(&gmt_file_header::kept_ns);
    retained = retained ? std::min(retained, own) : own;
  }
  return retained;
}

uint64_t LogMerger::sure_ns() const {
  uint64_t sure = time_ns();
  for (const auto &process : processes_) {
    if (!process->idle) sure = std::min(sure, process->time_ns());
  }
  return sure;
}

bool LogMerger::past() const {
  return std::ranges::all_of(processes_, [](const auto &process) { return process->past; });
}

void LogMerger::end_here() {
  for (const auto &process : processes_) {
    process->merge.end_at(until_ns_);
    process->past = true;
  }
}

void LogMerger::renumber(const std::vector<PackedChunks> &packed) {
  for (const auto &process : processes_) {
    const gmt_file_header header = process->log.header();
    const auto of = std::ranges::find_if(packed, [&](const auto &one) { return same_log(one.log, header); });
    process->merge.renumber(of == packed.end() ? std::span<const uint64_t>{} : of->chunks);
  }
}

void LogMerger::checkpoint(Archive &a) {
  a(start_realtime_ns_);
  const uint64_t count = a.count(processes_.size());
  for (uint64_t i = 0; i < count && a.good(); ++i) {
    if (a.reads()) {
      read_process(a);
    } else {
      Process &process = *processes_[i];
      gmt_file_header header = process.log.header();
      a(header.pid, header.process_start, header.start_realtime_ns, process.merge, process.tables);
    }
  }
}

void LogMerger::read_process(Archive &a) {
  gmt_file_header known{};
  a(known.pid, known.process_start, known.start_realtime_ns);
  const auto log = std::ranges::find_if(opened_, [&](const LogFile &one) { return same_log(one.header(), known); });
  a.hold(log != opened_.end());
  if (!a.good()) return;
  const gmt_file_header header = log->header();
  auto process = std::make_unique<Process>(std::move(*log), header, start_realtime_ns_);
  opened_.erase(log);
  a(process->merge, process->tables);
  process->merge.resume(a, process->log);
  process->past = process->merge.next_ns() > until_ns_;
  const bool was_read = process->facts.start_ns <= until_ns_;
  if (was_read) processes_.push_back(std::move(process));
}

bool LogMerger::ended(size_t process) const {
  const Process &one = *processes_[process];
  return !one.past && (one.gone || one.log.ended());
}

Losses LogMerger::losses(size_t process) const {
  Losses sum = processes_[process]->merge.losses();
  gmt_file_header header = processes_[process]->log.header();
  for (uint32_t cause = 0; cause < GMT_LOST_CAUSES; ++cause) sum.count[cause] += header.lost[cause];
  return sum;
}

Losses LogMerger::losses() const {
  Losses sum;
  for (size_t i = 0; i < processes_.size(); ++i) sum += losses(i);
  if (cut_ && sum.count[kLostCutShort] == 0) sum.count[kLostCutShort] = 1;
  return sum;
}

uint64_t LogMerger::events() const {
  uint64_t sum = 0;
  for (const auto &process : processes_) sum += process->merge.events();
  return sum;
}

uint64_t LogMerger::events_to_come() const {
  uint64_t sum = 0;
  for (const auto &process : processes_) {
    sum += std::max(process->log.next_sequence(), process->merge.expected()) - process->merge.expected();
  }
  return sum;
}

bool LogMerger::live() const {
  if (overtaken()) return !saved_;
  if (!opened_.empty()) return true;
  if (processes_.empty()) return !saved_ && !session_over(session_json());
  const bool over = time_is_over();
  for (size_t i = 0; i < processes_.size(); ++i) {
    if (!processes_[i]->idle || !(over || processes_[i]->past || ended(i))) return true;
  }
  return false;
}

std::vector<std::string> LogMerger::notes() const {
  std::vector<std::string> all = notes_;
  for (const auto &process : processes_) {
    const uint64_t at = process->merge.damaged_at();
    if (at == 0) continue;
    all.push_back(process->log.where() + " is damaged at byte " + std::to_string(process->log.file_offset(at)) +
                  ". The readable part is shown.");
  }
  return all;
}

std::vector<std::string> LogMerger::open_logs() const {
  std::vector<std::string> paths;
  if (!saved_) {
    for (const auto &process : processes_) paths.push_back(process->log.open_path());
  }
  return paths;
}

std::string LogMerger::session_json() const { return saved_ ? saved_json_ : read_session_json(path_); }

}  // namespace gmt::trace
