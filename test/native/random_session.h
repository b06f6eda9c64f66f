#pragma once
// Processes that do at random everything that a log can tell, and all that a model answers, as text.
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "log_writer.h"
#include "model_fixture.h"
#include "session/trace_names.h"

namespace gmt::test {

/// A process: what writes its log, and what lives.
struct Program {
  std::unique_ptr<LogWriter> log;
  std::vector<uint32_t> stacks;
  std::vector<uint64_t> live;     ///< tensors
  std::vector<uint64_t> device;   ///< of the driver
  std::vector<uint64_t> handles;  ///< of physical memory
  uint64_t next = 0x7f0000000000ull;
  uint64_t nodes = 0;
  uint32_t requests = 0;
  bool writes_steps = true;
};

inline Program start(const std::string &folder, uint32_t number, uint64_t begins_ns = 20'000'000) {
  LogOptions options;
  options.pid += number;
  options.start_realtime_ns += number * begins_ns;
  Program program{std::make_unique<LogWriter>(folder, options), {}, {}, {}, {}};
  program.writes_steps = number != 1;
  LogWriter &log = *program.log;
  for (uint16_t thread = 0; thread < 3; ++thread) log.add_thread(100u + thread, "python");
  log.add_process(0, std::string("python\0train.py\0", 16));
  log.add_device(0, 0, "GPU", 1ull << 34);
  log.add_library(0, 1, "/usr/lib/libnccl.so");
  for (uint32_t line = 1; line <= 40; ++line) {
    program.stacks.push_back(log.add_stack_of(0, {{"train.py", "main", line + number}}));
  }
  return program;
}

template <typename List>
auto take_any(List &list, std::mt19937 &random) {
  std::swap(list[random() % list.size()], list.back());
  const auto taken = list.back();
  list.pop_back();
  return taken;
}

/// A call of the driver.
inline void call_driver(Program &program, std::mt19937 &random, uint16_t thread) {
  LogWriter &log = *program.log;
  const uint32_t stack = program.stacks[random() % program.stacks.size()];
  const auto put = [&](gmt_driver_detail detail, uint8_t kind, uint64_t address, uint64_t bytes, uint8_t device = 0) {
    log.add_event(thread, detail, kind, address, bytes, device, stack);
  };
  gmt_driver_detail detail{};
  detail.context = 7;
  detail.stream = random() % 3;
  detail.caller = random() % 2;
  switch (random() % 14) {
    case 0:
      detail.result = 2;
      return put(detail, GMT_DEVICE_ALLOC | GMT_FAILED, 0, 1 << 30);
    case 1:
      put(detail, GMT_HOST_ALLOC, program.next += 1 << 20, 4096, GMT_DEVICE_NONE);
      return put(detail, GMT_HOST_FREE, random() % 2 ? program.next : 1, 0, GMT_DEVICE_NONE);
    case 2:
      program.handles.push_back(++program.next);
      return put(detail, GMT_PHYSICAL_CREATE, program.next, 2 << 20);
    case 3:
      if (program.handles.empty()) return;
      detail.object = program.handles[random() % program.handles.size()];
      return put(detail, GMT_MAP, 0x500000000000ull + random() % 16 * (2 << 20), 2 << 20);
    case 4:
      return put(detail, GMT_UNMAP, 0x500000000000ull + random() % 16 * (2 << 20), 4 << 20);
    case 5:
      if (program.handles.empty()) return;
      return put(detail, GMT_PHYSICAL_RELEASE, take_any(program.handles, random), 0);
    case 6:
      return put(detail, GMT_ADDRESS_RESERVE, 0x500000000000ull, 32 << 20);
    case 7: {
      if (program.device.empty()) return;
      const uint64_t address = take_any(program.device, random);
      put(detail, GMT_FREE, address, 0);
      if (random() % 4) return;
      put(detail, GMT_FREE_UNDONE, address, GMT_FREE);
      return program.device.push_back(address);
    }
    default:
      program.device.push_back(program.next += 32 << 20);
      return put(detail, random() % 2 ? GMT_DEVICE_ALLOC : GMT_ASYNC_ALLOC, program.next, 20 << 20);
  }
}

/// What is no allocation: records and marks.
inline void say(Program &program, std::mt19937 &random, uint16_t thread) {
  LogWriter &log = *program.log;
  const uint64_t last = log.next_sequence() - 1;
  switch (random() % 16) {
    case 0:
      return void(log.add_event(thread, GMT_RECORDING_STOP, 0, 0)),
             void(log.add_event(thread, GMT_RECORDING_START, 0, 0));
    case 1:
      return void(log.add_event(thread, GMT_GAP_BEGIN, 0, 0)), void(log.add_event(thread, GMT_GAP_END, 0, 0));
    case 2:
      return void(log.add_event(thread, GMT_GC_BEGIN, 2, 0));
    case 3:
      return void(log.add_event(thread, GMT_GC_END, 5, 0));
    case 4:
      return log.add_allocator(thread, 0, 1000, 1000 + random() % 1000, last + random() % 3);
    case 5:
      if (program.live.empty()) return;
      return log.add_block(thread, {program.live.back(), last, 100, 7, 0, 0, 0, 0});
    case 6:
      ++program.requests;
      for (uint16_t part = 0; part < 2; ++part) {
        const std::string text = program.live.empty() ? "{}" : std::to_string(program.live.back());
        log.add_answer(thread, program.requests, part, 2, text, last + random() % 3);
      }
      return;
    case 7:
      return void(log.add_torn_event());
    case 8:
      return log.at(log.now_ns() + random() % 400'000'000);
    case 9:
      return void(log.add_event(thread, GMT_TENSOR_OOM, 0, 1 << 30, 0, program.stacks.front()));
    case 10:
      return void(log.add_event(thread, GMT_RESERVED, 0, (1 + random() % 100) << 20));
    case 11:
    case 12:
      return log.add_autograd(thread, random() % 3, random() % (program.nodes + 1), 1);
    case 13:
      return log.add_memory(thread, 0, random() % 1000, random() % 1000, 1000);
    default:
      return log.add_node(thread, ++program.nodes, program.stacks[random() % program.stacks.size()], 1);
  }
}

inline void act(Program &program, std::mt19937 &random) {
  LogWriter &log = *program.log;
  const auto thread = static_cast<uint16_t>(random() % 3);
  const uint32_t choice = random() % 100;
  if (const uint64_t number = log.next_sequence(); number % 97 == 0)
    log.add_range(thread, number / 97 % 4, number % 5 < 3 ? "step" : "");
  if (choice == 0) {
    if (program.writes_steps) log.add_event(thread, GMT_STEP, 0, 0);
  } else if (choice < 3 && !program.live.empty()) {
    log.add_name(thread, program.live.back(), log.next_sequence() - 1, GMT_CATEGORY_PARAMETER, "weight");
  } else if (choice < 7) {
    say(program, random, thread);
  } else if (choice < 15) {
    call_driver(program, random, thread);
  } else if (choice < 55 && !program.live.empty()) {
    log.add_event(thread, GMT_TENSOR_FREE, take_any(program.live, random), 512, 0, random() % 8 ? 0 : 1);
  } else {
    const size_t lines = 1 + log.next_sequence() / 700 % program.stacks.size();  // lines come into use one by one
    const uint32_t stack = random() % 5 ? program.stacks[random() % lines] : 0;
    log.add_event(thread, GMT_TENSOR_ALLOC, program.next, 512 * (1 + random() % 9), 0, stack);
    program.live.push_back(program.next);
    program.next += 8192;
  }
}

/// Everything that answers show, as text.
class Description {
 public:
  explicit Description(QueriedModel &model) : model_(model) {}
  std::string text() {
    sites();
    blocks();
    series();
    memory();
    out_ << model_.events() << ' ' << model_.now_ns();
    return out_.str();
  }

