#include "recorder/query_server.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "model/query/questions.h"

namespace gmt::recorder {
namespace {

constexpr uint64_t kNewest = trace::LogMerger::kToTheEnd;
constexpr uint64_t kEvents = 1 << 18;   ///< between two checks
constexpr uint64_t kJustAfterNs = 100;  ///< what is alive at a moment is in it, however times are rounded
constexpr size_t kMostLines = 1000;
/// Longer than a reader waits for what a thread is just writing.
constexpr auto kLongest = std::chrono::milliseconds(2500);

/// The newest process with that number.
std::optional<uint32_t> process_of(const session::ModelledTrace &modelled, uint32_t pid) {
  for (size_t at = modelled.reader->process_count(); at-- > 0;) {
    if (modelled.reader->facts(at).pid == pid) return static_cast<uint32_t>(at);
  }
  return std::nullopt;
}

class Answer {
 public:
  Answer &record() {
    if (!text.empty()) text += '\x1e';
    return *this;
  }
  Answer &operator<<(const std::string &field) {
    if (!text.empty() && text.back() != '\x1e') text += '\x1f';
    std::ranges::replace_copy_if(
        field, std::back_inserter(text), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, '?');
    return *this;
  }
  Answer &operator<<(auto number) { return *this << std::to_string(number); }

  std::string text;
};

std::string refused(const std::string &why) { return (Answer() << std::string("problem") << why).text; }

void add_ledger(Answer &to, const model::Ledger &ledger, const model::ProcessState *process) {
  int64_t reserved = 0;
  if (process && process->devices.contains(ledger.device))
    reserved = process->devices.at(ledger.device).reserved_bytes();
  const model::Window &window = ledger.window;
  to.record() << std::string(model::word_of(ledger.layer)) << model::device_number(ledger.device) << ledger.live_bytes
              << ledger.live_count << ledger.peak_bytes << reserved << window.peak_bytes << window.peak_ns;
}

std::string lines_of(session::ModelledTrace &modelled, const model::SiteQuery &query) {
  const model::State &state = modelled.model.settled();
  Answer to;
  to << std::string("lines");
  for (const model::SiteRow &row : model::sites(state, query).rows) {
    const auto site = model::site(state, row.id);
    if (!site) continue;
    to.record() << row.live_bytes << row.live_count << site->library << site->stack.user_frame;
    for (const model::Frame &frame : site->stack.frames) to << frame.file << frame.line << frame.function;
  }
  return to.text;
}

}  // namespace

void QueryServer::open() {
  auto opened = session::open(directory_, kNewest, kNewest);
  problem_ = opened ? "" : opened.error();
  modelled_ = opened ? std::move(opened.value()) : nullptr;
  if (modelled_ && window_ns_) modelled_->model.begin_windows(window_ns_);
}

bool QueryServer::turn() {
  if (!modelled_) return false;
  const bool more = modelled_->poll(kEvents);
  if (modelled_->reader->overtaken()) {
    window_is_whole_ = false;
    open();
  }
  return more;
}

void QueryServer::catch_up() {
  // The log of a process that has just begun is looked for at once, and then all of it is read.
  if (!modelled_ || !process_of(*modelled_, pid_)) open();
  turn();
  if (!modelled_) return;
  const uint64_t goal = modelled_->reader->events() + modelled_->reader->events_to_come();
  const auto end = std::chrono::steady_clock::now() + kLongest;
  while (modelled_ && modelled_->reader->events() < goal && modelled_->reader->events_to_come() > 0 &&
         std::chrono::steady_clock::now() < end) {
    if (!turn()) std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

std::string QueryServer::answer(const std::string &query) {
  char name[16] = {}, layer[16] = {};
  unsigned long long from_ns = 0, at_ns = 0;
  const int words = std::sscanf(query.c_str(), "%15s %15s %llu %llu", name, layer, &from_ns, &at_ns);
  const std::string_view kind = name;
  catch_up();
  if (!modelled_) return refused(problem_);
  if (kind == "lines" && words == 4) return lines(layer, from_ns, at_ns);
  if (kind == "window") {
    window_ns_ = modelled_->model.state().now_ns + 1;
    window_is_whole_ = true;
    modelled_->model.begin_windows(window_ns_);
  }
  return state();
}

std::string QueryServer::state() const {
  const auto number = process_of(*modelled_, pid_);
  const model::State &state = modelled_->model.state();
  Answer to;
  to << std::string("state") << window_ns_ << window_is_whole_
     << (number && modelled_->reader->facts(*number).simulated) << (!number || state.recording(*number))
     << (number ? modelled_->reader->losses(*number).events() : 0);
  for (const model::Ledger &ledger : state.accounts.ledgers()) {
    if (number && ledger.process == *number) add_ledger(to, ledger, state.process(*number));
  }
  return to.text;
}

std::string QueryServer::lines(std::string_view layer, uint64_t from_ns, uint64_t at_ns) {
  const auto &layers = model::Words<model::Layer>::kAll;
  const auto found = std::ranges::find(layers, layer);
  if (found == layers.end()) return refused("There is no layer " + std::string(layer) + ".");
  session::ModelledTrace *modelled = modelled_.get();
  trace::Result<std::unique_ptr<session::ModelledTrace>> then{nullptr};
  if (at_ns) {
    then = session::open(directory_, at_ns + kJustAfterNs, at_ns + kJustAfterNs);
    if (!then) return refused(then.error());
    modelled = then.value().get();
    while (modelled->poll(kEvents)) {
    }
    if (modelled->reader->overtaken()) return refused("That moment is no longer stored.");
    modelled->reader->end_here();
  }
  const auto number = process_of(*modelled, pid_);
  if (!number) return std::string("lines");
  model::SiteQuery query;
  query.layer = static_cast<model::Layer>(found - layers.begin());
  query.process = static_cast<int32_t>(*number);
  query.births.from_ns = from_ns;
  query.to = kMostLines;
  return lines_of(*modelled, query);
}

}  // namespace gmt::recorder
