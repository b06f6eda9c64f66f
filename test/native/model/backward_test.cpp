// Backward allocations and the forward line.
#include <algorithm>
#include <vector>

#include "check.h"
#include "model_fixture.h"

using namespace gmt::test;
using gmt::model::LineSource;

namespace {

constexpr uint64_t kTorchThread = 1;
gmt_autograd forward(uint64_t next_sequence, uint32_t thread = kTorchThread) {
  return {next_sequence, thread, GMT_AUTOGRAD_FORWARD};
}
gmt_autograd backward(uint64_t sequence, uint32_t thread = kTorchThread) {
  return {sequence, thread, GMT_AUTOGRAD_BACKWARD};
}

/// A model with a forward pass of three operations, and the line of the block that is made last.
struct Pass : Feed {
  Pass() {
    for (uint32_t stack = 1; stack <= 9; ++stack) names.set(stack, {{"net.py", stack * 10, "forward"}});
    names.set(50, {{"/x/torch/autograd/__init__.py", 300, "_make_grads"},
                   {"/x/torch/autograd/__init__.py", 340, "backward"},
                   {"train.py", 77, "main"}});
    put({GMT_TENSOR_ALLOC, next(), 8, 0, 0, 1}, forward(11));  // node 10
    put({GMT_TENSOR_ALLOC, next(), 8, 0, 0, 9}, forward(11));  // after it, no node of its own
    put({GMT_TENSOR_ALLOC, next(), 8, 0, 0, 2}, forward(12));  // node 11
    put({GMT_TENSOR_ALLOC, next(), 8, 0, 0, 3}, forward(20));  // node 19
  }
  uint64_t next() { return address_ += 0x1000; }
  void run(uint64_t node, uint64_t thread = kTorchThread, uint16_t engine = 4, uint8_t kind = GMT_TENSOR_ALLOC) {
    put({kind, next(), 8, 0, engine}, backward(node, thread));
  }
  gmt::model::SiteRow last() {
    gmt::model::AllocationQuery newest;
    newest.sort = gmt::model::AllocationSort::Age;
    newest.descending = false;
    const uint32_t site = blocks(newest).rows[0].site;
    for (const auto layer : {gmt::model::Layer::Tensor, gmt::model::Layer::Driver}) {
      gmt::model::SiteQuery query;
      query.layer = layer;
      for (const auto &row : sites(query).rows) {
        if (row.id == site) return row;
      }
    }
    return {};
  }

 private:
  uint64_t address_ = 0;
};

}  // namespace

TEST(a_node_has_the_line_of_the_operation_that_made_it) {
  Pass pass;
  pass.run(10);
  CHECK_EQ(pass.last().line, 10u);
  CHECK(pass.last().source == LineSource::Forward);
  pass.run(19);
  CHECK_EQ(pass.last().line, 30u);
  pass.run(11);
  CHECK_EQ(pass.last().line, 20u);
  CHECK(pass.last().source == LineSource::Forward);
}

TEST(a_node_that_allocated_nothing_forward_has_the_nearest_earlier_line) {
  Pass pass;
  pass.run(17);
  CHECK_EQ(pass.last().line, 20u);
  CHECK(pass.last().source == LineSource::ForwardNear);
  pass.run(5000);
  CHECK_EQ(pass.last().line, 30u);
  CHECK(pass.last().source == LineSource::ForwardNear);
}

TEST(an_accumulation_has_the_line_of_the_node_before_it_on_its_thread) {
  Pass pass;
  pass.run(10, kTorchThread, 4);
  pass.run(11, kTorchThread, 5);
  pass.run(GMT_SEQUENCE_ACCUMULATE, kTorchThread, 4);
  CHECK_EQ(pass.last().line, 10u);
  CHECK(pass.last().source == LineSource::ForwardNear);
}

TEST(without_a_node_before_it_the_line_is_the_backward_call) {
  Pass pass;
  pass.run(GMT_SEQUENCE_ACCUMULATE);
  CHECK(pass.last().source == LineSource::None);
  pass.put({GMT_TENSOR_ALLOC, pass.next(), 8, 0, 0, 50}, forward(20));
  pass.run(GMT_SEQUENCE_ACCUMULATE, kTorchThread, 6);
  CHECK_EQ(pass.last().line, 77u);
  CHECK_EQ(pass.last().file, "train.py");
  CHECK(pass.last().source == LineSource::BackwardCall);
  pass.run(3, kTorchThread, 7);  // older than everything that was recorded
  CHECK(pass.last().source == LineSource::BackwardCall);
}

TEST(two_forward_threads_with_equal_numbers_are_told_apart) {
  Pass pass;
  pass.put({GMT_TENSOR_ALLOC, pass.next(), 8, 0, 1, 7}, forward(11, 2));
  pass.run(10, 2);
  CHECK_EQ(pass.last().line, 70u);
  pass.run(10, 1);
  CHECK_EQ(pass.last().line, 10u);
  pass.run(10, 99, 8);  // a thread that made no forward allocation
  CHECK(pass.last().source == LineSource::None);
}