 private:
  template <typename... Values>
  void line(const Values &...values) {
    ((out_ << values << ' '), ...) << '\n';
  }
  void sites() {
    for (const auto layer : {model::Layer::Tensor, model::Layer::Driver, model::Layer::Host}) {
      model::SiteQuery query;
      query.layer = layer;
      query.include_dead = true;
      query.to = 1000;
      for (const model::SiteRow &row : model_.sites(query).rows) {
        line(row.id, row.key, row.line, row.live_bytes, row.live_count, row.peak_bytes, row.allocations, row.frees,
             row.growth, row.library);
        for (const double value : row.spark) out_ << value << ',';
        for (const model::FreeLine &free : model_.free_lines(row.id)) line(free.count, free.last_step);
      }
    }
  }
  void blocks() {
    model::AllocationQuery query;
    query.to = 100'000;
    for (const model::AllocationRow &row : model_.allocations(query).rows) {
      line(row.process, row.address, row.bytes, row.site, row.time_ns, row.step, row.age_steps, int{row.category},
           row.name);
    }
  }
  void series() {
    for (uint32_t process = 0; process < 4; ++process) {
      model::SiteSeriesQuery query;
      query.process = process;
      const model::SiteSeries sites = model_.site_series(query);
      for (const auto &column : sites.columns) print(column);
      for (const model::StepMark &mark : sites.axis.marks) line(mark.step, mark.end_ns, int{mark.flags});
      model::LedgerSeriesQuery ledger;
      ledger.process = process;
      for (const auto &column : model_.ledger_series(ledger).columns) print(column);
    }
    for (const model::Range &one : model_.ranges({0, 0, model_.now_ns(), 0}))
      line(one.begin_ns, one.end_ns, one.thread, one.name);
    for (const auto of : {model::Series::Tensor, model::Series::Reserved, model::Series::Driver, model::Series::Host}) {
      model::TimelineQuery query;
      query.series = of;
      query.to_ns = model_.now_ns();
      for (const model::Bucket &bucket : model_.timeline(query))
        line(bucket.begin_ns, bucket.min, bucket.max, bucket.last);
    }
  }
  void memory() {
    for (const model::Ledger &ledger : model_.ledgers()) {
      line(ledger.process, ledger.live_bytes, ledger.peak_bytes, ledger.peak_ns, ledger.allocations, ledger.frees,
           ledger.allocated_bytes, ledger.unmatched_frees, ledger.implied_frees);
    }
    for (const model::OutOfMemory &one : model_.out_of_memory()) {
      line(one.requested_bytes, one.time_ns, one.site, one.live_bytes, one.snapshot ? one.snapshot->sites.size() : 0);
    }
    for (const model::Segment &one : model_.segments({}).segments)
      line(one.begin, one.end, one.live_bytes, one.gap_bytes);
    line(model_.fragmentation(0, 0).free_bytes);
    for (uint32_t process = 0; process < 4; ++process) {
      const model::ProcessState *state = model_.process(process);
      if (!state) continue;
      for (const model::Answer &one : state->answers.answers()) line(one.request, one.text, one.blocks.size());
      line(state->pauses.size(), state->gaps.size(), state->memory.maps(), state->memory.reserved_bytes());
    }
  }
  void print(const std::vector<double> &values) {
    for (const double value : values) out_ << value << ',';
    out_ << '\n';
  }

  QueriedModel &model_;
  std::ostringstream out_;
};

inline std::string describe(QueriedModel &model) { return Description(model).text(); }

}  // namespace gmt::test
