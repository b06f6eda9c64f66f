// Set-up: its loops are not steps, those around it are.
#include <tuple>
#include <utility>

#include "loop_feed.h"

using namespace gmt::test;
using namespace gmt::model;

TEST(rounds_within_a_set_up_are_no_steps_and_those_around_it_are) {
  const std::pair<const char *, const char *> set_ups[] = {
      {"/x/site-packages/torch/nn/modules/module.py", "Module._wrapped_call_impl"},
      {"/x/net.py", "Net.forward"},
      {"/x/net.py", "Net.__init__"},
      {"/x/site-packages/torch/autograd/function.py", "BackwardCFunction.backward"},
      {"C:\\x\\site-packages\\torch\\optim\\optimizer.py", "Optimizer.profile_hook_step.<locals>.wrapper"},
      {"/x/net.py", "load_state_dict"},
      {"/x/site-packages/safetensors/torch.py", "load_file"},
      {"/x/site-packages/torch/nn/modules/module.py", "Module._apply"},
      {"<frozen importlib._bootstrap>", "_find_and_load"}};
  for (const auto &[file, function] : set_ups) {
    CHECK(is_set_up(file, function));
    for (const bool loops_inside : {true, false}) {
      LoopFeed feed;
      for (uint32_t line = 1; line <= 6; ++line) {
        const uint32_t outer = loops_inside ? 7 : line;
        feed.names.set(line, {{"/x/net.py", line, "work"}, {file, line, function}, {"/x/train.py", outer, "main"}});
      }
      if (!loops_inside) feed.names.set(kInput, {{"/x/net.py", kInput, "work"}, {"/x/train.py", kInput, "main"}});
      for (int i = 0; i < 40; ++i) feed.round();
      CHECK_EQ(feed.series().axis.source == StepSource::Periodic, !loops_inside);
    }
  }
  CHECK(!is_set_up("/x/train.py", "train_one_step"));
  CHECK(!is_set_up("/x/forward/train.py", "forward_all"));
}

TEST(a_line_that_calls_a_module_is_no_part_of_its_call) {
  // for request in requests: service.submit(request), whose one line moves the input and calls the model
  LoopFeed feed;
  const char *module = "/x/site-packages/torch/nn/modules/module.py";
  for (uint32_t line = 1; line <= 6; ++line)
    feed.names.set(line, {{"/x/net.py", line, "Net.forward"},
                          {module, 1779, "Module._wrapped_call_impl"},
                          {"/x/serve.py", 20, "submit"},
                          {"/x/serve.py", 36, "main"}});
  feed.names.set(kInput, {{"/x/serve.py", 20, "submit"}, {"/x/serve.py", 36, "main"}});
  for (int i = 0; i < 40; ++i) feed.round();
  CHECK(feed.series().axis.source == StepSource::Periodic);
}

TEST(one_object_a_round_may_be_a_step_but_not_within_a_constructor_of_the_program) {
  const std::tuple<const char *, const char *, bool> makers[] = {
      {"/x/site-packages/numba/cuda/cudadrv/devicearray.py", "DeviceNDArrayBase.__init__", true},
      {"/x/site-packages/torch/optim/sgd.py", "SGD._init_group", false},
      {"/x/net.py", "Net.__init__", false}};
  for (const auto &[file, function, is_step] : makers) {
    LoopFeed feed;
    feed.names.set(kLeak, {{file, 80, function}, {"/x/train.py", 7, "main"}});
    for (uint64_t i = 0; i < 60; ++i) feed.allocate(0x1000 * (i + 1), 512, kLeak);
    CHECK_EQ(feed.series().axis.source == StepSource::Periodic, is_step);
  }
}

TEST(frames_of_cpp_in_a_stack_hide_no_set_up) {
  LoopFeed feed;
  for (uint32_t line = 1; line <= 6; ++line)
    feed.names.set(
        line,
        {{"/x/net.py", line, "Net.forward"}, {"ceval.c", 40 + line, "_PyEval_EvalFrame"}, {"/x/train.py", 7, "main"}});
  for (int i = 0; i < 40; ++i) feed.round();
  CHECK(feed.series().axis.source == StepSource::Time);
}

TEST_MAIN
