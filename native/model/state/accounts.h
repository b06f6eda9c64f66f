#pragma once
// Who holds how much: cells (one maker of allocations: process, layer, device, thread, line), sites (cells with
// the same stack content), ledgers (process, device, layer).
#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "model/state/names.h"
#include "model/state/stack_summary.h"
#include "model/state/types.h"
#include "model/steps/loop_finder.h"
#include "model/steps/site_steps.h"
#include "model/steps/span_table.h"
#include "model/steps/step_frame.h"
#include "model/steps/step_list.h"
#include "model/steps/timeline_series.h"

namespace gmt::model {

/// Running numbers of one cell: one cache line, touched by every event.
struct alignas(64) Cell {
  int64_t live_bytes = 0;
  int64_t live_count = 0;
  int64_t peak_bytes = 0;
  uint64_t allocations = 0;
  uint64_t frees = 0;
  uint64_t allocated_bytes = 0;
  uint32_t filled_spans = 0;  ///< spans of the SpanTable that are written for this cell
  uint32_t line = 0;          ///< the LineLevel that it counts in; 0: that of all which are alone, and means nothing
  uint32_t site = 0;
  uint32_t ledger : 28 = 0;
  uint32_t pass : 3 = 0;  ///< enum Pass
  uint32_t calls_backward : 1 = 0;
  void checkpoint(Archive &a) {
    uint32_t own = ledger;
    auto stored_pass = static_cast<Pass>(pass);
    bool calls = calls_backward;
    a(live_bytes, live_count, peak_bytes, allocations, frees, allocated_bytes, filled_spans, line, calls, stored_pass);
    row(a, kSiteRows, site);
    row(a, kLedgerRows, own);
    ledger = own & kNone >> 4;
    pass = static_cast<uint32_t>(stored_pass) & 7;
    calls_backward = calls;
  }
};
static_assert(sizeof(Cell) == 64);

/// What the cells of one layer at one line have together, where it has several: each event touches one of few.
struct LineLevel {
  int64_t live_bytes = 0;
  int64_t peak_bytes = 0;
  void checkpoint(Archive &a) { a(peak_bytes); }
};

/// The cells of one layer at one line; of a site whose line is not known yet, its own.
struct LineCells {
  uint32_t first = kNone;
  uint32_t level = 0;  ///< of several cells; 0: it has none
  uint32_t count = 0;  ///< kNone: some have left it, so what they had together is not known
  void checkpoint(Archive &a) {
    row_or_none(a, kCellRows, first);
    a(level, count);
  }
};

struct CellInfo {
  uint32_t process;
  uint32_t stack;
  uint32_t thread;
  uint8_t device;
  Layer layer;
  LineSource source;
  uint64_t line = ~0ull;  ///< the LineCells that it is one of
  void checkpoint(Archive &a) { a(process, stack, thread, device, layer, source, line); }
};

/// A library that called the driver.
struct LibraryInfo {
  uint16_t number = 0;  ///< in the process; 0 = none is known
  std::string path;     ///< empty while its record has not been read
  std::string search;   ///< file name in lower case
  bool awaited() const { return number != 0 && path.empty(); }
  std::string file_name() const { return path.substr(path.rfind('/') + 1); }
  void checkpoint(Archive &a) { a(number, path, search); }
};

/// An allocation that ends.
struct Ending {
  uint64_t address;
  uint64_t bytes;
  uint64_t born_ns;
  uint32_t born_step;
  uint32_t thread;  ///< that frees
  uint8_t device;
};

/// A stack that freed blocks of a site.
struct FreeStack {
  uint32_t stack;
  uint32_t last_step;
  uint64_t count;
};

struct SiteInfo {
  uint32_t process;
  uint32_t stack;  ///< one of the stacks with this content
  Layer layer;
  LineSource source;        ///< that its key has
  uint32_t merged_into;     ///< kNone, or the site that took this one's cells
  uint32_t line_group;      ///< equal for sites with the same file and line
  uint32_t function_group;  ///< equal for sites with the same file and function
  uint32_t module_group;    ///< equal for sites with the same file
  StackSummary summary;
  LibraryInfo library;
  std::vector<uint32_t> cells;
  std::vector<FreeStack> free_stacks;

