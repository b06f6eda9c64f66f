#include "recorder/moments.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <map>
#include <memory>
#include <utility>

#include "session/modelled_trace.h"

namespace gmt::recorder {
namespace {

/// What is alive at the peak is in it, however times are rounded: as much as readers add (JUST_AFTER_NS of ending.ts).
constexpr uint64_t kJustAfterPeakNs = 100;
constexpr std::array kKindNames{"step", "mark", "peak"};
/// Peaks: of the tensors, the driver's, the host's memory.
constexpr std::array<size_t, 3> kMost{128, RetainedMoments::kMostMarks, 3};

void add_steps(const model::State &state, std::vector<Moment> &moments) {
  state.each_process([&](const model::ProcessState &one) {
    if (one.steps.source == model::StepSource::Time) return;
    for (const model::StepMark &mark : one.steps.marks.points()) {
      if (std::has_single_bit(mark.step)) moments.push_back({mark.end_ns, MomentKind::kStep});
    }
  });
}

void add_peaks(const model::State &state, std::vector<Moment> &moments) {
  std::map<model::Layer, const model::Ledger *> highest;
  for (const model::Ledger &one : state.accounts.ledgers()) {
    const model::Ledger *&known = highest[one.layer];
    if (one.peak_bytes > 0 && (!known || one.peak_bytes > known->peak_bytes)) known = &one;
  }
  for (const auto &[layer, ledger] : highest) {
    if (ledger) moments.push_back({ledger->peak_ns + kJustAfterPeakNs, MomentKind::kPeak});
  }
}

/// In a name of a mark quotes are escaped, so that the key stands nowhere else.
void add_marks(const std::string &session_json, std::vector<Moment> &moments) {
  static constexpr char kKey[] = "\"timeNs\":";
  for (size_t at = session_json.find(kKey); at != std::string::npos; at = session_json.find(kKey, at + 1)) {
    const uint64_t ns = std::strtoull(session_json.c_str() + at + sizeof kKey - 1, nullptr, 10);
    if (ns > 0) moments.push_back({ns, MomentKind::kMark});
  }
}

/// Read up to the moment; null where that is not to be had any more.
std::unique_ptr<session::ModelledTrace> read_until(const std::string &directory, uint64_t ns) {
  auto opened = session::open(directory, ns, ns);
  if (!opened) return nullptr;
  while (opened.value()->poll(1 << 16)) {
  }
  if (opened.value()->reader->overtaken()) return nullptr;
  opened.value()->reader->end_here();
  return std::move(opened.value());
}

}  // namespace

std::vector<Moment> moments_of(const model::State &state, const std::string &session_json, uint64_t after_ns,
                               uint64_t until_ns) {
  std::vector<Moment> moments;
  add_steps(state, moments);
  add_marks(session_json, moments);
  add_peaks(state, moments);
  std::erase_if(moments, [&](const Moment &one) { return one.ns <= after_ns || one.ns > until_ns; });
  std::ranges::sort(moments, {}, &Moment::ns);
  return moments;
}

RetainedMoments::RetainedMoments(const std::string &directory) : directory_(directory) {
  for (const session::CheckpointFile &one : session::stored_checkpoints(directory)) {
    const auto kind = std::ranges::find(kKindNames, one.kind);
    if (kind == kKindNames.end()) continue;
    files_.push_back({one.path, static_cast<MomentKind>(kind - kKindNames.begin()), session::disk_bytes(one.path)});
  }
}

void RetainedMoments::add(const Moment &moment, trace::Packer &packer) {
  const auto modelled = read_until(directory_, moment.ns);
  if (!modelled) return;
  const auto kind = static_cast<size_t>(moment.kind);
  auto path = session::store_checkpoint(directory_, moment.ns, kKindNames[kind], *modelled, packer);
  if (!path) return;  // the disk is full
  std::erase_if(files_, [&](const File &one) { return one.path == path.value(); });
  files_.push_back({path.value(), moment.kind, session::disk_bytes(path.value())});
  drop(moment.kind, kMost[kind]);
}

uint64_t RetainedMoments::bytes() const {
  uint64_t sum = 0;
  for (const File &one : files_) sum += one.bytes;
  return sum;
}

/// The oldest of its kind where there are more than `most`.
void RetainedMoments::drop(MomentKind kind, size_t most) {
  const auto is_of = [&](const File &one) { return one.kind == kind; };
  if (static_cast<size_t>(std::ranges::count_if(files_, is_of)) <= most) return;
  const auto oldest = std::ranges::find_if(files_, is_of);
  remove_file(oldest->path.c_str());
  files_.erase(oldest);
}

}  // namespace gmt::recorder
