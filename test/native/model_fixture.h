#pragma once
// Events for the model, written down by hand, and names for their stacks.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/model.h"
#include "model/query/questions.h"

namespace gmt::test {

class FakeNames : public model::Names {
 public:
  /// Innermost first. The user's frame is the first whose file does not begin with '/'.
  void set(uint32_t stack, std::vector<model::Frame> frames, uint32_t process = 0) {
    model::Stack &own = stacks_[{process, stack}];
    own.frames = std::move(frames);
    for (size_t i = own.frames.size(); i-- > 0;) {
      if (own.frames[i].file[0] != '/') own.user_frame = static_cast<int32_t>(i);
    }
  }
  void set_before_attach(uint32_t stack, uint32_t process = 0) { stacks_[{process, stack}].before_attach = true; }
  void set_library(uint32_t library, std::string path, uint32_t process = 0) {
    libraries_[{process, library}] = std::move(path);
  }
  std::string library(uint32_t process, uint32_t library) const override {
    const auto found = libraries_.find({process, library});
    return found == libraries_.end() ? "" : found->second;
  }
  bool stack(uint32_t process, uint32_t stack, model::Stack &out) const override {
    const auto found = stacks_.find({process, stack});
    if (found == stacks_.end()) return false;
    out = found->second;
    return true;
  }
  /// Every third stack is in none.
  std::string module_path(uint32_t, uint32_t stack) const override {
    return stack % 3 == 0 ? "" : "layers." + std::to_string(stack % 3);
  }
  std::string thread(uint32_t, uint32_t thread) const override { return "python:" + std::to_string(100 + thread); }
  std::string process(uint32_t process) const override { return "train.py (" + std::to_string(process) + ")"; }

 private:
  std::map<std::pair<uint32_t, uint32_t>, model::Stack> stacks_;
  std::map<std::pair<uint32_t, uint32_t>, std::string> libraries_;
};

/// What one event carries; the rest has a usual value.
struct Step {
  uint8_t kind;
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint8_t device = 0;
  uint32_t thread = 0;
  uint32_t stack = 0;
};

/// A model that is asked.
class QueriedModel : public model::Model {
 public:
  using Model::Model;
  const std::deque<model::Ledger> &ledgers() const { return state().accounts.ledgers(); }
  const model::ProcessState *process(uint32_t number) const { return state().process(number); }
  const std::deque<model::OutOfMemory> &out_of_memory() const { return state().out_of_memory; }
  bool recording(uint32_t number) const { return state().recording(number); }
  const model::CellInfo &maker(uint32_t cell) const { return state().accounts.cell_infos()[cell]; }
  uint64_t now_ns() const { return state().now_ns; }
  uint64_t events() const { return state().events; }
  auto sites(const model::SiteQuery &query) { return model::sites(settled(), query); }
  auto site(uint32_t id) { return model::site(settled(), id); }
  auto allocations(const model::AllocationQuery &query) { return model::allocations(settled(), query); }
  auto blocks(uint32_t process, const std::vector<uint64_t> &at) { return model::blocks(settled(), process, at); }
  auto timeline(const model::TimelineQuery &query) { return model::timeline(settled(), query); }
  auto site_series(const model::SiteSeriesQuery &query) { return model::site_series(settled(), query); }
  auto ledger_series(const model::LedgerSeriesQuery &query) { return model::ledger_series(settled(), query); }
  auto passes(const model::PassQuery &query) { return model::passes(settled(), query); }
  auto ranges(const model::PassQuery &query) { return model::ranges(settled(), query); }
  auto free_lines(uint32_t site) { return model::free_lines(settled(), site); }
  auto segments(const model::SegmentQuery &query) { return model::segments(settled(), query); }
  auto pools() { return model::pools(settled()); }
  auto fragmentation(uint32_t process, int32_t device) { return model::fragmentation(settled(), process, device); }
};

class Feed {
 public:
  Feed() : model(names) {}
  FakeNames names;
  QueriedModel model;
  uint64_t now_ns = 0;
  uint64_t step_ns = 1'000'000;

  void put(const Step &step, uint32_t process = 0) { send(step, process, nullptr, nullptr); }
  void put(const Step &step, const gmt_driver_detail &detail, uint32_t process = 0) {
    send(step, process, &detail, nullptr);
  }
  void put(const Step &step, const gmt_autograd &state, uint32_t process = 0) { send(step, process, nullptr, &state); }

  /// So many failed allocations of the driver in one batch, of 1, 2, 3, … bytes, for this reason; the last for another.
  void put_failures(size_t count, int32_t result, int32_t last_result) {
    const gmt_driver_detail details[] = {{0, 0, result, 0, 0, 0, 1, 0}, {0, 0, last_result, 0, 0, 0, 1, 0}};
    std::vector<trace::Event> events;
    for (size_t i = 1; i <= count; ++i) {
      const uint16_t detail = i == count ? 2 : 1;
      events.push_back({++sequences_[0], ++now_ns, 0, i, 1, detail, 0, 0, 0, GMT_DEVICE_ALLOC | GMT_FAILED});
    }
    model.ingest({0, events, details, {}});
  }

