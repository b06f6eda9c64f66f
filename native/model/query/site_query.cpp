#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/query/filter.h"
#include "model/query/growth.h"
#include "model/query/live_tally.h"
#include "model/query/pools.h"
#include "model/query/questions.h"

namespace gmt::model {
namespace {

/// Keeps what all share; -1 where they differ.
void retain_common(int32_t &value, int32_t other) {
  if (value != other) value = -1;
}

/// One query on sites while it is answered: cells are chosen, gathered into groups, and the groups sorted.
class SiteGrouping {
 public:
  SiteGrouping(const State &state, const SiteQuery &query, const Filter &filter, const LiveTally &tally)
      : accounts_(state.accounts),
        names_(state.names),
        query_(query),
        filter_(filter),
        tally_(tally),
        growth_(state),
        next_(accounts_.cells().size(), kNone) {}

  SiteRows answer() {
    if (query_.group_by == GroupBy::Category)
      gather_categories();
    else if (query_.group_by == GroupBy::ModulePath || query_.group_by == GroupBy::Pool)
      gather_named();
    else
      gather();
    drop_unwanted();
    SiteRows rows;
    rows.total = groups_.size();
    for (Group &group : groups_) {
      rows.sum_live_bytes += group.live_bytes;
      rows.sum_live_count += group.live_count;
      group.mean_bytes =
          static_cast<double>(group.live_bytes) / static_cast<double>(std::max<int64_t>(group.live_count, 1));
    }
    const bool measured = query_.sort == SiteSort::Growth || query_.sort == SiteSort::PeakBytes;
    if (measured) {
      for (Group &group : groups_) measure(group);
    }
    sort();
    for (size_t i = query_.from; i < std::min(query_.to, groups_.size()); ++i) {
      if (!measured) measure(groups_[i]);
      rows.rows.push_back(row(groups_[i]));
    }
    return rows;
  }

 private:
  struct Group : SiteFigures {
    uint32_t first_cell = kNone;  ///< a list through next_
    uint32_t cells = 0;           ///< in the list: those whose past is the group's
    uint32_t live_cells = 0;      ///< whose live blocks are its
    uint8_t category = kUnnamed;
    std::string name;   ///< module's path, pool
    uint32_t site = 0;  ///< the biggest
    int64_t site_live = -1;
    bool one_site = true;
  };