  /// The same for the same stack content, layer, source and library's name in every process and every trace. 0: not known yet.
  uint64_t key() const;
  void checkpoint(Archive &a);
  LineSource shown_source() const { return summary.before_attach ? LineSource::BeforeAttach : source; }
};

/// Totals of one process, device and layer.
struct LedgerNumbers {
  uint32_t process;
  uint8_t device;
  Layer layer;
  int64_t live_bytes = 0;
  int64_t live_count = 0;
  int64_t peak_bytes = 0;
  uint64_t peak_ns = 0;
  uint64_t allocations = 0;
  uint64_t frees = 0;
  uint64_t failed = 0;
  uint64_t allocated_bytes = 0;
  uint64_t freed_bytes = 0;
  uint64_t unmatched_frees = 0;
  uint64_t implied_frees = 0;
  uint64_t segment_allocations = 0;  ///< of these, allocated and freed by a framework's caching allocator
  uint64_t segment_frees = 0;
  void checkpoint(Archive &a) {
    a(process, device, layer, live_bytes, live_count, peak_bytes, peak_ns, allocations, frees, failed, allocated_bytes,
      freed_bytes, unmatched_frees, implied_frees, segment_allocations, segment_frees);
  }
};

/// What was allocated since a moment: of that, what lives and what was most.
struct Window {
  int64_t live_bytes = 0;
  int64_t peak_bytes = 0;
  uint64_t peak_ns = 0;
};

struct Ledger : LedgerNumbers {
  TimelineSeries timeline;  ///< live bytes
  StepLevel steps;          ///< of them
  Window window;
  void checkpoint(Archive &a) {
    LedgerNumbers::checkpoint(a);
    a(timeline, steps);
  }
};

class Accounts {
 public:
  explicit Accounts(const Names &names) : names_(names) {}
  void checkpoint(Archive &a);

  /// What follows is of this process.
  void enter(uint32_t process) { frame_ = &book(process).frame; }
  StepFrame &frame(uint32_t process) { return book(process).frame; }
  bool has_process(uint32_t process) const { return process < books_.size() && books_[process]; }

  uint32_t cell(uint32_t process, Layer layer, uint8_t device, uint32_t thread, LineRef line) {
    if (line.library) [[unlikely]]
      return library_cell(process, layer, device, thread, line);
    Book &own = book(process);
    const CellKey key = cell_key(layer, device, thread, line);
    const size_t at = place(own, key);
    if (own.cells[at].key() == key) return own.cells[at].cell;
    const uint32_t cell = new_cell(process, layer, device, thread, line);
    own.cells[at] = {key.line, key.thread, cell};
    if (++own.used * 2 > own.cells.size()) grow(own);
    return cell;
  }
  Ledger &ledger(uint32_t process, Layer layer, uint8_t device);
  int64_t live_bytes(uint32_t process, Layer layer, uint8_t device) const;

  /// The three steps by which a coming event's memory is fetched; each may only use what the one before has brought near.
  void prefetch_key(uint32_t process, Layer layer, uint8_t device, uint32_t thread, LineRef line) const {
    if (process >= books_.size() || !books_[process]) return;
    const Book &own = *books_[process];
    __builtin_prefetch(&own.cells[home(own, cell_key(layer, device, thread, line))]);
  }
  /// The cell behind that key, kNone when it is not where it is looked for first.
  uint32_t guess_cell(uint32_t process, Layer layer, uint8_t device, uint32_t thread, LineRef line) const {
    if (process >= books_.size() || !books_[process]) return kNone;
    const Book &own = *books_[process];
    const CellKey key = cell_key(layer, device, thread, line);
    const size_t mask = own.cells.size() - 1;
    size_t at = home(own, key);
    for (size_t tries = 0; tries < 4; ++tries, at = (at + 1) & mask) {
      if (own.cells[at].key() == key) return own.cells[at].cell;
    }
    return kNone;
  }
  void prefetch_cell(uint32_t cell) const { __builtin_prefetch(&cells_[cell], 1); }
  void prefetch_site(uint32_t cell) const {
    steps_.prefetch(cells_[cell].site);
    __builtin_prefetch(&lines_[cells_[cell].line], 1);
  }
  void prefetch_history(uint32_t cell, bool old) const {
    steps_.prefetch_history(cells_[cell].site, frame_->step, old);
  }

