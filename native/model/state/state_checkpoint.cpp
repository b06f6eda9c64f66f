// What of a checkpoint takes more than the list of fields: places that belong together.
#include <algorithm>

#include "model/state/state.h"

namespace gmt::model {

void SiteInfo::checkpoint(Archive &a) {
  a(process, stack, layer, source, line_group, function_group, module_group, summary, library, cells, free_stacks);
  row_or_none(a, kSiteRows, merged_into);
  for (const uint32_t cell : cells) a.hold(cell < a.rows[kCellRows]);
}

void Accounts::Book::checkpoint(Archive &a) {
  std::vector<KeyedCell> positions;
  for (const KeyedCell &one : cells) {
    if (one.line != kNoKey) positions.push_back(one);
  }
  a(positions, library_cells, ledgers, sites, pending_sites, frame);
  const auto named = [&](const auto &map, Rows of) {
    for (const auto &[key, number] : map) a.hold(number < a.rows[of]);
  };
  named(library_cells, kCellRows);
  named(sites, kSiteRows);
  named(pending_sites, kSiteRows);
  a.hold(ledgers.size() == 256 * kLayers);
  for (const uint32_t ledger : ledgers) a.hold(ledger == kNone || ledger < a.rows[kLedgerRows]);
  if (!a.reads()) return;
  for (const KeyedCell &one : positions) {
    if (cells.empty() || ++used * 2 > cells.size()) grow(*this);
    a.hold(one.line != kNoKey && one.cell < a.rows[kCellRows]);
    if (a.good()) cells[place(*this, one.key())] = one;
  }
  if (cells.empty()) grow(*this);
}

/// None is below zero, and the sum of all is a number.
bool is_summed(const auto &cells, int64_t Cell::*number) {
  int64_t sum = 0;
  return std::ranges::none_of(
      cells, [&](const Cell &cell) { return cell.*number < 0 || __builtin_add_overflow(sum, cell.*number, &sum); });
}

/// Merges of sites lead to one that was not merged, a ledger is where its names lead to, and what lives can be summed.
bool Accounts::sound() const {
  if (!is_summed(cells_, &Cell::live_bytes) || !is_summed(cells_, &Cell::live_count)) return false;
  std::vector<uint32_t> seen_from(sites_.size(), kNone);
  for (uint32_t first = 0; first < sites_.size(); ++first) {
    for (uint32_t site = first; sites_[site].merged_into != kNone; site = sites_[site].merged_into) {
      if (seen_from[site] == first) return false;
      if (seen_from[site] != kNone) break;
      seen_from[site] = first;
    }
  }
  size_t ledgers_in_books = 0;
  for (const auto &book : books_) {
    if (book) ledgers_in_books += book->ledgers.size() - static_cast<size_t>(std::ranges::count(book->ledgers, kNone));
  }
  const auto is_in_place = [&](const Ledger &one) {
    const size_t at = static_cast<size_t>(one.device) * kLayers + static_cast<size_t>(one.layer);
    const uint32_t number = books_[one.process]->ledgers[at];
    return number != kNone && &ledgers_[number] == &one;
  };
  const auto has_book = [&](const auto &one) { return has_process(one.process); };
  return std::ranges::all_of(infos_, has_book) && std::ranges::all_of(sites_, has_book) &&
         std::ranges::all_of(ledgers_, [&](const Ledger &one) { return has_book(one) && is_in_place(one); }) &&
         ledgers_in_books == ledgers_.size();
}

/// What is live of a level, its cells say.
void Accounts::checkpoint_lines(Archive &a) {
  lines_.front() = {};  // means nothing
  a(lines_, line_cells_);
  a.hold(!lines_.empty());
  for (const Cell &cell : cells_) a.hold(cell.line < lines_.size());
  for (const auto &[line, cells] : line_cells_) {
    a.hold(cells.level < lines_.size() && (cells.first != kNone || cells.count == 0 || cells.count == kNone));
  }
  if (!a.reads() || !a.good()) return;
  for (const Cell &cell : cells_) lines_[cell.line].live_bytes += cell.live_bytes;
}

void Accounts::checkpoint(Archive &a) {
  a(cells_, infos_, sites_, steps_, ledgers_);
  a.hold(cells_.size() == a.rows[kCellRows] && infos_.size() == cells_.size());
  a.hold(sites_.size() == a.rows[kSiteRows] && ledgers_.size() == a.rows[kLedgerRows]);
  a(books_, group_names_, unresolved_);
  spans_.checkpoint(a, cells_.size());
  for (const uint32_t site : unresolved_) a.hold(site < sites_.size());
  if (a.reads() && a.good()) a.hold(sound());
  checkpoint_lines(a);
  if (!a.reads() || !a.good()) return;
  for (Ledger &ledger : ledgers_) ledger_at_.push_back(&ledger);
}

void BlockStore::checkpoint(Archive &a) {
  std::vector<Block> used;
  each([&](uint32_t, const Block &block) { used.push_back(block); });
  a(free_, used);
  const uint64_t size = free_.size() + used.size();
  a.hold(size == a.rows[kBlockRows] && size % kPage == 0);
  if (!a.reads() || !a.good()) return;
  std::vector<bool> is_free(size);
  for (const uint32_t index : free_) {
    a.hold(index < size && !is_free[index]);
    if (!a.good()) return;
    is_free[index] = true;
  }
  pages_.resize(size / kPage);
  for (auto &page : pages_) page = std::make_unique<Block[]>(kPage);
  auto next = used.begin();
  for (uint32_t index = 0; index < size; ++index) {
    if (is_free[index]) continue;
    a.hold(next->kind != 0);
    (*this)[index] = *next++;
  }
}

void ForwardTable::checkpoint(Archive &a) {
  a(threads_, places_, uses_);
  entries_ = 0;
  for (const Thread &thread : threads_) entries_ += thread.entries.size();
  for (const auto &[number, place] : places_) a.hold(place < threads_.size());
  a.below_or(latest_, threads_.size(), kNone);
  a.hold(threads_.size() == places_.size() && threads_.empty() == (latest_ == kNone));
}

void Waking::checkpoint(Archive &a) {
  a(active_);
  for (auto *set : {&touched_[0], &touched_[1], &listed_[0], &listed_[1]}) {
    std::vector<uint64_t> addresses(set->begin(), set->end());
    std::ranges::sort(addresses);
    a(addresses);
    if (a.reads()) *set = {addresses.begin(), addresses.end()};
  }
}

void NameBook::checkpoint(Archive &a) {
  a(entries_, first_, texts_, sums_);
  a.hold(!texts_.empty() && texts_.front().empty());
  for (const FirstName &one : first_) a.hold(one.text < texts_.size() && one.category < kCategories);
  for (const auto &[key, entry] : entries_) a.hold(entry.text < texts_.size() && entry.category < kCategories);
  for (const auto &[key, sum] : sums_) a.hold(key.second < kCategories);
  if (!a.reads()) return;
  for (uint32_t number = 1; number < texts_.size(); ++number) numbers_.emplace(texts_[number], number);
}

void LoopFinder::checkpoint(Archive &a) {
  std::vector<StepEntry> entries = entries_;
  std::vector<uint32_t> older(cells_.begin(), cells_.begin() + static_cast<std::ptrdiff_t>(older_cells()));
  a(entries, older, next_search_, often_, skip_, next_skip_);
  a.hold(entries.size() <= kEntries && older.size() + entries.size() <= kAllocations + kEntries);
  for (const uint32_t cell : older) a.hold(cell < a.rows[kCellRows]);
  if (!a.reads() || !a.good()) return;
  const bool often = often_;
  for (const uint32_t cell : older) count(cell);
  for (const StepEntry &entry : entries) append(entry);
  often_ = often;
}

void ProcessState::checkpoint(Archive &a) {
  a(tensors, tables, memory, undo, lines, passes, ranges, devices, names, activations, details, answers, records, steps,
    next_sequence, next_due_ns, context_device, recording, ending, events_after_ending, newest_driver_blocks, pauses,
    gaps, uncounted_intervals, waking, failures, pools);
  for (const auto &[thread, blocks] : newest_driver_blocks) {
    for (const uint32_t block : blocks) a.hold(block < a.rows[kBlockRows]);
  }
  const size_t summed = activations.by_device().size();
  tensors.each([&](const TensorBlock &block) { a.hold(!block.activation || block.device < summed); });
}

void State::checkpoint(Archive &a) {
  a.rows = {accounts.cells().size(), accounts.sites().size(), accounts.ledgers().size(), blocks.capacity()};
  a(a.rows, accounts, blocks, out_of_memory, out_of_memory_count, revision, events, now_ns);
  const uint64_t count = a.count(processes_.size());
  for (uint32_t number = 0; number < count && a.good(); ++number) {
    bool there = process(number) != nullptr;
    a(there);
    if (!there) continue;
    a.hold(accounts.has_process(number));
    if (a.good()) a(process_of(number));
  }
}

}  // namespace gmt::model