  /// A node that `thread` made.
  void make_node(uint64_t sequence, uint32_t stack, uint32_t torch_thread = 1, uint16_t thread = 0) {
    const trace::Node node{{sequence, stack, torch_thread}, thread, 0};
    model.ingest({0, {}, {}, {}, {&node, 1}});
  }

  void put_name(const trace::Name &name) { model.ingest({0, {}, {}, {}, {}, {{&name, 1}, {}, {}}}); }
  void put_memory(const trace::Memory &memory) { model.ingest({0, {}, {}, {}, {}, {{}, {&memory, 1}, {}}}); }
  void put_allocator(const trace::Allocator &record) {
    model.ingest({0, {}, {}, {}, {}, {{}, {}, {}, {&record, 1}, {}}});
  }
  struct BlockDetail {
    uint64_t after;
    gmt_block block;
  };
  void put_block(const BlockDetail &detail) {
    const auto *bytes = reinterpret_cast<const char *>(&detail.block);
    const trace::ModelRecord record{detail.after, GMT_BLOCK, {bytes, sizeof detail.block}};
    model.ingest({0, {}, {}, {}, {}, {{}, {}, {}, {}, {&record, 1}}});
  }
  void put_pool(uint64_t after, gmt_pool pool, const std::string &text, const std::vector<uint64_t> &addresses) {
    pool.text_bytes = static_cast<uint32_t>(text.size());
    pool.count = static_cast<uint32_t>(addresses.size());
    const auto bytes = [](const void *at, size_t size) { return std::string(static_cast<const char *>(at), size); };
    const std::string list = bytes(addresses.data(), addresses.size() * sizeof(uint64_t));
    const trace::ModelRecord record{after, GMT_POOL, bytes(&pool, sizeof pool) + text + list};
    model.ingest({0, {}, {}, {}, {}, {{}, {}, {}, {}, {&record, 1}}});
  }
  /// What the allocator of device 0 told of `kind`, in parts of one block each where they are several.
  void put_pre_existing(uint64_t after, uint32_t kind, std::vector<gmt_before_block> blocks, uint32_t stack = 0,
                        uint64_t reserved = 0) {
    const auto parts = static_cast<uint16_t>(blocks.empty() ? 1 : blocks.size());
    for (uint16_t part = 0; part < parts; ++part) {
      const uint32_t count = blocks.empty() ? 0 : 1;
      const gmt_before about{after, reserved, 0, stack, kind, count, part, parts, 0};
      trace::ModelRecord record{after, GMT_BEFORE, {reinterpret_cast<const char *>(&about), sizeof about}};
      if (count) record.payload.append(reinterpret_cast<const char *>(&blocks[part]), sizeof blocks[part]);
      model.ingest({0, {}, {}, {}, {}, {{}, {}, {}, {}, {&record, 1}}});
    }
  }
  void put_answer(const trace::AnswerPart &part) { model.ingest({0, {}, {}, {}, {}, {{}, {}, {&part, 1}}}); }
  /// These events never come.
  void lose_events(uint64_t count, uint32_t process = 0) { sequences_[process] += count; }
  uint64_t sequence(uint32_t process = 0) { return sequences_[process]; }

  /// The totals of one process, device and layer; all zero where there are none.
  model::LedgerNumbers totals(model::Layer layer, uint8_t device = 0, uint32_t process = 0) const {
    for (const model::Ledger &ledger : model.ledgers()) {
      if (ledger.layer == layer && ledger.device == device && ledger.process == process) return ledger;
    }
    return {.process = process, .device = device, .layer = layer};
  }
  model::SiteRows sites(model::SiteQuery query = {}) { return model.sites(query); }
  model::AllocationRows blocks(model::AllocationQuery query = {}) { return model.allocations(query); }

 private:
  void send(const Step &step, uint32_t process, const gmt_driver_detail *detail, const gmt_autograd *state) {
    now_ns += step_ns;
    const trace::Event event{++sequences_[process], now_ns,           step.address, step.bytes,  step.stack,
                             detail != nullptr,     state != nullptr, step.thread,  step.device, step.kind};
    trace::Batch batch{process, {&event, 1}, {}, {}};
    if (detail) batch.details = {detail, 1};
    if (state) batch.autograds = {state, 1};
    model.ingest(batch);
  }
  std::map<uint32_t, uint64_t> sequences_;
};

inline gmt_driver_detail in_context(uint64_t context, int32_t result = 0) {
  return {0, 0, result, 0, 0, 0, context, 0};
}
inline gmt_driver_detail of_handle(uint64_t handle, uint64_t offset = 0) { return {0, 0, 0, 0, handle, offset, 0, 0}; }

}  // namespace gmt::test
