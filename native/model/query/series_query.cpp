// Series over steps, as matrices on the common axis of a process.
#include <algorithm>
#include <cmath>
#include <limits>

#include "model/model.h"

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
  add(Column::GcFrees, point.gc_frees);
  add(Column::GcFreedBytes, point.gc_bytes);
  add(Column::OldFrees, point.old_frees);
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

void fill_levels(const std::vector<LevelPoint> &points, const std::vector<StepBucket> &buckets, double before,
                 std::vector<double> &last, std::vector<double> &most) {
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  last.assign(buckets.size(), unknown);
  most.assign(buckets.size(), unknown);
  over_axis(points, buckets, [&](size_t at, const LevelPoint &point) {
    last[at] = static_cast<double>(point.last);
    most[at] =
        std::isnan(most[at]) ? static_cast<double>(point.most) : std::max(most[at], static_cast<double>(point.most));
  });
  for (size_t at = 0; at < buckets.size(); ++at) {
    if (std::isnan(last[at])) last[at] = most[at] = before;
    before = last[at];
  }
}

}  // namespace

StepAxis Model::step_axis(uint32_t process, size_t points) {
  const ProcessState &state = *this->process(process);
  StepAxis axis{process, state.steps.source, state.frame->step - 1, {}, {}};
  axis.buckets = step_axis_of(axis.count, accounts_.steps().detail(), points);
  axis.marks.resize(axis.buckets.size());
  over_axis(state.steps.marks.points(), axis.buckets, [&](size_t at, const StepMark &mark) {
    axis.marks[at].step == 0 ? void(axis.marks[at] = mark) : axis.marks[at].join(mark);
  });
  if (state.steps.source != StepSource::Time) return axis;
  constexpr uint64_t kSlice = ProcessSteps::kSliceNs;
  const uint64_t begin = state.steps.begin_ns / kSlice * kSlice;
  for (size_t at = 0; at < axis.buckets.size(); ++at) axis.marks[at].end_ns = begin + axis.buckets[at].last * kSlice;
  return axis;
}

/// The sites that are asked for, most live bytes at the last step's end first where none are named.
std::vector<uint32_t> Model::series_sites(const SiteSeriesQuery &query, uint32_t count) const {
  const auto &sites = accounts_.sites();
  const auto wanted = [&](uint32_t site) {
    return sites[site].process == query.process && sites[site].layer == query.layer &&
           accounts_.steps().history(site).first_step != 0;
  };
  std::vector<uint32_t> chosen;
  if (query.sites) {
    for (uint32_t site : *query.sites) {
      while (site < sites.size() && sites[site].merged_into != kNone) site = sites[site].merged_into;
      if (site < sites.size() && wanted(site)) chosen.push_back(site);
    }
    return chosen;
  }
  std::vector<std::pair<int64_t, uint32_t>> order;
  for (uint32_t site = 0; site < sites.size(); ++site) {
    if (sites[site].merged_into == kNone && wanted(site)) {
      order.emplace_back(-accounts_.steps().bytes_at_end(site, count), site);
    }
  }
  std::sort(order.begin(), order.end());
  for (const auto &[bytes, site] : order) chosen.push_back(site);
  return chosen;
}

SiteSeriesRow Model::series_row(uint32_t site) const {
  const SiteSum &sum = accounts_.steps().sum(site);
  const SiteHistory &history = accounts_.steps().history(site);
  const auto [largest, largest_step] = accounts_.steps().largest(site);
  SiteSeriesRow row{.id = site,
                    .source = accounts_.sites()[site].shown_source(),
                    .first_step = history.first_step,
                    .last_allocation_step = sum.step_allocations ? sum.step : history.last_allocation_step,
                    .last_free_step = accounts_.steps().running_frees(site) ? sum.step : history.last_free_step,
                    .segment_allocations = history.segments,
                    .median_bytes = accounts_.steps().usual_bytes(site),
                    .largest_bytes = largest,
                    .largest_step = largest_step};
  bool first = true;
  for (const uint32_t cell : accounts_.sites()[site].cells) {
    const CellInfo &info = accounts_.cell_infos()[cell];
    row.allocations += accounts_.cells()[cell].allocations;
    row.thread = first || row.thread == info.thread ? info.thread : -1;
    row.device = first || row.device == device_number(info.device) ? device_number(info.device) : -1;
    first = false;
  }
  return row;
}

SiteSeries Model::site_series(const SiteSeriesQuery &query) {
  accounts_.resolve_pending();
  SiteSeries out;
  out.axis.process = query.process;
  if (!this->process(query.process)) return out;
  out.axis = step_axis(query.process, query.points);
  const std::vector<uint32_t> sites = series_sites(query, out.axis.count);
  out.total = sites.size();
  const size_t to = std::min(query.to, sites.size()), from = std::min(query.from, to);
  for (auto &column : out.columns) column.assign((to - from) * out.axis.buckets.size(), 0);
  for (size_t i = from; i < to; ++i) {
    const size_t row = out.rows.size();
    out.rows.push_back(series_row(sites[i]));
    std::vector<StepPoint> ends(out.axis.buckets.size());  // of each bucket, the newest
    over_axis(accounts_.steps().points(sites[i], out.axis.count), out.axis.buckets,
              [&](size_t at, const StepPoint &point) {
                add_point(out, row, at, point, ends[at].first == 0);
                ends[at] = point;
              });
    carry_on(out, row, ends, accounts_.steps().history(sites[i]));
  }
  add_survivors(query, out);
  return out;
}

