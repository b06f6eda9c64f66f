#include <cmath>
#include <limits>

#include "model/query/process_axis.h"
#include "model/query/questions.h"

namespace gmt::model {
namespace {

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

/// Of the highest point of a bucket.
void fill_times(const std::vector<LevelPoint> &points, const std::vector<StepBucket> &buckets,
                std::vector<double> &times) {
  times.assign(buckets.size(), std::numeric_limits<double>::quiet_NaN());
  std::vector<int64_t> most(buckets.size(), std::numeric_limits<int64_t>::min());
  over_axis(points, buckets, [&](size_t at, const LevelPoint &point) {
    if (point.most <= most[at]) return;
    most[at] = point.most;
    times[at] = point.most_ns ? static_cast<double>(point.most_ns) : std::numeric_limits<double>::quiet_NaN();
  });
}

}  // namespace

LedgerSeries ledger_series(const State &state, const LedgerSeriesQuery &query) {
  if (!state.process(query.process)) return {{query.process, StepSource::Time, 0, {}, {}}, query.device, {}};
  const ProcessState &process = *state.process(query.process);
  LedgerSeries out{process_axis(state, process, query.points), query.device, {}};
  const auto column = [&](LedgerColumn which) -> std::vector<double> & {
    return out.columns[static_cast<size_t>(which)];
  };
  const auto levels = [&](LedgerColumn which, const std::vector<LevelPoint> &points, double before) {
    fill_levels(points, out.axis.buckets, before, column(which), out.columns[static_cast<size_t>(which) + 1]);
  };
  constexpr LedgerColumn kLayerColumns[] = {LedgerColumn::Tensor, LedgerColumn::Driver, LedgerColumn::Host};
  for (const LedgerColumn which : kLayerColumns) levels(which, {}, 0);
  fill_times({}, out.axis.buckets, column(LedgerColumn::TensorMaxNs));
  for (const Ledger &ledger : state.accounts.ledgers()) {
    const bool host = ledger.layer == Layer::Host;
    if (ledger.process != query.process || (!host && device_number(ledger.device) != query.device)) continue;
    levels(kLayerColumns[static_cast<size_t>(ledger.layer)], ledger.steps.points(), 0);
    if (ledger.layer == Layer::Tensor)
      fill_times(ledger.steps.points(), out.axis.buckets, column(LedgerColumn::TensorMaxNs));
  }
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  levels(LedgerColumn::Reserved, {}, unknown);
  for (const LedgerColumn which :
       {LedgerColumn::Process, LedgerColumn::Used, LedgerColumn::Total, LedgerColumn::Traced, LedgerColumn::Pending}) {
    column(which).assign(out.axis.buckets.size(), unknown);
  }
  const auto device =
      query.device < 0 ? process.devices.end() : process.devices.find(static_cast<uint8_t>(query.device));
  if (device == process.devices.end()) return out;
  levels(LedgerColumn::Reserved, device->second.reserved_points(), unknown);
  over_axis(device->second.memory_points(), out.axis.buckets, [&](size_t at, const MemoryPoint &point) {
    if (point.process_bytes != ~0ull) column(LedgerColumn::Process)[at] = static_cast<double>(point.process_bytes);
    column(LedgerColumn::Used)[at] = static_cast<double>(point.used_bytes);
    column(LedgerColumn::Total)[at] = static_cast<double>(point.total_bytes);
    column(LedgerColumn::Traced)[at] = static_cast<double>(point.traced_bytes);
  });
  over_axis(device->second.pending_points(), out.axis.buckets, [&](size_t at, const PendingPoint &point) {
    column(LedgerColumn::Pending)[at] = static_cast<double>(point.bytes);
  });
  return out;
}

}  // namespace gmt::model