  bool selected(uint32_t cell) {
    const CellInfo &info = accounts_.cell_infos()[cell];
    if (info.layer != query_.layer) return false;
    if (query_.process != kAll && info.process != static_cast<uint32_t>(query_.process)) return false;
    if (query_.device && device_number(info.device) != *query_.device) return false;
    if (!filter_.has_words()) return true;
    const uint32_t site = accounts_.site_of(cell);
    const std::string device = device_text(device_number(info.device), info.layer);
    const SiteInfo &about = accounts_.sites()[site];
    const WordMask found =
        filter_.words_in({about.summary.search, about.library.search, thread_text(info.process, info.thread), device});
    return filter_.all_words(found | (tally_.site_words.empty() ? 0 : tally_.site_words[site]));
  }
  uint64_t key(uint32_t cell) const {
    const CellInfo &info = accounts_.cell_infos()[cell];
    const uint32_t site = accounts_.site_of(cell);
    switch (query_.group_by) {
      case GroupBy::Site:
        return site;
      case GroupBy::Line:
        return accounts_.sites()[site].line_group;
      case GroupBy::Function:
        return accounts_.sites()[site].function_group;
      case GroupBy::File:
        return accounts_.sites()[site].module_group;
      case GroupBy::Thread:
        return static_cast<uint64_t>(info.process) << 32 | info.thread;
      case GroupBy::Process:
        return info.process;
      case GroupBy::Device:
        return info.device;
      case GroupBy::ModulePath:
      case GroupBy::Category:
      case GroupBy::Pool:
        break;
    }
    return 0;
  }
  void gather() {
    std::unordered_map<uint64_t, uint32_t> index;
    index.reserve(accounts_.cells().size());
    for (uint32_t cell = 0; cell < accounts_.cells().size(); ++cell) {
      if (!selected(cell)) continue;
      const auto [entry, is_new] = index.try_emplace(key(cell), static_cast<uint32_t>(groups_.size()));
      if (is_new) groups_.emplace_back();
      add(groups_[entry->second], cell, 0, live(cell, 0));
      add_history(groups_[entry->second], cell);
    }
  }
  /// One cell may have blocks of every category; what of its past belongs to which is not known.
  void gather_categories() {
    std::array<Group, kCategories> all;
    for (uint32_t cell = 0; cell < accounts_.cells().size(); ++cell) {
      if (!selected(cell)) continue;
      for (uint8_t category = 0; category < kCategories; ++category) {
        if (tally_.of_cell(cell, category).count == 0) continue;
        add(all[category], cell, category, live(cell, category));
        all[category].category = category;
      }
    }
    for (const Group &group : all) {
      if (group.live_count > 0) groups_.push_back(group);
    }
  }
  /// By module: what has a name is its module's, wherever it was made; all else is of the module that made it. By pool: what is in a pool
  /// that is known. What of a cell's past was whose is not known.
  void gather_named() {
    std::unordered_map<std::string, uint32_t> index;
    const auto group_of = [&](const std::string &path) -> Group & {
      const auto [entry, is_new] = index.try_emplace(path, static_cast<uint32_t>(groups_.size()));
      if (is_new) groups_.emplace_back().name = path;
      return groups_[entry->second];
    };
    for (uint32_t cell = 0; cell < accounts_.cells().size(); ++cell) {
      if (!selected(cell)) continue;
      const CellInfo &info = accounts_.cell_infos()[cell];
      CategorySum rest = live(cell, 0);
      if (const auto named = tally_.named.find(cell); named != tally_.named.end()) {
        for (const auto &[path, sum] : named->second) {
          add(group_of(path), cell, 0, sum);
          rest.remove(sum);
        }
      }
      if (query_.group_by == GroupBy::ModulePath)
        add(group_of(names_.module_path(info.process, info.stack)), cell, 0, rest);
      else if (rest.count > 0)
        add(group_of(kPoolUnknown), cell, 0, rest);
    }
    for (const std::string &pool : tally_.empty_pools) {
      if (!accounts_.sites().empty()) group_of(pool);
    }
  }
  /// What lives of a cell, of a category where the tally is by that.
  CategorySum live(uint32_t cell, size_t slot) const {
    const Cell &own = accounts_.cells()[cell];
    return tally_.counted ? tally_.of_cell(cell, slot) : CategorySum{own.live_bytes, own.live_count};
  }
  void add(Group &group, uint32_t cell, size_t slot, const CategorySum &sum) {
    const Cell &own = accounts_.cells()[cell];
    const CellInfo &info = accounts_.cell_infos()[cell];
    const auto process = static_cast<int32_t>(info.process);
    const int64_t site_live =
        tally_.counted ? tally_.of_site(own.site, slot) : accounts_.steps().sum(own.site).live_bytes;
    if (group.live_cells++ == 0) {
      group.thread = info.thread;
      group.process = process;
      group.device = device_number(info.device);
      group.site = own.site;
      group.site_live = site_live;
    }
    if (group.thread != info.thread || group.process != static_cast<int32_t>(process)) group.thread = -1;
    retain_common(group.process, process);
    retain_common(group.device, device_number(info.device));
    if (own.site != group.site) group.one_site = false;
    if (site_live > group.site_live) {
      group.site = own.site;
      group.site_live = site_live;
    }
    group.live_bytes += sum.bytes;
    group.live_count += sum.count;
  }
  void add_history(Group &group, uint32_t cell) {
    const Cell &own = accounts_.cells()[cell];
    next_[cell] = group.first_cell;
    group.first_cell = cell;
    ++group.cells;
    group.allocations += own.allocations;
    group.frees += own.frees;
    group.allocated_bytes += own.allocated_bytes;
  }
  void drop_unwanted() {
    std::erase_if(groups_, [&](const Group &group) {
      return (!query_.include_dead && group.live_count == 0) ||
             !filter_.bytes_match(static_cast<double>(group.live_bytes));
    });
  }
  void measure(Group &group) const {
    if (group.cells == 0) return;
    group.growth = 0;
    for (uint32_t cell = group.first_cell; cell != kNone; cell = next_[cell]) {
      group.growth += growth_.slope(cell);
    }
    group.peak_bytes = peak(group);
  }
  int64_t peak(const Group &group) const {
    if (group.cells == 1) return accounts_.cells()[group.first_cell].peak_bytes;
    const bool whole = group.one_site && group.cells == accounts_.sites()[group.site].cells.size();
    if (whole) return accounts_.steps().peak_bytes(group.site);
    const int64_t known = std::max(ledger_peak(group), line_peak(group));
    return known >= 0 ? known : summed_peak(group);
  }
  /// The peak of the line that the group is all of, else -1.
  int64_t line_peak(const Group &group) const {
    const auto &infos = accounts_.cell_infos();
    for (uint32_t cell = group.first_cell; cell != kNone; cell = next_[cell]) {
      if (infos[cell].line != infos[group.first_cell].line) return -1;
    }
    return accounts_.line_peak(group.first_cell, group.cells);
  }
  /// The peak of the one ledger that the group is, -1 where it is none or several.
  int64_t ledger_peak(const Group &group) const {
    if (filter_.has_words()) return -1;
    const bool by_process = query_.group_by == GroupBy::Process;
    if (!by_process && query_.group_by != GroupBy::Device) return -1;
    int64_t peak = -1;
    for (const Ledger &ledger : accounts_.ledgers()) {
      if (ledger.layer != query_.layer || ledger.allocations == 0) continue;
      const auto process = static_cast<int32_t>(ledger.process);
      const int32_t device = device_number(ledger.device);
      if (by_process ? process != group.process : device != group.device) continue;
      if (query_.process != kAll && process != query_.process) continue;
      if (query_.device && device != *query_.device) continue;
      if (peak >= 0) return -1;
      peak = ledger.peak_bytes;
    }
    return peak;
  }
  int64_t summed_peak(const Group &group) const {
    int64_t highest = group.live_bytes;
    for (uint32_t cell = group.first_cell; cell != kNone; cell = next_[cell]) {
      highest = std::max(highest, accounts_.cells()[cell].peak_bytes);
    }
    const uint32_t ended = growth_.ended_spans();
    for (uint32_t span = 0; span < ended; ++span) {
      double sum = 0;
      for (uint32_t cell = group.first_cell; cell != kNone; cell = next_[cell]) sum += accounts_.level(span, cell);
      highest = std::max(highest, static_cast<int64_t>(sum));
    }
    return highest;
  }
  void sort() {
    std::vector<std::pair<double, uint32_t>> order(groups_.size());
    for (uint32_t i = 0; i < groups_.size(); ++i) {
      order[i] = {query_.descending ? -number(groups_[i]) : number(groups_[i]), i};
    }
    const bool by_label = query_.sort == SiteSort::Label;
    const auto less = [&](const auto &a, const auto &b) {
      if (a.first != b.first) return a.first < b.first;
      const int labels = by_label ? compare_labels(groups_[a.second], groups_[b.second]) : 0;
      if (labels != 0) return (labels < 0) != query_.descending;
      return groups_[a.second].site < groups_[b.second].site;
    };
    const size_t shown = std::min(query_.to, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown), order.end(), less);
    std::vector<Group> sorted;
    sorted.reserve(shown);
    for (size_t i = 0; i < shown; ++i) sorted.push_back(groups_[order[i].second]);
    groups_ = std::move(sorted);
  }
  double number(const Group &group) const {
    if (query_.sort == SiteSort::Thread) return group.process * 0x1p32 + group.thread;
    return query_.sort == SiteSort::Device ? group.device : figure(group, query_.sort);
  }
  std::string label(const Group &group) const {
    if (query_.group_by == GroupBy::Device) return device_text(group.device, query_.layer);
    if (query_.group_by == GroupBy::Category) return category_name(group.category);
    if (query_.group_by == GroupBy::ModulePath) return group.name.empty() ? "(no module)" : group.name;
    if (query_.group_by == GroupBy::Pool) return group.name;
    const CellInfo &info = accounts_.cell_infos()[group.first_cell];
    if (query_.group_by == GroupBy::Thread) return names_.thread(info.process, info.thread);
    if (query_.group_by == GroupBy::Process) return names_.process(info.process);
    const SiteInfo &site = accounts_.sites()[group.site];
    const StackSummary &summary = site.summary;
    if (summary.file.empty() && summary.before_attach) return "allocated before recording";
    if (summary.file.empty()) return site.library.path.empty() ? "no Python line" : site.library.file_name();
    if (query_.group_by == GroupBy::File) return summary.file;
    return summary.file + ":" + std::to_string(summary.line);
  }
  /// Less than, equal to or greater than 0 as `a` comes before, with or after `b`: by file and line, else by label.
  int compare_labels(const Group &a, const Group &b) const {
    if (query_.group_by > GroupBy::Function) return label(a).compare(label(b));
    const StackSummary &left = accounts_.sites()[a.site].summary, &right = accounts_.sites()[b.site].summary;
    const int files = left.file.compare(right.file);
    if (files != 0) return files;
    return left.line < right.line ? -1 : left.line > right.line;
  }
  /// By sites where the group has all cells of each.
  void add_spark(const Group &group, double (&spark)[kSpark]) {
    std::map<uint32_t, size_t> sites;
    for (uint32_t cell = group.first_cell; cell != kNone; cell = next_[cell]) ++sites[accounts_.site_of(cell)];
    std::erase_if(sites, [&](const auto &one) {
      const auto &[site, count] = one;
      return count == accounts_.sites()[site].cells.size() && growth_.add_site_spark(site, spark);
    });
    for (uint32_t cell = group.first_cell; cell != kNone; cell = next_[cell]) {
      if (sites.contains(accounts_.site_of(cell))) growth_.add_spark(cell, spark);
    }
  }
  SiteRow row(const Group &group) {
    const SiteInfo &site = accounts_.sites()[group.site];
    SiteRow row{group};
    row.id = group.site;
    row.key = site.key();
    row.has_history = group.cells > 0;
    add_spark(group, row.spark);
    row.source = site.shown_source();
    row.file = site.summary.file;
    row.line = site.summary.line;
    row.function = site.summary.function;
    row.library = site.library.path;
    row.label = label(group);
    return row;
  }
  const std::string &thread_text(uint32_t process, uint32_t thread) {
    const auto [entry, is_new] = thread_texts_.try_emplace(static_cast<uint64_t>(process) << 32 | thread);
    if (is_new) entry->second = lower_case(names_.thread(process, thread));
    return entry->second;
  }

  const Accounts &accounts_;
  const Names &names_;
  const SiteQuery &query_;
  const Filter &filter_;
  const LiveTally &tally_;
  Growth growth_;
  std::vector<Group> groups_;
  std::vector<uint32_t> next_;  ///< by cell: the next cell of its group
  std::unordered_map<uint64_t, std::string> thread_texts_;
};

}  // namespace

SiteRows sites(const State &state, const SiteQuery &query) {
  const Filter filter(query.filter);
  const LiveTally live = tally_live(state, query, filter);
  SiteRows rows = SiteGrouping(state, query, filter, live).answer();
  rows.revision = state.revision;
  return rows;
}

}  // namespace gmt::model
