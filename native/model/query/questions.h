#pragma once
// What can be asked of a state; each question has a file of its own. State::names gives the texts, so the state is asked
// once its sites are settled (Model::settled()).
#include "model/query/queries.h"
#include "model/query/segment_map.h"
#include "model/state/state.h"

namespace gmt::model {

SiteRows sites(const State &state, const SiteQuery &query);
std::optional<SiteDetail> site(const State &state, uint32_t id);
AllocationRows allocations(const State &state, const AllocationQuery &query);
/// Tensors and pinned memory by address, alive or ended since the last step did.
std::vector<BlockFacts> blocks(const State &state, uint32_t process, const std::vector<uint64_t> &addresses);
/// What the process's live tensors are for, by device; those without a block are left out.
std::vector<CategoryRow> categories(const State &state, uint32_t process);

constexpr size_t kFreeLines = 16;
/// Stacks that free a site's blocks, most frequent first; at most kFreeLines.
std::vector<FreeLine> free_lines(const State &state, uint32_t site);

/// Buckets begin on a common grid; min, max and last are exact for one series. Where several are summed and more than one changes
/// within one kept bucket, min and max are bounds. The value at `from_ns` leads, unless a bucket begins before or there.
std::vector<Bucket> timeline(const State &state, const TimelineQuery &query);
SiteSeries site_series(const State &state, const SiteSeriesQuery &query);
LedgerSeries ledger_series(const State &state, const LedgerSeriesQuery &query);
/// What the process did in [from, to), as far as that is kept; the first entry may have begun before.
std::vector<PassBegin> passes(const State &state, const PassQuery &query);
/// Ranges that the program was in at some time in [from, to), by their begins, the outer one first; as far as they are kept.
std::vector<Range> ranges(const State &state, const PassQuery &query);

/// Of all processes and devices, where there are others than the common one.
std::vector<PoolRow> pools(const State &state);
SegmentMap segments(const State &state, const SegmentQuery &query);
Fragmentation fragmentation(const State &state, uint32_t process, int32_t device);
/// Of one process on one device, for an allocation on the layer that failed.
MemorySnapshot memory_snapshot(const State &state, uint32_t process, Layer failed, uint8_t device);

}  // namespace gmt::model