  void add(uint32_t cell, uint64_t bytes, uint64_t time_ns) {
    Cell &own = cells_[cell];
    Ledger &ledger = *ledger_at_[own.ledger];
    if (time_ns >> spans_.shift() > own.filled_spans) fill_spans(cell, time_ns);
    raise(own, ledger, static_cast<int64_t>(bytes), time_ns, time_ns);
    steps_.allocated(own.site, bytes, frame_->step);
    ++own.live_count;
    ++own.allocations;
    own.allocated_bytes += bytes;
    ++ledger.live_count;
    ++ledger.allocations;
    ledger.allocated_bytes += bytes;
    if (frame_->finder) frame_->finder->note({time_ns, 0, bytes, cell, StepEntry::Allocation, 0, false});
  }
  void remove(uint32_t cell, const Ending &ending, uint64_t time_ns) {
    Cell &own = cells_[cell];
    Ledger &ledger = *ledger_at_[own.ledger];
    if (time_ns >> spans_.shift() > own.filled_spans) fill_spans(cell, time_ns);
    raise(own, ledger, -static_cast<int64_t>(ending.bytes), ending.born_ns, time_ns);
    steps_.freed(own.site, ending.bytes, frame_->step);
    --own.live_count;
    ++own.frees;
    --ledger.live_count;
    ++ledger.frees;
    ledger.freed_bytes += ending.bytes;
    const bool by_collector = ending.thread == frame_->gc_thread;
    if (by_collector) steps_.freed_by_collector(own.site, ending.bytes);
    if (ending.born_step != frame_->step) end_block(cell, ending);
    if (frame_->finder) {
      frame_->finder->note({time_ns, ending.born_ns, ending.bytes, cell, StepEntry::Free, 0, by_collector});
    }
  }
  /// Takes back a `remove`.
  void restore(uint32_t cell, uint64_t address, uint64_t bytes, uint64_t born_ns, uint64_t time_ns);
  /// See Model. Without it there are none.
  void begin_windows(uint64_t from_ns) {
    window_ns_ = from_ns;
    for (Ledger &ledger : ledgers_) ledger.window = {};
  }
  /// Stacks that are kept of a site; beyond them the rarest makes room.
  static constexpr size_t kFreeStacks = 32;
  void count_free_stack(uint32_t site, const FreeStack &one);
  /// The framework keeps tensors in what the cell allocated.
  void add_segment(uint32_t cell);

  /// The series of a process begin anew: with all so far in one step that still runs, or with what was before `entries`.
  void restart_in_first_step(uint32_t process);
  void restart_before(uint32_t process, const std::vector<StepEntry> &entries);
  void replay(const StepEntry &entry, uint32_t born_step);
  /// The running step of the process ended: its ledgers' levels go to their series.
  void end_step(uint32_t process);

  /// Tries again to resolve the stacks that were not known when their sites were made.
  void resolve_pending();
  /// Makes room for spans up to `now_ns`.
  void reach_time(uint64_t now_ns) {
    while (!spans_.fits(now_ns)) halve_spans();
  }
  const SpanTable &spans() const { return spans_; }
  /// Live bytes of the cell when `span` ended.
  double level(uint32_t span, uint32_t cell) const {
    const bool written = span < cells_[cell].filled_spans;
    return written ? spans_.at(span, cell) : static_cast<double>(cells_[cell].live_bytes);
  }

  const std::vector<Cell> &cells() const { return cells_; }
  const std::deque<CellInfo> &cell_infos() const { return infos_; }
  const std::deque<SiteInfo> &sites() const { return sites_; }
  /// The site that the cell's allocations are shown under.
  uint32_t site_of(uint32_t cell) const { return cells_[cell].site; }
  /// The site that has become of `site`; a number that no site has stays as it is.
  uint32_t current_site(uint32_t site) const {
    while (site < sites_.size() && sites_[site].merged_into != kNone) site = sites_[site].merged_into;
    return site;
  }
  /// The highest live bytes of all cells at the line of `cell`, where these are `count` cells; else -1.
  int64_t line_peak(uint32_t cell, uint32_t count) const {
    const auto found = line_cells_.find(infos_[cell].line);
    const bool all = found != line_cells_.end() && found->second.count == count && found->second.level;
    return all ? lines_[found->second.level].peak_bytes : -1;
  }
  const SiteSteps &steps() const { return steps_; }
  const std::deque<Ledger> &ledgers() const { return ledgers_; }
  Ledger &ledger_of(uint32_t cell) { return *ledger_at_[cells_[cell].ledger]; }
  const Ledger &ledger_of(uint32_t cell) const { return *ledger_at_[cells_[cell].ledger]; }

