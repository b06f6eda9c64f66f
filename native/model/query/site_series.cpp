#include <algorithm>

#include "model/query/process_axis.h"
#include "model/query/questions.h"

namespace gmt::model {
namespace {

using Column = SeriesColumn;

double &cell_at(SiteSeries &out, Column column, size_t row, size_t at) {
  return out.columns[static_cast<size_t>(column)][row * out.axis.buckets.size() + at];
}

void add_point(SiteSeries &out, size_t row, size_t at, const StepPoint &point, bool first) {
  const auto add = [&](Column column, auto value) { cell_at(out, column, row, at) += static_cast<double>(value); };
  const auto bound = [&](Column column, auto value, auto better) {
    double &known = cell_at(out, column, row, at);
    known = first ? static_cast<double>(value) : better(known, static_cast<double>(value));
  };
  const auto least = [](double a, double b) { return std::min(a, b); };
  const auto most = [](double a, double b) { return std::max(a, b); };
  bound(Column::MinBytes, point.min_bytes, least);
  bound(Column::MaxBytes, point.max_bytes, most);
  bound(Column::LargestBytes, point.largest_bytes, most);
  add(Column::Allocations, point.allocations);
  add(Column::AllocatedBytes, point.allocated_bytes);
  add(Column::Frees, point.frees);
  add(Column::GcFreedBytes, point.gc_bytes);
  add(Column::OldFreedBytes, point.old_bytes);
}

/// What held before a bucket without an event holds in it too; what was freed is what is missing; what is not young is old.
void carry_on(SiteSeries &out, size_t row, const std::vector<StepPoint> &ends, const SiteHistory &history) {
  StepPoint newest;
  newest.live_bytes = history.base_bytes;
  newest.live_count = history.base_count;
  for (size_t at = 0; at < ends.size(); ++at) {
    const auto put = [&](Column column, auto value) { cell_at(out, column, row, at) = static_cast<double>(value); };
    const auto before = static_cast<double>(newest.live_bytes);
    if (ends[at].first != 0) {
      newest = ends[at];
      put(Column::FreedBytes, before + cell_at(out, Column::AllocatedBytes, row, at) - newest.live_bytes);
    } else {
      put(Column::MinBytes, before);
      put(Column::MaxBytes, before);
    }
    const YoungBlocks young = newest.young_at(out.axis.buckets[at].last);
    put(Column::LiveBytes, newest.live_bytes);
    put(Column::LiveCount, newest.live_count);
    put(Column::OldLiveBytes, newest.live_bytes - static_cast<int64_t>(young.born_bytes + young.before_bytes));
    put(Column::OldLiveCount, static_cast<int64_t>(newest.live_count) - young.born_count - young.before_count);
  }
}

/// The requested sites; without a request, all, those with most live bytes at the end of the last step first.
std::vector<uint32_t> chosen_sites(const Accounts &accounts, const SiteSeriesQuery &query, uint32_t count) {
  const auto &sites = accounts.sites();
  const auto selected = [&](uint32_t site) {
    return sites[site].process == query.process && sites[site].layer == query.layer &&
           accounts.steps().history(site).begun;
  };
  std::vector<uint32_t> chosen;
  if (query.sites) {
    for (const uint32_t id : *query.sites) {
      const uint32_t site = accounts.current_site(id);
      if (site < sites.size() && selected(site)) chosen.push_back(site);
    }
    return chosen;
  }
  std::vector<std::pair<int64_t, uint32_t>> order;
  for (uint32_t site = 0; site < sites.size(); ++site) {
    if (sites[site].merged_into == kNone && selected(site)) {
      order.emplace_back(-accounts.steps().bytes_at_end(site, count), site);
    }
  }
  std::sort(order.begin(), order.end());
  for (const auto &[bytes, site] : order) chosen.push_back(site);
  return chosen;
}

SiteSeriesRow series_row(const Accounts &accounts, uint32_t site, uint32_t count) {
  const SiteSum &sum = accounts.steps().sum(site);
  const SiteHistory &history = accounts.steps().history(site);
  SiteSeriesRow row{.id = site,
                    .source = accounts.sites()[site].shown_source(),
                    .last_allocation_step = sum.step_allocations ? sum.step : history.last_allocation_step,
                    .oldest_freed_steps = accounts.steps().oldest_freed(site, count),
                    .segment_allocations = history.segments};
  bool first = true;
  for (const uint32_t cell : accounts.sites()[site].cells) {
    const CellInfo &info = accounts.cell_infos()[cell];
    row.device = first || row.device == device_number(info.device) ? device_number(info.device) : -1;
    first = false;
  }
  return row;
}

using CategoryBytes = std::array<int64_t, kCategories>;

/// The category that most of the row's live bytes are of.
void set_category(SiteSeriesRow &row, const CategoryBytes &bytes) {
  const auto most = std::max_element(bytes.begin(), bytes.end());
  if (*most != 0) row.category = static_cast<uint8_t>(most - bytes.begin());
}

/// Looks at every block of the process once.
void add_survivors(const State &state, const SiteSeriesQuery &query, SiteSeries &out) {
  const ProcessState &process = *state.process(query.process);
  std::vector<uint32_t> rows(state.accounts.cells().size(), kNone);
  for (size_t row = 0; row < out.rows.size(); ++row) {
    for (const uint32_t cell : state.accounts.sites()[out.rows[row].id].cells) rows[cell] = static_cast<uint32_t>(row);
  }
  std::vector<CategoryBytes> categories(out.rows.size());
  const auto survive = [&](uint32_t cell, uint32_t step, uint64_t bytes) {
    const uint32_t row = rows[cell];
    if (row == kNone || step > out.axis.count) return;
    const auto &buckets = out.axis.buckets;
    const auto bucket = std::ranges::lower_bound(buckets, step, {}, &StepBucket::last);
    const auto at = static_cast<size_t>(bucket - buckets.begin());
    cell_at(out, Column::SurvivorCount, row, at) += 1;
    cell_at(out, Column::SurvivorBytes, row, at) += static_cast<double>(bytes);
  };
  if (query.layer == Layer::Tensor) {
    process.tensors.each([&](const TensorBlock &block) {
      survive(block.cell, block.step, block.bytes);
      if (rows[block.cell] == kNone) return;
      categories[rows[block.cell]][process.category_of(block)] += static_cast<int64_t>(block.bytes);
    });
  } else {
    state.blocks.each([&](uint32_t, const Block &block) {
      if (block.counted) survive(block.cell, block.step, block.bytes);
    });
  }
  for (const EndedBlock &block : process.frame->ended) survive(block.cell, block.step, block.bytes);
  for (size_t row = 0; row < out.rows.size(); ++row) set_category(out.rows[row], categories[row]);
}

}  // namespace

SiteSeries site_series(const State &state, const SiteSeriesQuery &query) {
  SiteSeries out;
  out.axis.process = query.process;
  if (!state.process(query.process)) return out;
  const Accounts &accounts = state.accounts;
  out.axis = process_axis(state, *state.process(query.process), query.points);
  const std::vector<uint32_t> sites = chosen_sites(accounts, query, out.axis.count);
  out.total = sites.size();
  const size_t to = std::min(query.to, sites.size()), from = std::min(query.from, to);
  for (auto &column : out.columns) column.assign((to - from) * out.axis.buckets.size(), 0);
  for (size_t i = from; i < to; ++i) {
    const size_t row = out.rows.size();
    out.rows.push_back(series_row(accounts, sites[i], out.axis.count));
    std::vector<StepPoint> ends(out.axis.buckets.size());  // of each bucket, the newest
    over_axis(accounts.steps().points(sites[i], out.axis.count), out.axis.buckets,
              [&](size_t at, const StepPoint &point) {
                add_point(out, row, at, point, ends[at].first == 0);
                ends[at] = point;
              });
    carry_on(out, row, ends, accounts.steps().history(sites[i]));
  }
  add_survivors(state, query, out);
  return out;
}

}  // namespace gmt::model
