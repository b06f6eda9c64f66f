#include "check.h"
#include "log_writer.h"
#include "trace/log/line_table.h"
#include "trace/log/process_tables.h"
#include "trace/log/user_frame.h"
#include "trace_reading.h"

using namespace gmt;
using namespace gmt::test;

TEST(tables_hold_what_was_written) {
  TemporaryFolder folder;
  LogWriter log(folder.path());
  uint16_t main = log.add_thread(4711, "python");
  log.add_process(main, std::string("python\0train.py\0--n\0\0", 21), 0x030c01f0);
  log.add_device(main, 0, "Simulated GPU", 24ull << 30);
  log.add_note(main, GMT_NOTE_NO_CUPTI, "no libcupti");
  log.add_note(main, GMT_NOTE_NO_CUPTI, "no libcupti");
  uint16_t worker = log.add_thread(4712, "Thread-1");
  log.add_thread_record(worker, 4712, "pt_autograd_0");
  log.add_event(main, GMT_TENSOR_ALLOC, 1, 512);
  Reading reading = read_all(folder.path());
  REQUIRE(reading.session && reading.session->process_count() == 1);
  const trace::ProcessTables &tables = reading.session->tables(0);
  REQUIRE(tables.threads().size() == 2);
  CHECK_EQ(tables.thread(main)->tid, 4711u);
  CHECK_EQ(tables.thread(worker)->name, "pt_autograd_0");
  CHECK(!tables.thread(99));
  CHECK(tables.command() == (std::vector<std::string>{"python", "train.py", "--n", ""}));
  CHECK_EQ(tables.python_version(), 0x030c01f0u);
  REQUIRE(tables.devices().size() == 1);
  CHECK_EQ(tables.devices()[0].name, "Simulated GPU");
  CHECK_EQ(tables.devices()[0].total_bytes, 24ull << 30);
  REQUIRE(tables.notes().size() == 1);
  CHECK_EQ(tables.notes()[0].text, "no libcupti");
}

TEST(stacks_are_resolved_once_their_code_is_there) {
  TemporaryFolder folder;
  LogWriter log(folder.path());
  uint32_t stack = log.add_stack_of(0, {{"/usr/lib/python3.11/json/decoder.py", "decode", 10},
                                        {"/home/u/train.py", "Model.forward", 20},
                                        {"/home/u/train.py", "<module>", 30}});
  uint32_t unknown = log.add_stack(1, {{77, 0}}, GMT_STACK_CUT);
  uint32_t empty = log.add_stack(1, {});
  log.add_event(0, GMT_TENSOR_ALLOC, 1, 512, 0, stack);
  Reading reading = read_all(folder.path());
  trace::ProcessTables &tables = reading.session->tables(0);
  const trace::Stack *found = tables.resolve(stack);
  REQUIRE(found && found->frames.size() == 3);
  CHECK_EQ(found->frames[1].function, "Model.forward");
  CHECK_EQ(found->frames[1].line, 20u);
  CHECK_EQ(found->user_frame, 1);
  CHECK(!found->cut);
  CHECK(tables.resolve(stack) == found);
  const trace::Stack *without = tables.resolve(unknown);
  REQUIRE(without && without->frames.size() == 1);
  CHECK(without->cut);
  CHECK_EQ(without->frames[0].line, 0u);
  CHECK_EQ(without->user_frame, -1);
  CHECK(tables.resolve(empty) && tables.resolve(empty)->frames.empty());
  CHECK(!tables.resolve(12345));
}

TEST(a_code_object_without_its_table_has_its_first_line) {
  TemporaryFolder folder;
  LogWriter log(folder.path());
  CodeOptions cut;
  cut.first_line = 55;
  cut.flags = GMT_CODE_CUT;
  uint32_t stack = log.add_stack(0, {{log.add_code(0, "a.py", "f", cut), 4}});
  log.add_event(0, GMT_TENSOR_ALLOC, 1, 512, 0, stack);
  Reading reading = read_all(folder.path());
  CHECK_EQ(reading.session->tables(0).resolve(stack)->frames[0].line, 55u);
}

