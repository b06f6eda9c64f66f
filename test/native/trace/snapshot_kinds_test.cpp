// Memory snapshots of other programs: pinned memory, optimizers, Windows, stacks without Python, failures.
#include <algorithm>

#include "snapshot_parts.h"

using namespace gmt;
using namespace gmt::test;

TEST(pinned_memory_is_of_the_host) {
  const std::string host = Pickle::dict({{"address", Pickle::number(static_cast<int64_t>(kBase + 8192))},
                                         {"total_size", Pickle::number(4096)},
                                         {"blocks", Pickle::list({block(8192, 4096, "active_allocated")})}});
  const std::vector<std::string> entries{entry("segment_alloc", 0, 4096, 1), entry("alloc", 0, 3000, 2),
                                         entry("free_requested", 0, 3000, 3), entry("free_completed", 0, 3000, 4)};
  for (const std::string &traces : {Pickle::list(entries), Pickle::list({Pickle::list(entries)})}) {
    auto got = import(Pickle::dict({{"segments", Pickle::list({})},
                                    {"device_traces", Pickle::list({})},
                                    {"host_segments", Pickle::list({host})},
                                    {"host_traces", traces}}));
    CHECK_EQ(got.kinds(), "20 20 34");  // what was there before it, the block, its end
    REQUIRE(got.events.size() == 3);
    CHECK_EQ(got.events[0].bytes, 4096u);
    CHECK_EQ(got.events[1].bytes, 3000u);
    for (const trace::Event &event : got.events) CHECK_EQ(event.device, GMT_DEVICE_NONE);
  }
}

TEST(steps_of_an_optimizer_are_steps_unless_the_program_names_its_own) {
  const auto annotation = [](std::string_view name, std::string_view stage, int64_t time) {
    return Pickle::dict({{"name", Pickle::text(name)},
                         {"stage", Pickle::text(stage)},
                         {"time_us", Pickle::number(kTime + time)},
                         {"device", Pickle::number(0)}});
  };
  std::vector<std::string> annotations;
  for (int64_t step = 0; step < 3; ++step) {
    for (const char *name : {"Optimizer.zero_grad#AdamW.zero_grad", "Optimizer.step#AdamW.step"}) {
      annotations.push_back(annotation(name, "START", 10 * step + 1));
      annotations.push_back(annotation(name, "END", 10 * step + 2));
    }
  }
  const auto steps = [&] {
    const auto got = import(Pickle::dict({{"segments", Pickle::list({})},
                                          {"device_traces", Pickle::list({Pickle::list({entry("alloc", 0, 512, 0)})})},
                                          {"external_annotations", Pickle::list(annotations)}}));
    const auto count = std::ranges::count(got.events, GMT_STEP, &trace::Event::kind);
    return std::to_string(count) + " " + got.notes();
  };
  CHECK_EQ(steps(), "3 optimizer\n");
  annotations.push_back(annotation("ProfilerStep#1", "START", 0));
  annotations.push_back(annotation("ProfilerStep#1", "END", 40));
  CHECK_EQ(steps(), "1 program\n");
}

TEST(what_was_free_when_memory_ran_out) {
  const std::string failed = Pickle::dict({{"action", Pickle::text("oom")},
                                           {"device_free", Pickle::number(95420416)},
                                           {"size", Pickle::number(kMega)},
                                           {"stream", Pickle::number(0)},
                                           {"time_us", Pickle::number(kTime)},
                                           {"frames", kFrames}});
  const auto got = import(snapshot({}, {Pickle::list({failed})}));
  REQUIRE(got.events.size() == 1);
  const auto &details = got.reading.batches.front().details;
  REQUIRE(details.size() == 1);
  CHECK_EQ(details[0].flags, GMT_DETAIL_FREE);
  CHECK_EQ(details[0].offset, 95420416u);
}

TEST(paths_of_windows_have_their_user_line) {
  const auto user = [](std::initializer_list<const char *> files) {
    std::vector<std::string> frames;
    for (const char *file : files) frames.push_back(frame(file, "f", 7));
    auto got = import(snapshot({}, {Pickle::list({entry("alloc", 0, 512, 0, Pickle::list(frames))})}));
    const trace::Stack *stack = got.stack(0);
    return stack->user_frame < 0 ? "" : stack->frames[static_cast<size_t>(stack->user_frame)].file;
  };
  CHECK_EQ(user({R"(D:\p\.venv\Lib\site-packages\torch\functional.py)", R"(D:\p\model.py)"}), "D:/p/model.py");
  CHECK_EQ(user({R"(C:\Python311\Lib\contextlib.py)", R"(C:\conda\envs\x\lib\enum.py)", R"(src\train.py)"}),
           "src/train.py");
  CHECK_EQ(user({R"(C:\work\lib\net.py)"}), "C:/work/lib/net.py");
  CHECK_EQ(user({R"(/home/a\b.py)"}), R"(/home/a\b.py)");  // there it is a letter
}

TEST(a_backward_pass_without_python_is_named_as_such) {
  const auto user = [](const std::vector<std::string> &frames) {
    auto got = import(snapshot({}, {Pickle::list({entry("alloc", 0, 512, 0, Pickle::list(frames))})}));
    const trace::Stack *stack = got.stack(0);
    if (stack->user_frame < 0) return std::string();
    const trace::Frame &own = stack->frames[static_cast<size_t>(stack->user_frame)];
    return own.file + " " + own.function;
  };
  const std::string allocator = frame("CUDACachingAllocator.cpp", "malloc", 0);
  const std::string add = frame("??", "at::_ops::add::call(at::Tensor)", 0);
  const std::string engine = frame("??", "torch::autograd::Engine::thread_init(int)", 0);
  const std::string thread = frame("thread48.o", "execute_native_thread_routine", 0);
  CHECK_EQ(user({allocator, engine, thread}), "<backward pass> without Python frames");
  CHECK_EQ(user({allocator, add, engine, thread}), "<backward pass> at::_ops::add::call");
  CHECK_EQ(user({allocator, frame("??", "torch::autograd::generated::AddBackward0::apply()", 0), engine, thread}),
           " torch::autograd::generated::AddBackward0::apply");
  CHECK_EQ(user({allocator, thread}), "");
  CHECK_EQ(user({allocator, engine, frame("/a.py", "f", 7)}), "/a.py f");
}

TEST_MAIN
