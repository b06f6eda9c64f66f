#pragma once
// Who holds how much: cells (one maker of allocations: process, layer, device, thread, line), sites (cells with
// the same stack content), ledgers (process, device, layer).
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "model/names.h"
#include "model/span_series.h"
#include "model/stack_summary.h"
#include "model/timeline_series.h"
#include "model/types.h"

namespace gmt::model {

/// Running numbers of one cell: one cache line, touched by every event.
struct alignas(64) Cell {
  int64_t live_bytes = 0;
  int64_t live_count = 0;
  int64_t peak_bytes = 0;
  uint64_t allocations = 0;
  uint64_t frees = 0;
  uint64_t allocated_bytes = 0;
  uint64_t next_span_ns = 0;  ///< first moment at which the cell's series has to be carried on
  uint32_t site = 0;
  uint32_t ledger : 31 = 0;
  uint32_t calls_backward : 1 = 0;
};
static_assert(sizeof(Cell) == 64);

struct CellInfo {
  uint32_t process;
  uint32_t stack;
  uint16_t thread;
  uint8_t device;
  Layer layer;
  LineSource source;
  SpanSeries series;
};

struct SiteSum {
  int64_t live_bytes = 0;
  int64_t peak_bytes = 0;
};

struct SiteInfo {
  uint32_t process;
  uint32_t stack;  ///< one of the stacks with this content
  Layer layer;
  LineSource source;
  uint32_t merged_into;     ///< kNone, or the site that took this one's cells
  uint32_t line_group;      ///< equal for sites with the same file and line
  uint32_t function_group;  ///< equal for sites with the same file and function
  StackSummary summary;
  std::vector<uint32_t> cells;
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
  uint64_t segment_allocations = 0;  ///< of these, taken and given back by a framework's caching allocator
  uint64_t segment_frees = 0;
};

struct Ledger : LedgerNumbers {
  TimelineSeries timeline;  ///< live bytes
};

class Accounts {
 public:
  explicit Accounts(const Names &names) : names_(names) {}

  uint32_t cell(uint32_t process, Layer layer, uint8_t device, uint16_t thread, LineRef line);
  Ledger &ledger(uint32_t process, Layer layer, uint8_t device);

  /// The four steps by which a coming event's memory is asked for in time; each may only use what the one before
  /// has brought near.
  void prefetch_key(uint32_t process, Layer layer, uint8_t device, uint16_t thread, LineRef line) const;
  /// The cell behind that key, kNone when it is not where it is looked for first.
  uint32_t guess_cell(uint32_t process, Layer layer, uint8_t device, uint16_t thread, LineRef line) const;
  void prefetch_cell(uint32_t cell) const { __builtin_prefetch(&cells_[cell], 1); }
  void prefetch_site(uint32_t cell) const { __builtin_prefetch(&sums_[cells_[cell].site], 1); }

  void add(uint32_t cell, uint64_t bytes, uint64_t time_ns);
  void remove(uint32_t cell, uint64_t bytes, uint64_t time_ns);
  /// Takes back a `remove`.
  void restore(uint32_t cell, uint64_t bytes, uint64_t time_ns);

  /// Tries again to resolve the stacks that were not known when their sites were made.
  void resolve_pending();
  /// Carries every cell's series on to `now_ns`.
  void carry_on(uint64_t now_ns);
  void see_time(uint64_t now_ns) {
    while (now_ns >> span_shift_ >= kSpans) ++span_shift_;
  }
  uint32_t span_shift() const { return span_shift_; }

  const std::vector<Cell> &cells() const { return cells_; }
  const std::deque<CellInfo> &cell_infos() const { return infos_; }
  const std::deque<SiteInfo> &sites() const { return sites_; }
  const std::vector<SiteSum> &site_sums() const { return sums_; }
  const std::deque<Ledger> &ledgers() const { return ledgers_; }
  Ledger &ledger_of(uint32_t cell) { return ledgers_[cells_[cell].ledger]; }

 private:
  struct KeyPlace {
    uint64_t key;
    uint32_t cell;
  };
  /// From a cell's key to its index, and what is known per process.
  struct Book {
    std::vector<KeyPlace> cells;
    size_t used = 0;
    std::vector<uint32_t> ledgers;
    std::unordered_map<uint64_t, uint32_t> sites;          ///< by content, layer and source
    std::unordered_map<uint64_t, uint32_t> pending_sites;  ///< by stack id, layer and source
    std::unordered_map<uint32_t, StackSummary> summaries;
  };

  static void grow(Book &book);
  static size_t home(const Book &book, uint64_t key);
  static size_t place(const Book &book, uint64_t key);
  Book &book(uint32_t process);
  const StackSummary &summary(uint32_t process, uint32_t stack);
  uint32_t new_cell(uint32_t process, Layer layer, uint8_t device, uint16_t thread, LineRef line);
  uint32_t site(uint32_t process, Layer layer, LineRef line);
  uint32_t new_site(uint32_t process, Layer layer, LineRef line);
  void name_groups(SiteInfo &info);
  void settle_site(uint32_t site);
  void merge(uint32_t from, uint32_t into);
  void fill_series(uint32_t cell, uint64_t time_ns);
  void raise(Cell &cell, int64_t bytes, uint64_t time_ns);

  const Names &names_;
  std::vector<Cell> cells_;
  std::deque<CellInfo> infos_;
  std::vector<SiteSum> sums_;
  std::deque<SiteInfo> sites_;
  std::deque<Ledger> ledgers_;
  std::vector<std::unique_ptr<Book>> books_;
  std::unordered_map<std::string, uint32_t> group_names_;
  std::vector<uint32_t> unresolved_;
  uint32_t span_shift_ = kFirstSpanShift;
};

}  // namespace gmt::model