TEST(code_that_a_compiler_made_stands_for_lines_and_modules_of_the_program) {
  TemporaryFolder folder;
  LogWriter log(folder.path());
  const char *file = "/cache/az/cazlgzf4hku5uy2r3zr4pr4msgvicb6iaeykw2qy5x7qbyrmja6s.py";
  const auto stack_at = [&](uint32_t line) {
    return log.add_stack_of(
        0, {{file, "call", line}, {"/venv/site-packages/torch/_x.py", "run", 1}, {"/u/train.py", "main", 7}});
  };
  const auto generated = [&](uint32_t line, const std::string &text) {
    const gmt_generated about{line, static_cast<uint32_t>(text.size())};
    return std::string(reinterpret_cast<const char *>(&about), sizeof about) + text;
  };
  const uint32_t before = stack_at(9), at = stack_at(10), behind = stack_at(11);
  log.add_event(0, GMT_TENSOR_ALLOC, 1, 512, 0, at);
  Reading reading = read_all(folder.path());
  trace::ProcessTables &tables = reading.session->tables(0);
  const auto add = [&](uint8_t kind, const std::string &record) {
    return tables.add(kind, std::as_bytes(std::span(record)));
  };
  for (const uint32_t stack : {before, at, behind}) {
    const gmt_module_call call{77, stack, 5};
    REQUIRE(add(GMT_MODULE_CALL, std::string(reinterpret_cast<const char *>(&call), sizeof call) + "Model"));
  }
  CHECK_EQ(tables.module_path(at), "compiled region of Model (path unknown)");
  CHECK_EQ(tables.resolve(at)->user_frame, 2);
  CHECK(tables.resolve(at)->generated);
  const gmt_module path{77, 0, 0}, inner{78, 5, 0};
  REQUIRE(add(GMT_MODULE, std::string(reinterpret_cast<const char *>(&path), sizeof path)));
  REQUIRE(add(GMT_MODULE, std::string(reinterpret_cast<const char *>(&inner), sizeof inner) + "inner"));
  const std::string frames = "\n/u/model.py\t41\tforward\n/u/model.py\t52\tforward";
  REQUIRE(add(GMT_GENERATED, generated(10, file + std::string("\n.layers.0") + frames)));
  REQUIRE(add(GMT_GENERATED, generated(11, file + std::string("\n") + frames)));
  CHECK_EQ(tables.generated_count(), 2u);
  const trace::Stack *found = tables.resolve(at);
  REQUIRE(found && found->frames.size() == 5);
  CHECK_EQ(found->user_frame, 1);
  CHECK_EQ(found->frames[1].line, 41u);
  CHECK_EQ(found->frames[2].line, 52u);
  CHECK_EQ(tables.module_path(at), "layers.0");
  CHECK_EQ(tables.module_path(behind), "compiled region of (root)");
  CHECK_EQ(tables.resolve(before)->frames.size(), 3u);
  REQUIRE(add(GMT_GENERATED, generated(11, file + std::string("\n78"))));
  CHECK_EQ(tables.module_path(behind), "inner");
  REQUIRE(add(GMT_GENERATED, generated(11, file + std::string("\n."))));
  CHECK_EQ(tables.module_path(behind), "(root)");
  CHECK(!add(GMT_GENERATED, generated(11, "x").substr(0, 7)));
}

TEST(payloads_that_are_too_short_are_refused) {
  trace::ProcessTables tables;
  std::string record(200, '\xff');
  for (int kind = GMT_CODE; kind <= GMT_NOTE; ++kind) {
    for (size_t bytes = 0; bytes < 30; ++bytes) {
      if (tables.add(static_cast<uint8_t>(kind), std::as_bytes(std::span(record.data(), bytes)))) {
        fail(__FILE__, __LINE__, "kind " + std::to_string(kind) + " of " + std::to_string(bytes) + " bytes");
      }
    }
  }
  CHECK(!tables.add_thread(std::as_bytes(std::span(record)), 0));
  CHECK(tables.threads().empty() && tables.devices().empty() && tables.notes().empty());
}

