#include <algorithm>
#include <set>
#include <utility>

#include "model/ingest/step_events.h"
#include "trace/log/user_frame.h"

namespace gmt::model {
namespace {

/// Where a framework has an allocator of its own, what it takes from the driver now and then is no part of rounds.
std::vector<LoopFinder::Maker> makers_of(const Accounts &accounts, uint32_t process) {
  bool tensors = false;
  for (const Ledger &ledger : accounts.ledgers()) {
    tensors = tensors || (ledger.process == process && ledger.layer == Layer::Tensor && ledger.allocations > 0);
  }
  std::vector<LoopFinder::Maker> makers(accounts.cells().size());
  for (uint32_t cell = 0; cell < makers.size(); ++cell) {
    const CellInfo &maker = accounts.cell_infos()[cell];
    const uint32_t site = accounts.site_of(cell);
    const SiteInfo &info = accounts.sites()[site];
    const bool has_line = info.source == LineSource::Python && info.summary.line > 0 && !info.summary.before_attach;
    const bool of_engine = info.source != LineSource::Python && info.source != LineSource::None;
    const bool backward = of_engine || accounts.cells()[cell].calls_backward;
    makers[cell] = {has_line && !backward ? site : kNone, maker.stack, maker.thread,
                    tensors == (maker.layer == Layer::Tensor), backward};
  }
  return makers;
}

std::optional<CallPath> path_of(const State &all, uint32_t process, uint32_t site) {
  Stack stack;
  CallPath path;
  if (!all.names.stack(process, all.accounts.sites()[site].stack, stack)) return std::nullopt;
  if (stack.cut) return path;
  const auto own = stack.frames.rend() - 1 - trace::user_frame(stack.frames);
  for (auto frame = stack.frames.rbegin(); frame != stack.frames.rend(); ++frame) {
    // A snapshot's frames of C++ do not stand where they were called.
    if (frame->line == 0 || trace::native_source(frame->file)) continue;
    path.push_back({static_cast<uint32_t>(hash_of(frame->file + "\n" + frame->function)), frame->line,
                    set_up_of(frame->file, frame->function, frame > own)});
  }
  return path;
}

/// The allocation that begins a round is not alive at the end of the one before.
uint64_t just_before(uint64_t time_ns) { return time_ns - (time_ns > 0); }

/// Whether what follows the loop's last round has lasted half as long as the loop: an evaluation between epochs is no new loop.
bool outlasts(const ProcessSteps &steps, uint64_t now_ns) {
  return now_ns - steps.last_end_ns >= (steps.last_end_ns - steps.begin_ns) / 2;
}

void restart_devices(ProcessState &process, const std::vector<StepEntry> &entries) {
  std::set<uint8_t> known;
  for (const StepEntry &entry : entries) {
    const auto device = static_cast<uint8_t>(entry.device);
    if (entry.kind != StepEntry::Reserved || !known.insert(device).second) continue;
    process.devices[device].restart_with(entry.mark, static_cast<int64_t>(entry.before));
  }
  for (auto &[device, memory] : process.devices) {
    if (!known.contains(device)) memory.restart();
  }
}

void replay(State &all, ProcessState &process, const StepEntry &entry, uint32_t born_step) {
  switch (entry.kind) {
    case StepEntry::Allocation:
    case StepEntry::Free:
      return all.accounts.replay(entry, born_step);
    case StepEntry::Reserved:
      return process.devices[static_cast<uint8_t>(entry.device)].replay_reserved(static_cast<int64_t>(entry.bytes),
                                                                                 entry.time_ns);
    case StepEntry::Flags:
      return process.steps.flag(static_cast<uint8_t>(entry.bytes));
    default:
      return process.steps.collection(entry.kind == StepEntry::FullCollection);
  }
}

/// The rounds so far become steps, what is before the first one a part of it: what happened since the search began is replayed.
void count_rounds(const Context &context, const std::vector<StepEntry> &entries) {
  State &all = context.all;
  ProcessState &process = context.process;
  process.steps.restart();
  process.frame->restart();
  restart_devices(process, entries);
  all.accounts.restart_before(process.number, entries);
  std::vector<uint64_t> ends;
  const auto step_of = [&](uint64_t time_ns) {
    return static_cast<uint32_t>(1 + (std::upper_bound(ends.begin(), ends.end(), time_ns) - ends.begin()));
  };
  bool begun = false, others = true;
  for (const StepEntry &entry : entries) {
    const bool allocates = entry.kind == StepEntry::Allocation;
    const bool own = allocates && is_of(all, process.steps.anchor, entry.cell);
    if (own && process.steps.begins(all.accounts.cell_infos()[entry.cell].thread, others)) {
      process.steps.turn(entry.time_ns, all.accounts.cells().size());
      if (std::exchange(begun, true)) {
        ends.push_back(entry.time_ns);
        end_step(all, process, just_before(entry.time_ns), true);
      } else {
        process.steps.begin_ns = entry.time_ns;
      }
    }
    if (allocates) others = !own;
    replay(all, process, entry, entry.kind == StepEntry::Free ? step_of(entry.before) : 0);
  }
  set_steps_of_blocks(context, step_of);
}

}  // namespace

void end_round(const Context &context, uint32_t cell) {
  ProcessSteps &steps = context.process.steps;
  if (!steps.begins(context.accounts().cell_infos()[cell].thread, std::exchange(steps.silent, 0) > 0)) return;
  auto &finder = context.process.frame->finder;
  if (finder && finder->rests()) finder = nullptr;
  steps.turn(context.event.time_ns, context.accounts().cells().size());
  end_step(context.all, context.process, just_before(context.event.time_ns), false);
}

void end_last_round(const Context &context) {
  ProcessState &process = context.process;
  if (process.steps.source != StepSource::Periodic || process.frame->ended_cut) return;
  if (process.frame->ended.size() > process.steps.most_ended) return;
  const uint64_t behind_ns = process.steps.behind_ns;
  end_step(context.all, process, behind_ns > 0 ? just_before(behind_ns) : context.event.time_ns, false);
  process.passes.end(behind_ns);
}

void search_again(const Context &context) {
  auto &finder = context.process.frame->finder;
  if (!finder) finder = std::make_unique<LoopFinder>();
}

void find_loop(const Context &context) {
  ProcessSteps &steps = context.process.steps;
  auto &finder = context.process.frame->finder;
  const bool goes_on = steps.sure && steps.silent < steps.most_silent;
  context.accounts().resolve_pending();
  const auto calls = [&](uint32_t site) { return path_of(context.all, context.process.number, site); };
  const auto makers = makers_of(context.accounts(), context.process.number);
  const auto loop = finder->find(makers, calls, steps.silent < steps.most_silent ? steps.anchor : Anchor{});
  if (!loop) return;
  const bool other = loop->anchor != steps.anchor;
  if (other && steps.sure && !goes_on && !outlasts(steps, finder->entries().back().time_ns)) return;
  if (other) {
    steps.source = StepSource::Periodic;
    steps.anchor = loop->anchor;
    auto resting = std::move(finder);  // is not to hear it all again
    count_rounds(context, resting->entries());
    finder = std::move(resting);
    steps.silent = 0;
  }
  steps.most_silent = ProcessSteps::kSilentRounds * (loop->length + 2);
  steps.alone = loop->alone;
  steps.parts = loop->parts;
  steps.sure = loop->rounds >= (loop->alone ? ProcessSteps::kDoubtfulRounds : ProcessSteps::kSureRounds);
}

}  // namespace gmt::model
