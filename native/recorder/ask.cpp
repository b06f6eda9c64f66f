#include "recorder/ask.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <thread>

#include "model/query/questions.h"

namespace gmt::recorder {
namespace {

constexpr uint64_t kNewest = trace::SessionReader::kToTheEnd;
constexpr uint64_t kEvents = 1 << 18;   ///< between two looks
constexpr uint64_t kJustAfterNs = 100;  ///< what is alive at a moment is in it, however times are rounded
constexpr size_t kMostLines = 1000;
/// Longer than a reader waits for what a thread is just writing.
constexpr auto kLongest = std::chrono::milliseconds(2500);

/// The newest process with that number.
std::optional<uint32_t> process_of(const session::Session &session, uint32_t pid) {
  for (size_t at = session.reader->process_count(); at-- > 0;) {
    if (session.reader->facts(at).pid == pid) return static_cast<uint32_t>(at);
  }
  return std::nullopt;
}

void append_quoted(std::string &to, std::string_view text) {
  to += '"';
  for (const char c : text) {
    char escape[8];
    std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned char>(c));
    if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20)
      to += escape;
    else
      to += c;
  }
  to += '"';
}

void append(std::string &to, const char *name, auto value) {
  if (to.back() != '{') to += ',';
  append_quoted(to, name);
  to += ':';
  if constexpr (std::is_same_v<decltype(value), bool>)
    to += value ? "true" : "false";
  else if constexpr (std::is_arithmetic_v<decltype(value)>)
    to += std::to_string(value);
  else
    append_quoted(to, value);
}

std::string refused(const std::string &why) {
  std::string json = "{";
  append(json, "problem", std::string_view(why));
  return json + "}";
}

void append_ledger(std::string &to, const model::Ledger &ledger, const model::ProcessState *process) {
  to += to.back() == '[' ? "{" : ",{";
  append(to, "layer", std::string_view(model::word_of(ledger.layer)));
  append(to, "device", model::device_number(ledger.device));
  append(to, "live", ledger.live_bytes);
  append(to, "count", ledger.live_count);
  append(to, "peak", ledger.peak_bytes);
  append(to, "allocations", ledger.allocations);
  append(to, "frees", ledger.frees);
  append(to, "window", ledger.window.live_bytes);
  append(to, "windowPeak", ledger.window.peak_bytes);
  append(to, "windowPeakNs", ledger.window.peak_ns);
  const auto device = process ? process->devices.find(ledger.device) : decltype(process->devices.end()){};
  if (process && device != process->devices.end() && device->second.knows_reserved())
    append(to, "reserved", device->second.reserved_bytes());
  to += '}';
}

void append_site(std::string &to, const model::SiteRow &row, const model::SiteDetail &site) {
  to += to.back() == '[' ? "{" : ",{";
  append(to, "bytes", row.live_bytes);
  append(to, "count", row.live_count);
  append(to, "library", std::string_view(site.library));
  append(to, "user", site.stack.user_frame);
  to += ",\"stack\":[";
  for (const model::Frame &frame : site.stack.frames) {
    to += to.back() == '[' ? "[" : ",[";
    append_quoted(to, frame.file);
    to += ',' + std::to_string(frame.line) + ',';
    append_quoted(to, frame.function);
    to += ']';
  }
  to += "]}";
}

std::string lines_of(session::Session &session, uint32_t process, const model::SiteQuery &asked) {
  const model::State &state = session.model.settled();
  model::SiteQuery query = asked;
  query.process = static_cast<int32_t>(process);
  const model::SiteRows rows = model::sites(state, query);
  std::string json = "{";
  append(json, "bytes", rows.sum_live_bytes);
  append(json, "stacks", rows.total);
  json += ",\"lines\":[";
  for (const model::SiteRow &row : rows.rows) {
    if (const auto site = model::site(state, row.id)) append_site(json, row, *site);
  }
  return json + "]}";
}

}  // namespace

bool Asked::known() { return session_ && process_of(*session_, pid_); }

void Asked::open() {
  auto opened = session::open(directory_, kNewest, kNewest);
  if (!opened) {
    session_.reset();
    problem_ = opened.error();
    return;
  }
  session_ = std::move(opened.value());
  if (window_ns_) session_->model.begin_windows(window_ns_);
}

bool Asked::turn() {
  if (!session_) return false;
  const bool more = session_->poll(kEvents);
  if (session_->reader->overtaken()) {
    window_is_whole_ = false;
    open();
  }
  return more;
}

void Asked::catch_up() {
  // The log of a process that has just begun is looked for at once, and then all of it is read.
  if (!known()) open();
  if (!session_) return;
  turn();
  const uint64_t goal = session_->reader->events() + session_->reader->events_to_come();
  const auto end = std::chrono::steady_clock::now() + kLongest;
  while (session_ && session_->reader->events() < goal && session_->reader->events_to_come() > 0 &&
         std::chrono::steady_clock::now() < end) {
    if (!turn()) std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

std::string Asked::answer(std::string_view question) {
  const std::string words(question);
  char name[16] = {}, layer[16] = {};
  unsigned long long from = 0, at = 0;
  const int count = std::sscanf(words.c_str(), "%15s %15s %llu %llu", name, layer, &from, &at);
  const std::string_view asked = name;
  catch_up();
  if (!session_) return refused(problem_);
  if (asked == "window" && count == 1) {
    window_ns_ = session_->model.state().now_ns + 1;
    window_is_whole_ = true;
    session_->model.begin_windows(window_ns_);
    return state();
  }
  if (asked == "state" && count == 1) return state();
  if (asked == "lines" && count == 4) return lines(layer, from, at);
  return refused("What is asked is not understood: " + words);
}

std::string Asked::state() {
  const auto number = process_of(*session_, pid_);
  const model::State &state = session_->model.state();
  std::string json = "{";
  append(json, "begun", number.has_value());
  append(json, "windowNs", window_ns_);
  append(json, "whole", window_is_whole_);
  if (number) {
    append(json, "simulated", session_->reader->facts(*number).simulated);
    append(json, "recording", state.recording(*number));
    append(json, "lost", session_->reader->losses(*number).events());
  }
  json += ",\"ledgers\":[";
  for (const model::Ledger &ledger : state.accounts.ledgers()) {
    if (number && ledger.process == *number) append_ledger(json, ledger, state.process(*number));
  }
  return json + "]}";
}

std::string Asked::lines(std::string_view layer, uint64_t from_ns, uint64_t at_ns) {
  const auto &words = model::Words<model::Layer>::kAll;
  const auto word = std::ranges::find(words, layer);
  if (word == words.end()) return refused("There is no layer " + std::string(layer) + ".");
  model::SiteQuery query;
  query.layer = static_cast<model::Layer>(word - words.begin());
  query.births.from_ns = from_ns;
  query.to = kMostLines;
  session::Session *session = session_.get();
  std::unique_ptr<session::Session> then;
  if (at_ns) {
    auto opened = session::open(directory_, at_ns + kJustAfterNs, at_ns + kJustAfterNs);
    if (!opened) return refused(opened.error());
    then = std::move(opened.value());
    while (then->poll(kEvents)) {
    }
    if (then->reader->overtaken()) return refused("That moment is not kept any more.");
    then->reader->end_here();
    session = then.get();
  }
  const auto number = process_of(*session, pid_);
  return number ? lines_of(*session, *number, query) : refused("The process has not used the GPU.");
}

}  // namespace gmt::recorder
