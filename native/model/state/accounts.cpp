#include "model/state/accounts.h"

namespace gmt::model {
namespace {

constexpr uint64_t kOfSite = 1ull << 63;

/// `library`: its number within a process, a hash of its name beyond; 0 = none.
uint64_t site_key(uint64_t content, Layer layer, LineSource source, uint64_t library) {
  return content * 31 + static_cast<uint64_t>(layer) * 8 + static_cast<uint64_t>(source) + spread(library);
}

}  // namespace

uint64_t SiteInfo::key() const {
  if (!summary.resolved || library.awaited()) return 0;
  return site_key(summary.content, layer, source, library.number ? hash_of(library.file_name()) : 0);
}

void Accounts::grow(Book &book) {
  const std::vector<KeyedCell> old = std::move(book.cells);
  book.cells.assign(old.empty() ? 1024 : old.size() * 2, {kNoKey, 0, 0});
  for (const KeyedCell &known : old) {
    if (known.line != kNoKey) book.cells[place(book, known.key())] = known;
  }
}

Accounts::Book &Accounts::book(uint32_t process) {
  if (process >= books_.size()) books_.resize(process + 1);
  if (!books_[process]) {
    books_[process] = std::make_unique<Book>();
    books_[process]->ledgers.assign(256 * kLayers, kNone);
    grow(*books_[process]);
  }
  return *books_[process];
}

Ledger &Accounts::ledger(uint32_t process, Layer layer, uint8_t device) {
  uint32_t &index = book(process).ledgers[static_cast<size_t>(device) * kLayers + static_cast<size_t>(layer)];
  if (index == kNone) {
    index = static_cast<uint32_t>(ledgers_.size());
    ledgers_.emplace_back();
    ledgers_.back().process = process;
    ledgers_.back().device = device;
    ledgers_.back().layer = layer;
    ledger_at_.push_back(&ledgers_.back());
  }
  return ledgers_[index];
}

int64_t Accounts::live_bytes(uint32_t process, Layer layer, uint8_t device) const {
  for (const Ledger &ledger : ledgers_)
    if (ledger.process == process && ledger.layer == layer && ledger.device == device) return ledger.live_bytes;
  return 0;
}

const StackSummary &Accounts::summary(uint32_t process, uint32_t stack) {
  StackSummary &known = book(process).summaries[stack];
  if (known.resolved) return known;
  Stack frames;
  if (stack == 0 || names_.stack(process, stack, frames)) known = summarize(frames);
  return known;
}

uint32_t Accounts::library_cell(uint32_t process, Layer layer, uint8_t device, uint32_t thread, LineRef line) {
  auto &cells = book(process).library_cells;
  const std::pair key{line.library, cell_key(layer, device, thread, line)};
  const auto found = cells.find(key);
  if (found != cells.end()) return found->second;
  return cells[key] = new_cell(process, layer, device, thread, line);
}

uint32_t Accounts::new_cell(uint32_t process, Layer layer, uint8_t device, uint32_t thread, LineRef line) {
  const auto index = static_cast<uint32_t>(cells_.size());
  Ledger &own = ledger(process, layer, device);
  Cell cell;
  cell.site = site(process, layer, line);
  cell.ledger =
      book(process).ledgers[static_cast<size_t>(own.device) * kLayers + static_cast<size_t>(layer)] & kNone >> 4;
  cells_.push_back(cell);
  infos_.push_back({process, line.stack, thread, device, layer, line.source});
  set_pass(index);
  spans_.add_cell();
  sites_[cell.site].cells.push_back(index);
  set_line(index);
  return index;
}

/// Puts the cell to those of its line. What it and those with it had before is a part of that one's peak.
void Accounts::set_line(uint32_t index) {
  Cell &cell = cells_[index];
  CellInfo &info = infos_[index];
  const SiteInfo &site = sites_[cell.site];
  const bool known = site.summary.resolved && !site.library.awaited();
  const uint64_t line = known ? uint64_t{site.line_group} * kLayers + static_cast<uint64_t>(info.layer)
                              : kOfSite | static_cast<uint64_t>(cell.site);
  if (line == info.line) return;
  int64_t peak = cell.peak_bytes;
  if (const auto old = line_cells_.find(info.line); old != line_cells_.end()) {
    if (cell.line && info.line & kOfSite) peak = lines_[cell.line].peak_bytes;
    lines_[cell.line].live_bytes -= cell.live_bytes;
    old->second.count = kNone;
  }
  info.line = line;
  cell.line = 0;
  LineCells &own = line_cells_[line];
  if (own.count == kNone) return;
  if (own.count++ == 0) {
    own.first = index;
    return;
  }
  if (own.level == 0) {
    Cell &first = cells_[own.first];
    first.line = own.level = static_cast<uint32_t>(lines_.size());
    lines_.push_back({first.live_bytes, first.peak_bytes});
  }
  cell.line = own.level;
  LineLevel &level = lines_[own.level];
  level.live_bytes += cell.live_bytes;
  level.peak_bytes = std::max({level.peak_bytes, level.live_bytes, peak});
}

void Accounts::set_pass(uint32_t index) {
  Cell &cell = cells_[index];
  const CellInfo &info = infos_[index];
  const StackSummary &summary = sites_[cell.site].summary;
  const bool python = info.source == LineSource::Python;
  cell.calls_backward = python && summary.calls_backward;
  Pass pass = summary.pass;
  if (info.source != LineSource::None && !python)
    pass = Pass::Backward;  // a line that another one's pass is shown at
  else if (pass == Pass::Other && !names_.module_path(info.process, info.stack).empty())
    pass = Pass::Forward;
  cell.pass = static_cast<uint32_t>(pass) & 7;
}

uint32_t Accounts::site(uint32_t process, Layer layer, LineRef line) {
  Book &own = book(process);
  const StackSummary &known = summary(process, line.stack);
  auto &index = known.resolved ? own.sites : own.pending_sites;
  const uint64_t key = site_key(known.resolved ? known.content : line.stack, layer, line.source, line.library);
  const auto found = index.find(key);
  if (found != index.end()) return found->second;
  const uint32_t site = new_site(process, layer, line);
  index.emplace(key, site);
  return site;
}

uint32_t Accounts::new_site(uint32_t process, Layer layer, LineRef line) {
  const auto site = static_cast<uint32_t>(sites_.size());
  sites_.push_back({process, line.stack, layer, line.source, kNone, 0, 0, 0, summary(process, line.stack), {}, {}, {}});
  steps_.add_site();
  SiteInfo &info = sites_.back();
  info.library.number = line.library;
  name_library(info);
  name_groups(info);
  if (!info.summary.resolved || info.library.awaited()) unresolved_.push_back(site);
  return site;
}

void Accounts::name_library(SiteInfo &info) {
  if (!info.library.awaited()) return;
  info.library.path = names_.library(info.process, info.library.number);
  info.library.search = lower_case(info.library.file_name());
}

/// Numbers for the texts that sites are grouped by.
void Accounts::name_groups(SiteInfo &info) {
  const auto number = [this](std::string text) {
    return group_names_.emplace(std::move(text), static_cast<uint32_t>(group_names_.size())).first->second;
  };
  const std::string &file = info.summary.file;
  const std::string place =
      file.empty() ? "\n" + info.library.file_name() : file;  // a library stands for a missing line
  info.line_group = number(place + ":" + std::to_string(info.summary.line));
  info.function_group = number(place + "\n" + info.summary.function);
  info.module_group = number(place + "\n\n");
}

/// Stacks with a compiler's code are not known any more.
void Accounts::forget_generated(uint32_t process) {
  Book &own = *books_[process];
  if (std::exchange(own.generated, names_.generated_count(process)) == names_.generated_count(process)) return;
  std::erase_if(own.summaries, [](const auto &known) { return known.second.generated; });
  for (uint32_t site = 0; site < sites_.size(); ++site) {
    SiteInfo &info = sites_[site];
    if (info.process != process || info.merged_into != kNone || !info.summary.generated) continue;
    own.sites.erase(site_key(info.summary.content, info.layer, info.source, info.library.number));
    own.pending_sites.emplace(site_key(info.stack, info.layer, info.source, info.library.number), site);
    info.summary = {};
    unresolved_.push_back(site);
  }
}

void Accounts::resolve_pending() {
  for (uint32_t process = 0; process < books_.size(); ++process)
    if (books_[process]) forget_generated(process);
  std::vector<uint32_t> waiting = std::move(unresolved_);
  unresolved_.clear();
  for (const uint32_t site : waiting) settle_site(site);
}

void Accounts::settle_site(uint32_t site) {
  SiteInfo &info = sites_[site];
  if (info.merged_into != kNone) return;
  name_library(info);
  if (!info.summary.resolved && summary(info.process, info.stack).resolved) settle_stack(site);
  if (info.merged_into != kNone) return;
  name_groups(info);
  for (const uint32_t cell : info.cells) set_line(cell);
  if (!info.summary.resolved || info.library.awaited()) unresolved_.push_back(site);
}

void Accounts::settle_stack(uint32_t site) {
  SiteInfo &info = sites_[site];
  const StackSummary &known = summary(info.process, info.stack);
  info.summary = known;
  for (const uint32_t cell : info.cells) set_pass(cell);
  Book &own = book(info.process);
  const uint16_t library = info.library.number;
  own.pending_sites.erase(site_key(info.stack, info.layer, info.source, library));
  const auto [entry, is_new] = own.sites.emplace(site_key(known.content, info.layer, info.source, library), site);
  if (!is_new) merge(site, entry->second);
}

void Accounts::merge(uint32_t from, uint32_t into) {
  for (const uint32_t cell : sites_[from].cells) {
    cells_[cell].site = into;
    sites_[into].cells.push_back(cell);
    set_line(cell);
  }
  sites_[from].cells.clear();
  sites_[from].merged_into = into;
  for (const FreeStack &one : sites_[from].free_stacks) count_free_stack(into, one);
  sites_[from].free_stacks.clear();
  steps_.merge(from, into, book(sites_[from].process).frame.step);
}

void Accounts::halve_spans() {
  spans_.halve();
  for (Cell &cell : cells_) cell.filled_spans /= 2;
}

/// The value that held until now goes to every span that ended before `time_ns`.
void Accounts::fill_spans(uint32_t cell, uint64_t time_ns) {
  reach_time(time_ns);
  Cell &own = cells_[cell];
  const uint32_t span = spans_.span_of(time_ns);
  for (; own.filled_spans < span; ++own.filled_spans) {
    spans_.put(own.filled_spans, cell, own.live_bytes);
  }
}

}  // namespace gmt::model
