#pragma once
// The analysis of every event: what is alive, who holds it, since when. Deterministic: no clock, no I/O. Not for two
// threads at once.
#include <deque>
#include <memory>
#include <vector>

#include "model/ingest/lifetimes.h"
#include "model/query/live_tally.h"
#include "model/query/queries.h"
#include "model/query/segment_map.h"
#include "model/state/accounts.h"
#include "model/state/block_store.h"
#include "model/state/process_state.h"
#include "trace/batch.h"

namespace gmt::model {

class FoundBlocks;

class Model {
 public:
  /// `names` outlives the model.
  explicit Model(const Names &names);

  /// Takes one process's next events. Batches of one process come in the order of their sequences.
  void ingest(const trace::Batch &batch);

  uint64_t revision() const { return revision_; }
  uint64_t events() const { return events_; }
  /// Time of the newest event, ns.
  uint64_t now_ns() const { return now_ns_; }

  /// False for a process whose recording is switched off.
  bool recording(uint32_t process) const;
  /// nullptr: no event of that process yet.
  const ProcessState *process(uint32_t process) const;
  const std::deque<Ledger> &ledgers() const { return accounts_.ledgers(); }
  /// The first kFirstSnapshots failures and the newest, kOutOfMemory in all, oldest first. The first and the newest that
  /// came apart from each other keep what memory looked like.
  const std::deque<OutOfMemory> &out_of_memory() const { return out_of_memory_; }
  /// All of them.
  uint64_t out_of_memory_count() const { return out_of_memory_count_; }

  /// What the process's live tensors are for, by device; those without a block are left out.
  std::vector<CategoryRow> categories(uint32_t process) const;
  SiteRows sites(const SiteQuery &query);
  std::optional<SiteDetail> site(uint32_t id);
  AllocationRows allocations(const AllocationQuery &query);
  /// Blocks of the framework's layer by address, alive or ended since the last step did.
  std::vector<BlockFacts> blocks(uint32_t process, const std::vector<uint64_t> &addresses);
  /// Buckets begin on a common grid; min, max and last are exact for the changes inside a bucket of one series.
  /// Where several are summed and more than one changes within one kept bucket, min and max are bounds. The value
  /// that held at `from_ns` leads, unless a bucket begins before or there.
  std::vector<Bucket> timeline(const TimelineQuery &query) const;

  SiteSeries site_series(const SiteSeriesQuery &query);
  LedgerSeries ledger_series(const LedgerSeriesQuery &query);
  /// Stacks that free a site's blocks, most frequent first.
  std::vector<FreeLine> free_lines(uint32_t site);
  Fragmentation fragmentation(uint32_t process, int32_t device);
  SegmentMap segments(const SegmentQuery &query);

  /// From now on every allocation that ends is told; `log` outlives the model. To be called before the first event.
  void log_lifetimes(LifetimeLog *log) { lifetimes_ = log; }
  /// No more events come: what lives is told as well.
  void finish_lifetimes();
  const CellInfo &maker(uint32_t cell) const { return accounts_.cell_infos()[cell]; }
  /// Sites whose stacks were not known when they were made are settled as far as that is possible by now.
  void settle_sites() { accounts_.resolve_pending(); }
  /// The site that the cell's allocations are shown under.
  uint32_t site_of(uint32_t cell) const { return accounts_.cells()[cell].site; }

  static constexpr size_t kFreeLines = 16;
  static constexpr size_t kSnapshots = 16;  ///< failures that keep what memory looked like
  static constexpr size_t kFirstSnapshots = 8;
  static constexpr size_t kSnapshotSites = 50;
  static constexpr uint32_t kRecentSteps = 8;  ///< that the running step is compared with
  static constexpr size_t kOutOfMemory = 1000;
  static constexpr size_t kIntervals = 4096;

 private:
  struct Context {  ///< one event with all that belongs to it
    uint32_t process;
    ProcessState &state;
    const trace::Event &event;
    const gmt_driver_detail *detail;
    const gmt_autograd *autograd;
  };

  ProcessState &state_of(uint32_t process);
  void take(const Context &context);
  void take_driver(const Context &context);
  void take_driver_end(const Context &context);
  void take_mark(const Context &context);
  void take_failure(const Context &context);
  void list_out_of_memory(const Context &context, Layer layer);
  bool is_followed_by_failure(const trace::Event &event) const;
  void drop_older_snapshots();