TEST(without_thread_ids_the_number_alone_decides) {
  Feed one;
  one.names.set(1, {{"net.py", 10, "forward"}});
  one.put({GMT_TENSOR_ALLOC, 0x1000, 8, 0, 0, 1}, forward(11, 0));
  one.put({GMT_TENSOR_ALLOC, 0x2000, 8, 0, 4}, backward(10, 0));
  CHECK_EQ(one.sites().total, 2u);
  Pass pass;
  pass.put({GMT_TENSOR_ALLOC, pass.next(), 8, 0, 1, 7}, forward(11, 2));
  pass.run(10, 0);
  CHECK_EQ(pass.last().line, 70u);  // several: the one that wrote last
}

TEST(a_backward_that_runs_python_has_its_own_line) {
  Pass pass;
  pass.put({GMT_TENSOR_ALLOC, pass.next(), 8, 0, 4, 6}, backward(10));
  CHECK_EQ(pass.last().line, 60u);
  CHECK(pass.last().source == LineSource::Python);
}

TEST(a_driver_call_of_a_node_has_its_line) {
  Pass pass;
  pass.run(10, kTorchThread, 4, GMT_DEVICE_ALLOC);
  CHECK_EQ(pass.last().line, 10u);
  CHECK(pass.last().source == LineSource::Forward);
}

TEST(a_recorded_node_has_the_line_that_made_it_whatever_was_allocated) {
  Pass pass;
  for (uint32_t node = 30; node < 40; ++node) pass.make_node(node, 1 + node % 5);
  // Allocations come after the nodes of their batch: they take nothing away from them.
  pass.put({GMT_TENSOR_ALLOC, pass.next(), 8, 0, 0, 9}, forward(32));
  for (uint32_t node = 30; node < 40; ++node) {
    pass.run(node);
    CHECK_EQ(pass.last().line, 10 * (1 + node % 5));
    CHECK(pass.last().source == LineSource::Forward);
  }
  pass.make_node(50, 0);  // made without Python: the nearest earlier one
  pass.run(50);
  CHECK_EQ(pass.last().line, 50u);
  CHECK(pass.last().source == LineSource::ForwardNear);
}

TEST(a_million_forward_events_are_kept_and_no_more) {
  gmt::model::ForwardTable table;
  const uint64_t count = gmt::model::ForwardTable::kEntries + 1000;
  for (uint64_t sequence = 1; sequence <= count; ++sequence) {
    table.note(0, kTorchThread, sequence, static_cast<uint32_t>(sequence));
  }
  CHECK_EQ(table.find(kTorchThread, count - 1).stack, count);
  CHECK_EQ(table.find(kTorchThread, 1000).stack, 1001u);
  CHECK_EQ(table.find(kTorchThread, 999).stack, 0u);
}

TEST_MAIN

TEST(what_an_operation_with_a_node_made_is_an_activation) {
  Feed feed;
  feed.make_node(10, 1);
  feed.put({GMT_TENSOR_ALLOC, 0x1000, 512, 0, 0, 1});
  feed.make_node(11, 2);
  feed.put({GMT_TENSOR_ALLOC, 0x2000, 1024, 0, 0, 2});
  feed.put({GMT_TENSOR_ALLOC, 0x3000, 2048, 0, 0, 3});  // a line without a node: the next batch
  feed.put({GMT_TENSOR_ALLOC, 0x4000, 4096, 0, 4}, backward(11));
  feed.put({GMT_TENSOR_ALLOC, 0x5000, 4096, 0, 0, 1});  // the first line again, under no_grad()
  const auto category = [&](uint64_t address) {
    for (const auto &row : feed.blocks().rows) {
      if (row.address == address) return row.category;
    }
    return uint8_t{255};
  };
  CHECK_EQ(category(0x1000), GMT_CATEGORY_ACTIVATION);
  CHECK_EQ(category(0x2000), GMT_CATEGORY_ACTIVATION);
  for (const uint64_t other : {0x3000, 0x4000, 0x5000}) CHECK_EQ(category(other), gmt::model::kUnnamed);
  const auto &sums = feed.model.process(0)->activations.by_device();
  CHECK_EQ(sums[0].bytes, 1536);
  feed.put_name({feed.sequence(), 0x1000, 0, GMT_CATEGORY_PARAMETER, "weight"});
  feed.put({GMT_TENSOR_FREE, 0x2000, 1024});
  CHECK_EQ(category(0x1000), GMT_CATEGORY_PARAMETER);
  CHECK_EQ(sums[0].bytes, 0);
  CHECK_EQ(sums[0].count, 0);
}

TEST(nodes_of_one_batch_hold_from_their_place_on) {
  Feed feed;
  const gmt::trace::Node nodes[] = {{{5, 1, 1}, 0, 0}, {{6, 2, 1}, 0, 2}, {{7, 3, 1}, 1, 2}};
  std::vector<gmt::trace::Event> events;
  for (const uint32_t stack : {1u, 2u, 2u, 1u, 3u}) {
    gmt::trace::Event event{};
    event.sequence = events.size() + 1;
    event.address = 0x1000 * event.sequence;
    event.bytes = 512;
    event.stack = stack;
    event.kind = GMT_TENSOR_ALLOC;
    event.thread = stack == 3 ? 1 : 0;
    events.push_back(event);
  }
  feed.model.ingest({0, events, {}, {}, nodes});
  std::vector<uint64_t> activations;
  for (const auto &row : feed.blocks().rows) {
    if (row.category == GMT_CATEGORY_ACTIVATION) activations.push_back(row.address >> 12);
  }
  std::sort(activations.begin(), activations.end());
  CHECK(activations == (std::vector<uint64_t>{1, 3, 5}));
}