/// Looks at every block of the process once.
void Model::add_survivors(const SiteSeriesQuery &query, SiteSeries &out) {
  const ProcessState &state = *this->process(query.process);
  std::vector<uint32_t> rows(accounts_.cells().size(), kNone);
  for (size_t row = 0; row < out.rows.size(); ++row) {
    for (const uint32_t cell : accounts_.sites()[out.rows[row].id].cells) rows[cell] = static_cast<uint32_t>(row);
  }
  std::vector<std::array<int64_t, kCategories>> categories(out.rows.size());
  const auto survive = [&](uint32_t cell, uint32_t step, uint64_t bytes) {
    const uint32_t row = rows[cell];
    if (row == kNone || step > out.axis.count) return;
    const auto &buckets = out.axis.buckets;
    const auto bucket = std::lower_bound(buckets.begin(), buckets.end(), step,
                                         [](const StepBucket &one, uint32_t value) { return one.last < value; });
    const auto at = static_cast<size_t>(bucket - buckets.begin());
    cell_at(out, Column::SurvivorCount, row, at) += 1;
    cell_at(out, Column::SurvivorBytes, row, at) += static_cast<double>(bytes);
  };
  if (query.layer == Layer::Tensor) {
    state.tensors.each([&](const TensorBlock &block) {
      survive(block.cell, block.step, block.bytes);
      if (rows[block.cell] == kNone) return;
      categories[rows[block.cell]][category_of(state, block)] += static_cast<int64_t>(block.bytes);
    });
  } else {
    blocks_.each([&](uint32_t, const Block &block) {
      if (block.counted) survive(block.cell, block.step, block.bytes);
    });
  }
  for (const EndedBlock &block : state.frame->ended) survive(block.cell, block.step, block.bytes);
  out.survivors_at_step_end = !state.frame->ended_cut;
  for (size_t row = 0; row < out.rows.size(); ++row) {
    const auto most = std::max_element(categories[row].begin(), categories[row].end());
    if (*most == 0) continue;
    out.rows[row].category = static_cast<uint8_t>(most - categories[row].begin());
    out.rows[row].category_bytes = *most;
  }
}

LedgerSeries Model::ledger_series(const LedgerSeriesQuery &query) {
  if (!this->process(query.process)) return {{query.process, StepSource::Time, 0, {}, {}}, query.device, {}};
  const ProcessState &state = *this->process(query.process);
  LedgerSeries out{step_axis(query.process, query.points), query.device, {}};
  const auto column = [&](LedgerColumn which) -> std::vector<double> & {
    return out.columns[static_cast<size_t>(which)];
  };
  const auto levels = [&](LedgerColumn which, const std::vector<LevelPoint> &points, double before) {
    fill_levels(points, out.axis.buckets, before, column(which), out.columns[static_cast<size_t>(which) + 1]);
  };
  constexpr LedgerColumn kLayerColumns[] = {LedgerColumn::Tensor, LedgerColumn::Driver, LedgerColumn::Host};
  for (const LedgerColumn which : kLayerColumns) levels(which, {}, 0);
  for (const Ledger &ledger : accounts_.ledgers()) {
    const bool host = ledger.layer == Layer::Host;
    if (ledger.process != query.process || (!host && device_number(ledger.device) != query.device)) continue;
    levels(kLayerColumns[static_cast<size_t>(ledger.layer)], ledger.steps.points(), 0);
  }
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  levels(LedgerColumn::Reserved, {}, unknown);
  for (const LedgerColumn which :
       {LedgerColumn::Process, LedgerColumn::Used, LedgerColumn::Total, LedgerColumn::Pending}) {
    column(which).assign(out.axis.buckets.size(), unknown);
  }
  const auto device = query.device < 0 ? state.devices.end() : state.devices.find(static_cast<uint8_t>(query.device));
  if (device == state.devices.end()) return out;
  levels(LedgerColumn::Reserved, device->second.reserved_points(), unknown);
  over_axis(device->second.memory_points(), out.axis.buckets, [&](size_t at, const MemoryPoint &point) {
    if (point.process_bytes != ~0ull) column(LedgerColumn::Process)[at] = static_cast<double>(point.process_bytes);
    column(LedgerColumn::Used)[at] = static_cast<double>(point.used_bytes);
    column(LedgerColumn::Total)[at] = static_cast<double>(point.total_bytes);
  });
  over_axis(device->second.pending_points(), out.axis.buckets, [&](size_t at, const PendingPoint &point) {
    column(LedgerColumn::Pending)[at] = static_cast<double>(point.bytes);
  });
  return out;
}

}  // namespace gmt::model