  void attend(uint32_t process, ProcessState &state, const trace::Event &event);
  void look_at_time(uint32_t process, ProcessState &state, uint64_t time_ns);
  void end_slices(uint32_t process, ProcessState &state, uint64_t time_ns);
  void apply_records(uint32_t process, ProcessState &state, uint64_t before);
  void name_block(ProcessState &state, const trace::Name &name);
  void detail_block(ProcessState &state, const gmt_block &detail);
  void add_answer(uint32_t process, ProcessState &state, const trace::AnswerPart &part);
  void take_step(const Context &context);
  void take_collection(const Context &context);
  void end_step(uint32_t process, ProcessState &state, uint64_t time_ns, bool again);
  static void flag_step(ProcessState &state, uint8_t flags, uint64_t time_ns);
  static void last_flag(ProcessState &state, uint8_t flag, bool on, uint64_t time_ns);
  /// Before an allocation of `cell` is counted: it may begin a step.
  void begin_round(const Context &context, uint32_t cell) {
    ProcessSteps &steps = context.state.steps;
    if (accounts_.cells()[cell].site == steps.anchor) [[unlikely]]
      return take_round(context);
    if (++steps.silent >= steps.most_silent) [[unlikely]]
      find_loop_anew(context.state);
  }
  static bool outlasts(const ProcessSteps &steps, uint64_t now_ns);
  void take_round(const Context &context);
  static void find_loop_anew(ProcessState &state);
  static void drop_finder(ProcessState &state);
  std::vector<LoopFinder::Maker> makers_of(uint32_t process) const;
  void look_for_loop(uint32_t process, ProcessState &state);
  void count_rounds(uint32_t process, ProcessState &state, const std::vector<StepEntry> &entries);
  static void restart_devices(ProcessState &state, const std::vector<StepEntry> &entries);
  static std::vector<const TensorBlock *> tensors_on(const ProcessState &state, int32_t device);
  std::vector<Segment> segments_on(uint32_t process, int32_t device, bool all) const;
  std::vector<Segment> framework_segments(uint32_t process, int32_t device,
                                          const std::vector<const TensorBlock *> &tensors) const;
  static void measure(Segment &segment, const std::vector<const TensorBlock *> &tensors);
  void add_blocks(const ProcessState &state, const std::vector<const TensorBlock *> &tensors, SegmentMap &out) const;
  static void count_outside(const std::vector<const TensorBlock *> &tensors, SegmentMap &out);
  static void count_left_out(const std::vector<const TensorBlock *> &tensors, SegmentMap &out);
  static Lifetime lifetime_of(const ProcessState &state, const TensorBlock &block);
  static Lifetime lifetime_of(const Block &block);
  void log_end(const ProcessState &state, const TensorBlock &block, const trace::Event &event);
  void log_end(const ProcessState &state, const Block &block, const trace::Event &event);
  LiveTally tally(const SiteQuery &query, const Filter &filter);
  void find_words(const Filter &filter, LiveTally &out);
  static std::vector<WordMask> name_words(const NameBook &names, const Filter &filter);
  static uint8_t category_of(const ProcessState &state, const TensorBlock &block);
  struct BlockChoice;
  BlockChoice choice_of(const AllocationQuery &query) const;
  WordMask words_of_cell(const Filter &filter, uint32_t cell) const;
  template <typename AnyBlock>
  bool chosen(const BlockChoice &choice, const AnyBlock &block) const;
  template <typename AnyBlock>
  uint64_t order_of(const AllocationQuery &query, const AnyBlock &block) const;
  const std::string *name_of(const TensorBlock &block) const;
  size_t live_blocks() const;
  void find_blocks(const BlockChoice &choice, FoundBlocks &found, int64_t &sum_bytes) const;
  template <typename AnyBlock>
  AllocationRow row_of(const AnyBlock &block, uint64_t stream, uint8_t kind);
  void name_row(const TensorBlock &block, AllocationRow &row);
  void detail_row(const TensorBlock &block, AllocationRow &row);
  StepAxis step_axis(uint32_t process, size_t points);
  std::vector<uint32_t> series_sites(const SiteSeriesQuery &query, uint32_t count) const;
  SiteSeriesRow series_row(uint32_t site) const;
  void add_survivors(const SiteSeriesQuery &query, SiteSeries &out);
  MemorySnapshot snapshot(const Context &context, Layer failed, uint8_t device);
  std::vector<SnapshotSite> snapshot_sites(const Context &context, Layer layer, uint8_t device, MemorySnapshot &out);
  void compare_with_usual(SnapshotSite &site, uint32_t step) const;
  void tell_again(ProcessState &state, const StepEntry &entry, uint32_t born_step);
  template <typename StepOf>
  void each_block(uint32_t process, ProcessState &state, StepOf step_of);

  uint32_t cell_of(const Context &context, Layer layer, uint8_t device);
  uint32_t new_block(const Context &context, Space space, uint8_t device, uint32_t cell, bool counted);
  void allocate(const Context &context, Space space, Layer layer, uint8_t device);
  void import(const Context &context);
  void allocate_tensor(const Context &context);
  void free_tensor(const Context &context);
  void end_tensor(ProcessState &state, const TensorBlock &block, const trace::Event &event);
  void note_free(ProcessState &state, uint32_t cell, uint32_t stack);
  void free_driver(const Context &context, Space space);
  void release_handle(const Context &context);
  void close_import(const Context &context);
  void retain_handle(const Context &context);
  void map(const Context &context);
  void unmap(const Context &context);
  void free_reservation(const Context &context);
  void bulk_free(const Context &context);
  void undo(const Context &context);
  void set_reserved(const Context &context);
  static void reserve(ProcessState &state, uint8_t device, int64_t bytes, uint64_t time_ns);
  void unmatched(const Context &context, Space space);

  uint32_t find(ProcessState &state, Space space, uint64_t address, uint8_t device, size_t &place) const;
  uint32_t find_free(const Context &context, Space space, size_t &place) const;
  /// Takes the block off its table and the accounts; returns what it was.
  Block close(ProcessState &state, uint32_t index, const trace::Event &event);
  void reopen(ProcessState &state, const Block &block, uint64_t time_ns);
  void drop_reference(const Context &context, uint32_t index, UndoRecord &record);
  bool belongs(const Context &context, const Block &block) const;

  Accounts accounts_;
  const Names &names_;
  BlockStore blocks_;
  std::vector<std::unique_ptr<ProcessState>> states_;
  std::deque<OutOfMemory> out_of_memory_;
  uint64_t out_of_memory_count_ = 0;
  const trace::Batch *batch_ = nullptr;  ///< that is being taken
  uint64_t revision_ = 0;
  uint64_t events_ = 0;
  uint64_t now_ns_ = 0;
  LifetimeLog *lifetimes_ = nullptr;
};

}  // namespace gmt::model