 private:
  static constexpr uint64_t kNoKey = ~0ull;
  struct CellKey {
    uint64_t line;  ///< and layer and device
    uint32_t thread;
    auto operator<=>(const CellKey &) const = default;
    void checkpoint(Archive &a) { a(line, thread); }
  };
  struct KeyedCell {
    uint64_t line;
    uint32_t thread;
    uint32_t cell;
    CellKey key() const { return {line, thread}; }
    void checkpoint(Archive &a) { a(line, thread, cell); }
  };
  /// From a cell's key to its index, and what is known per process.
  struct Book {
    std::vector<KeyedCell> cells;
    size_t used = 0;
    std::map<std::pair<uint16_t, CellKey>, uint32_t> library_cells;  ///< by library and cell key: few, rarely needed
    std::vector<uint32_t> ledgers;
    std::unordered_map<uint64_t, uint32_t> sites;          ///< by content, layer and source
    std::unordered_map<uint64_t, uint32_t> pending_sites;  ///< by stack id, layer and source
    std::unordered_map<uint32_t, StackSummary> summaries;
    size_t generated = 0;  ///< Names::generated_count, when it was looked
    StepFrame frame;
    void checkpoint(Archive &a);
  };

  static void grow(Book &book);
  bool sound() const;
  void checkpoint_lines(Archive &a);
  static CellKey cell_key(Layer layer, uint8_t device, uint32_t thread, LineRef line) {
    return {static_cast<uint64_t>(line.stack) << 32 | static_cast<uint64_t>(device) << 8 |
                static_cast<uint64_t>(layer) << 4 | static_cast<uint64_t>(line.source),
            thread};
  }
  static size_t home(const Book &book, CellKey key) {
    return (spread(key.line ^ static_cast<uint64_t>(key.thread) << 16) >> 32) & (book.cells.size() - 1);
  }
  /// Where `key` is, or would go.
  static size_t place(const Book &book, CellKey key) {
    const size_t mask = book.cells.size() - 1;
    size_t at = home(book, key);
    while (book.cells[at].key() != key && book.cells[at].line != kNoKey) at = (at + 1) & mask;
    return at;
  }
  Book &book(uint32_t process);
  const StackSummary &summary(uint32_t process, uint32_t stack);
  uint32_t new_cell(uint32_t process, Layer layer, uint8_t device, uint32_t thread, LineRef line);
  uint32_t library_cell(uint32_t process, Layer layer, uint8_t device, uint32_t thread, LineRef line);
  uint32_t site(uint32_t process, Layer layer, LineRef line);
  uint32_t new_site(uint32_t process, Layer layer, LineRef line);
  void name_library(SiteInfo &info);
  void name_groups(SiteInfo &info);
  void forget_generated(uint32_t process);
  void settle_site(uint32_t site);
  void settle_stack(uint32_t site);
  void set_pass(uint32_t cell);
  void set_line(uint32_t cell);
  void merge(uint32_t from, uint32_t into);
  void halve_spans();
  void fill_spans(uint32_t cell, uint64_t time_ns);
  /// Live bytes of the cell and its ledger move by `bytes`, those of a block that was allocated at `born_ns`.
  void raise(Cell &cell, Ledger &own, int64_t bytes, uint64_t born_ns, uint64_t time_ns) {
    LineLevel &line = lines_[cell.line];
    cell.live_bytes += bytes;
    line.live_bytes += bytes;
    own.live_bytes += bytes;
    if (born_ns >= window_ns_) [[unlikely]] {
      Window &window = own.window;
      window.live_bytes += bytes;
      if (window.live_bytes > window.peak_bytes) window = {window.live_bytes, window.live_bytes, time_ns};
    }
    if (bytes > 0) {
      cell.peak_bytes = std::max(cell.peak_bytes, cell.live_bytes);
      line.peak_bytes = std::max(line.peak_bytes, line.live_bytes);
      own.steps.record(own.live_bytes, time_ns);
      if (own.live_bytes > own.peak_bytes) {
        own.peak_bytes = own.live_bytes;
        own.peak_ns = time_ns;
      }
    }
    own.timeline.set(time_ns, own.live_bytes);
  }
  void end_block(uint32_t cell, const Ending &ending);

  const Names &names_;
  std::vector<Cell> cells_;
  std::deque<CellInfo> infos_;
  SiteSteps steps_;
  std::deque<SiteInfo> sites_;
  std::deque<Ledger> ledgers_;
  std::vector<Ledger *> ledger_at_;  ///< the same, found faster
  std::vector<std::unique_ptr<Book>> books_;
  std::unordered_map<std::string, uint32_t> group_names_;
  std::vector<LineLevel> lines_{1};
  std::unordered_map<uint64_t, LineCells> line_cells_;  ///< by line group and layer, or by site
  std::vector<uint32_t> unresolved_;
  SpanTable spans_;
  StepFrame *frame_ = nullptr;
  uint64_t window_ns_ = ~0ull;
};

}  // namespace gmt::model
