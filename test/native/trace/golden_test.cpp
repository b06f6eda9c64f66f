// The traces of test/golden/trace are read to the same text for ever: they were written once, in the formats of the first release, by this program's
// `--write FILE`, `--write-steps FILE` and `--write-libraries FILE` and stay, so that a change of the format or the reader that breaks old files is seen.
#include <fstream>
#include <memory>

#include "check.h"
#include "log_writer.h"
#include "trace/saved/save.h"

using namespace gmt;
using namespace gmt::test;

namespace {

std::string dump_of(const std::string &trace) {
  const std::string command = "'" + given("GMT_TRACE_DUMP") + "' '" + trace + "'";
  std::unique_ptr<FILE, int (*)(FILE *)> pipe(popen(command.c_str(), "r"), pclose);
  std::string text;
  char part[4096];
  for (size_t got; pipe && (got = std::fread(part, 1, sizeof part, pipe.get())) > 0;) text.append(part, got);
  return text;
}
std::string text_of(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

void write_training(LogWriter &log) {
  uint16_t main = log.add_thread(4100, "python");
  uint16_t autograd = log.add_thread(4101, "pt_autograd_0");
  log.add_process(main, std::string("python\0train.py\0", 16), 0x030b07f0);
  log.add_device(main, 0, "Simulated GPU", 24ull << 30);
  log.add_note(main, GMT_NOTE_CUPTI_PATH, "libcupti.so.13");
  log.add_event(main, GMT_RECORDING_START, 0, 0, GMT_DEVICE_NONE);
  uint32_t forward = log.add_stack_of(
      main, {{"/opt/venv/lib/python3.11/site-packages/torch/nn/modules/linear.py", "Linear.forward", 116},
             {"/home/user/train.py", "Net.forward", 21},
             {"/home/user/train.py", "<module>", 40}});
  gmt_driver_detail detail{0, 0, 0, 0, 0, 0, 0x5500, 0};
  log.add_event(main, detail, GMT_DEVICE_ALLOC, 0x7f0000000000, 2 << 20, 0, forward);
  log.add_autograd(main, GMT_AUTOGRAD_FORWARD, 3, 1);
  log.add_event(main, GMT_RESERVED, 0, 2 << 20);
  log.add_event(main, GMT_TENSOR_ALLOC, 0x7f0000000000, 1024, 0, forward);
  log.add_autograd(autograd, GMT_AUTOGRAD_BACKWARD, 3, 1);
  log.add_event(autograd, GMT_TENSOR_ALLOC, 0x7f0000000400, 512);
  log.add_torn_event();
  log.at(6'000'000'000);
  log.add_event(main, GMT_TENSOR_FREE, 0x7f0000000000, 1024);
  detail.result = 2;
  log.add_event(main, detail, GMT_DEVICE_ALLOC | GMT_FAILED, 0, 1ull << 40, 0, forward);
  log.add_event(main, GMT_TENSOR_OOM, 0, 1ull << 40, 0, forward);
  log.add_loss(GMT_LOST_BUDGET, 4);
  log.end();
}

/// Steps of which each keeps a block; a collection, names, the device's account, an answer.
void write_steps(LogWriter &log) {
  const uint16_t main = log.add_thread(4100, "python"), agent = log.add_thread(4102, "gpu-memtrace");
  log.add_process(main, std::string("python\0train.py\0", 16), 0x030c01f0);
  log.add_device(main, 0, "Simulated GPU", 24ull << 30);
  log.add_note(main, GMT_NOTE_STEPS, "optimizer");
  log.add_event(main, GMT_RECORDING_START, 0, 0, GMT_DEVICE_NONE);
  const uint32_t before = log.add_stack(main, {}, GMT_STACK_BEFORE_ATTACH);
  const uint32_t weight = log.add_stack_of(main, {{"/home/user/train.py", "<module>", 5}});
  const uint32_t loss = log.add_stack_of(main, {{"/home/user/train.py", "train", 12}});
  const uint32_t input = log.add_stack_of(main, {{"/home/user/train.py", "train", 10}});
  log.add_event(main, GMT_TENSOR_ALLOC, 0x7f0000f00000, 4096, 0, before);
  const uint64_t named = log.add_event(main, GMT_TENSOR_ALLOC, 0x7f0000000000, 1 << 20, 0, weight);
  log.add_name(agent, 0x7f0000000000, named, GMT_CATEGORY_PARAMETER, "layers.0.weight");
  for (uint64_t step = 1; step <= 24; ++step) {
    log.at(step * 20'000'000);
    log.add_event(main, GMT_TENSOR_ALLOC, 0x7f0000800000, 2048 + step % 3 * 512, 0, input);
    log.add_event(main, GMT_TENSOR_ALLOC, 0x7f0000400000 + step * 512, 512, 0, loss);
    log.add_event(main, GMT_TENSOR_FREE, 0x7f0000800000, 2048, 0, step % 8 == 0 ? input : 0);
    if (step == 12) log.add_event(main, GMT_GC_BEGIN, 2, 0, GMT_DEVICE_NONE);
    if (step == 12) log.add_event(main, GMT_GC_END, 40, 0, GMT_DEVICE_NONE);
    log.add_event(main, GMT_STEP, step, 0, GMT_DEVICE_NONE, loss);
    if (step % 8 == 0) log.add_memory(agent, 0, 600 << 20, 700 << 20, 24ull << 30);
  }
  log.add_answer(agent, 0, 0, 2, R"({"request":0,"when":"exit","groups":[{"path":"losses","kind":"local",)",
                 log.next_sequence() - 1);
  log.add_answer(agent, 0, 1, 2, R"("addresses":["0x7f0000400200"],"count":24,"bytes":12288}]})",
                 log.next_sequence() - 1);
  log.add_event(main, GMT_PROCESS_ENDING, 0, 0, GMT_DEVICE_NONE);
  log.end();
}

/// Driver memory of a cache and of two libraries beside it, one of which is named late and takes more with each step.
void write_libraries(LogWriter &log) {
  const uint16_t main = log.add_thread(4100, "python"), helper = log.add_thread(4103, "nccl");
  log.add_process(main, std::string("python\0train.py\0", 16), 0x030c01f0);
  log.add_device(main, 0, "Simulated GPU", 24ull << 30);
  log.add_event(main, GMT_RECORDING_START, 0, 0, GMT_DEVICE_NONE);
  const uint32_t line = log.add_stack_of(main, {{"/home/user/train.py", "<module>", 5}});
  const auto called_by = [](uint64_t library) { return gmt_driver_detail{0, 0, 0, 0, 0, 0, 0x5500, library}; };
  log.add_library(main, 1, "/opt/venv/lib/python3.12/site-packages/torch/lib/libc10_cuda.so");
  log.add_event(main, called_by(1), GMT_DEVICE_ALLOC, 0x7f0000000000, 2 << 20, 0, line);
  log.add_event(main, GMT_RESERVED, 0, 2 << 20);
  log.add_event(main, GMT_TENSOR_ALLOC, 0x7f0000000000, 1 << 20, 0, line);
  log.add_event(helper, called_by(2), GMT_DEVICE_ALLOC, 0x7f1000000000, 6 << 20);
  log.add_library(helper, 2, "/usr/lib/x86_64-linux-gnu/libnccl.so.2");
  log.add_library(main, 3, "/usr/local/cuda/lib64/libcublasLt.so.13");
  for (uint64_t step = 1; step <= 40; ++step) {
    log.at(step * 20'000'000);
    log.add_event(main, called_by(3), GMT_DEVICE_ALLOC, 0x7f2000000000 + (step << 20), 1 << 20, 0, step % 2 ? line : 0);
    log.add_event(main, GMT_STEP, step, 0, GMT_DEVICE_NONE, line);
  }
  log.add_event(main, called_by(0), GMT_DEVICE_ALLOC, 0x7f3000000000, 1 << 20);
  log.end();
}

int save_golden(const std::string &folder, const std::string &target) {
  auto error = trace::save(folder, target, R"({"command":["python","train.py"],"simulated":true})");
  if (error) std::fprintf(stderr, "%s\n", error->message.c_str());
  return error ? 1 : 0;
}

int write_golden_steps(const std::string &target) {
  TemporaryFolder folder;
  LogWriter log(folder.path());
  write_steps(log);
  return save_golden(folder.path(), target);
}

int write_golden_libraries(const std::string &target) {
  TemporaryFolder folder;
  LogWriter log(folder.path());
  write_libraries(log);
  return save_golden(folder.path(), target);
}

int write_golden(const std::string &target) {
  TemporaryFolder folder;
  LogOptions first, second;
  second.pid = 5000002;
  second.parent_pid = first.pid;
  second.start_realtime_ns += 250'000'000;
  second.clock = GMT_CLOCK_TSC;
  second.ns_per_tick = 0.4;
  LogWriter training(folder.path(), first);
  write_training(training);
  LogWriter worker(folder.path(), second);
  worker.step_ns = 1'000'000;
  for (uint16_t i = 0; i < 40; ++i) worker.add_event(i % 4, i % 2 ? GMT_HOST_FREE : GMT_HOST_ALLOC, i / 2, 4096, 255);
  return save_golden(folder.path(), target);
}

}  // namespace

TEST(golden_traces_read_as_ever) {
  int traces = 0;
  for (const auto &entry : std::filesystem::directory_iterator(given("GMT_TEST_GOLDEN"))) {
    if (entry.path().extension() != ".gputrace") continue;
    ++traces;
    std::string expected = text_of(std::filesystem::path(entry.path()).replace_extension(".txt"));
    std::string got = dump_of(entry.path().string());
    CHECK(!expected.empty());
    if (got != expected) fail(__FILE__, __LINE__, entry.path().string() + " now reads as:\n" + got);
  }
  CHECK(traces > 0);
}

TEST(a_trace_written_now_reads_as_the_golden_one) {
  TemporaryFolder folder;
  CHECK_EQ(write_golden_steps(folder / "steps.gputrace"), 0);
  CHECK(dump_of((folder / "steps.gputrace")) == text_of(given("GMT_TEST_GOLDEN") + "/steps.txt"));
  CHECK_EQ(write_golden_libraries(folder / "libraries.gputrace"), 0);
  CHECK(dump_of((folder / "libraries.gputrace")) == text_of(given("GMT_TEST_GOLDEN") + "/libraries.txt"));
  CHECK_EQ(write_golden(folder / "now.gputrace"), 0);
  std::string got = dump_of((folder / "now.gputrace"));
  CHECK(got == text_of(given("GMT_TEST_GOLDEN") + "/two_processes.txt"));
}

int main(int argc, char **argv) {
  if (argc == 3 && std::string(argv[1]) == "--write") return write_golden(argv[2]);
  if (argc == 3 && std::string(argv[1]) == "--write-steps") return write_golden_steps(argv[2]);
  if (argc == 3 && std::string(argv[1]) == "--write-libraries") return write_golden_libraries(argv[2]);
  return run_all(argc, argv);
}