TEST(owners_of_files) {
  using trace::FileOwner;
  const char *users[] = {"/home/u/train.py",          "train.py",
                         "/home/u/python3.py",        "/srv/lib/python/model.py",
                         "/home/u/torch/train.py",    "/tmp/ipykernel_17/123.py",
                         "/work/python3.11/train.py", "/home/u/train.v2.py"};
  const char *libraries[] = {"/usr/lib/python3.11/threading.py",
                             "/opt/conda/lib/python3.9/runpy.py",
                             "/opt/x/lib/python3.13t/runpy.py",
                             "/usr/lib64/python3.9/runpy.py",
                             "/home/u/.venv/lib/python3.12/site-packages/torch/nn/modules/linear.py",
                             "/usr/lib/python3/dist-packages/numpy/core.py",
                             "/opt/python312.zip/json/decoder.py",
                             "<frozen importlib._bootstrap>",
                             "<eval_with_key>.3",
                             "/tmp/torch_geometric.nn.conv.gat_conv_GATConv_propagate_a2l.py",
                             "/tmp/torchinductor_me/ab/cabc.py",
                             "/home/u/pytorch/torch/nn/modules/module.py",
                             "/home/u/pytorch/torch/_tensor.py",
                             ""};
  for (const char *file : users) {
    if (trace::file_owner(file) != FileOwner::kUser) fail(__FILE__, __LINE__, file);
  }
  for (const char *file : libraries) {
    if (trace::file_owner(file) != FileOwner::kLibrary) fail(__FILE__, __LINE__, file);
  }
  CHECK(trace::file_owner("<string>") == FileOwner::kPseudo);
  std::vector<trace::Frame> frames = {{"<string>", 1, "__init__"}, {"a.py", 2, "f"}};
  CHECK_EQ(trace::user_frame(frames), 1);
  frames.pop_back();
  CHECK_EQ(trace::user_frame(frames), 0);
  CHECK_EQ(trace::user_frame({}), -1);
  frames = {{"CUDACachingAllocator.cpp", 0, "c10::cuda::CUDACachingAllocator::malloc"}, {"", 0, "at::_ops::mm::call"}};
  CHECK_EQ(trace::user_frame(frames), 1);
  frames.push_back({"", 0, "torch::autograd::generated::MmBackward0::apply"});
  CHECK_EQ(trace::user_frame(frames), 2);
  frames.push_back({"/v/lib/python3.12/site-packages/torch/_tensor.py", 7, "Tensor.backward"});
  CHECK_EQ(trace::user_frame(frames), 3);
  frames.push_back({"a.py", 2, "f"});
  CHECK_EQ(trace::user_frame(frames), 4);
  CHECK_EQ(trace::user_frame({{"libfoo.so", 0, "foo"}}), -1);
}

TEST(line_tables_by_hand) {
  auto line = [](uint16_t version, std::vector<uint8_t> table, uint32_t offset) {
    return trace::line_of_offset(version, table, 100, offset);
  };
  CHECK_EQ(line(0x0309, {0, 1, 4, 255}, 0), 101);
  CHECK_EQ(line(0x0309, {0, 1, 4, 255}, 4), 100);
  CHECK_EQ(line(0x030a, {4, 1, 2, 128, 2, 2}, 3), 101);
  CHECK_EQ(line(0x030a, {4, 1, 2, 128, 2, 2}, 4), trace::kNoLine);
  CHECK_EQ(line(0x030a, {4, 1, 2, 128, 2, 2}, 6), 103);
  CHECK_EQ(line(0x030a, {4, 1}, 4), trace::kNoLine);
  CHECK_EQ(line(0x030c, {0xd8, 0, 0, 0xe8, 6, 0xf8}, 0), 101);  // one line further
  CHECK_EQ(line(0x030c, {0xd8, 0, 0, 0xe8, 7, 0xf8}, 2), 98);   // no columns, -3
  CHECK_EQ(line(0x030c, {0xd8, 0, 0, 0xe8, 7, 0xf8}, 4), trace::kNoLine);
  CHECK_EQ(line(0x030e, {0xe8, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f}, 0) == 0, false);  // a number without end
  for (uint16_t version : {0x0309, 0x030a, 0x030b, 0x0400}) {
    CHECK_EQ(line(version, {}, 0xffffffff), 100);
  }
}

TEST_MAIN
