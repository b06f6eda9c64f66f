// Prints a trace as text, for golden tests: trace_dump PATH
#include <cinttypes>
#include <cstdio>

#include "trace/log_merger.h"

using namespace gmt;

namespace {

void print_event(const trace::Batch &batch, const trace::Event &e) {
  std::printf("%" PRIu32 " #%" PRIu64 " t=%" PRIu64 " thread=%u kind=%u%s device=%u address=%" PRIx64 " bytes=%" PRIu64
              " stack=%" PRIu32,
              batch.process, e.sequence, e.time_ns, e.thread, e.kind & ~GMT_FAILED, e.kind & GMT_FAILED ? "!" : "",
              e.device, e.address, e.bytes, e.stack);
  if (e.detail) {
    const gmt_driver_detail &d = batch.details[e.detail - 1];
    std::printf(" call=%u flags=%u result=%d stream=%" PRIx64 " object=%" PRIx64 " offset=%" PRIx64 " context=%" PRIx64,
                d.call, d.flags, d.result, d.stream, d.object, d.offset, d.context);
    if (d.caller) std::printf(" caller=%" PRIu64, d.caller);
  }
  if (e.autograd) {
    const gmt_autograd &a = batch.autograds[e.autograd - 1];
    std::printf(" autograd=%" PRIu32 ":%" PRIu64 ":%" PRIu32, a.role, a.sequence, a.thread);
  }
  std::puts("");
}

void print_records(const trace::Batch &batch) {
  for (const trace::Name &n : batch.records.names) {
    std::printf("%" PRIu32 " name behind #%" PRIu64 " address=%" PRIx64 " device=%u category=%u %s\n", batch.process,
                n.after, n.address, n.device, n.category, n.text.c_str());
  }
  for (const trace::Memory &m : batch.records.memories) {
    std::printf("%" PRIu32 " memory t=%" PRIu64 " device=%u process=%" PRIu64 " used=%" PRIu64 " total=%" PRIu64 "\n",
                batch.process, m.time_ns, m.device, m.process_bytes, m.used_bytes, m.total_bytes);
  }
  for (const trace::Allocator &s : batch.records.allocators) {
    std::printf("%" PRIu32 " allocator behind #%" PRIu64 " device=%u allocated=%" PRIu64 " active=%" PRIu64 "\n",
                batch.process, s.after, s.device, s.allocated_bytes, s.active_bytes);
  }
  for (const trace::ModelRecord &d : batch.records.others) {
    if (d.kind != GMT_BLOCK) continue;
    const auto block = d.as<gmt_block>();
    std::printf("%" PRIu32 " block behind #%" PRIu64 " address=%" PRIx64 " device=%" PRIu32 " asked=%" PRIu64
                " stream=%" PRIx64 " pool=%" PRIu64 ":%" PRIu64 "\n",
                batch.process, d.after, block.address, block.device, block.asked_bytes, block.stream, block.pool_owner,
                block.pool_number);
  }
  for (const trace::AnswerPart &a : batch.records.answers) {
    std::printf("%" PRIu32 " answer behind #%" PRIu64 " request=%" PRIu32 " part %u of %u: %s\n", batch.process,
                a.after, a.request, a.part, a.parts, a.text.c_str());
  }
}

void print_process(trace::LogMerger &session, uint32_t index) {
  const trace::ProcessFacts &facts = session.facts(index);
  trace::ProcessTables &tables = session.tables(index);
  std::printf("process %" PRIu32 ": pid=%" PRIu32 " parent=%" PRIu32 " uid=%" PRIu32 " driver=%" PRIu32
              " simulated=%d start=%" PRIu64 " ended=%d python=%08" PRIx32 "\n",
              index, facts.pid, facts.parent_pid, facts.uid, facts.driver_source, facts.simulated, facts.start_ns,
              session.ended(index), tables.python_version());
  for (const std::string &argument : tables.command()) std::printf("  argument %s\n", argument.c_str());
  for (const trace::Thread &t : tables.threads()) std::printf("  thread %u: %u %s\n", t.index, t.tid, t.name.c_str());
  for (const trace::Device &d : tables.devices()) {
    std::printf("  device %u: %s %" PRIu64 "\n", d.index, d.name.c_str(), d.total_bytes);
  }
  for (const trace::Note &n : tables.notes()) std::printf("  note %u: %s\n", n.code, n.text.c_str());
  for (const trace::Library &l : tables.libraries()) std::printf("  library %u: %s\n", l.id, l.path.c_str());
  for (uint32_t id = 1; id <= tables.stack_count(); ++id) {
    const trace::Stack *stack = tables.resolve(id);
    if (!stack) continue;
    std::printf("  stack %u: user frame %d%s%s\n", id, stack->user_frame, stack->cut ? ", cut" : "",
                stack->before_attach ? ", before attach" : "");
    for (const trace::Frame &f : stack->frames) {
      std::printf("    %s:%u %s\n", f.file.c_str(), f.line, f.function.c_str());
    }
  }
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: trace_dump PATH\n");
    return 2;
  }
  auto opened = trace::LogMerger::open(argv[1]);
  if (!opened) {
    std::fprintf(stderr, "%s\n", opened.error().c_str());
    return 1;
  }
  trace::LogMerger &session = *opened.value();
  session.poll([](const trace::Batch &batch) {
    for (const trace::Event &event : batch.events) print_event(batch, event);
    print_records(batch);
  });
  for (uint32_t i = 0; i < session.process_count(); ++i) print_process(session, i);
  trace::Losses losses = session.losses();
  for (uint32_t cause = 0; cause < trace::kLossCauses; ++cause) {
    if (losses.count[cause]) {
      std::printf("lost %s: %" PRIu64 "\n", std::string(trace::loss_name(cause)).c_str(), losses.count[cause]);
    }
  }
  std::printf("events %" PRIu64 "\nsession %s\n", session.events(), session.session_json().c_str());
  return 0;
}
