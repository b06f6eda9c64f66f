// The reader of pickles: plain data in, nothing run, one sentence for all else.
#include <cstdlib>

#include "check.h"
#include "pickle_writer.h"
#include "trace/snapshot/pickle_reader.h"

using namespace gmt;
using namespace gmt::test;
using namespace std::string_literals;
using trace::Value;

namespace {

std::string error_of(std::string_view bytes) {
  const auto read = read_bytes(bytes);
  return read ? "" : read.error();
}

const std::string kRefused = "; a memory snapshot has only plain data.";

}  // namespace

TEST(plain_values) {
  const auto read = read_bytes(
      "\x80\x04(NK\x07M\x00\x01J\xff\xff\xff\xff\x88\x89\x8a\x09\0\0\0\0\0\0\0\x80\0"
      "\x8a\x08\0\0\0\0\0\0\0\x80G?\xf0\0\0\0\0\0\0\x8c\x02hiC\x01z)\x85\x8f(K\x01\x90t."s);
  REQUIRE(read);
  const auto &tree = read.value();
  const auto items = tree.items(tree.root());
  REQUIRE(items.size() == 13);
  CHECK(items[0].is(Value::kNone));
  CHECK_EQ(*tree.integer(items[1]), 7);
  CHECK_EQ(*tree.integer(items[2]), 256);
  CHECK_EQ(*tree.integer(items[3]), -1);
  CHECK_EQ(*tree.integer(items[4]), 1);
  CHECK_EQ(*tree.integer(items[5]), 0);
  CHECK(items[6].is(Value::kBigInt));
  CHECK(!tree.integer(items[6]));
  CHECK_EQ(*tree.integer(items[7]), INT64_MIN);
  CHECK(items[8].is(Value::kFloat));
  CHECK_EQ(tree.text(items[9]), "hi");
  CHECK(items[10].is(Value::kBytes));
  CHECK(items[11].is(Value::kTuple));
  CHECK_EQ(tree.items(items[12]).size(), 1u);
}

TEST(what_is_shared_stays_shared) {
  const auto read = read_bytes(Pickle::file(
      Pickle::list({Pickle::keep(0, Pickle::list({Pickle::number(5)})), Pickle::again(0), Pickle::again(0)})));
  REQUIRE(read);
  const auto items = read.value().items(read.value().root());
  REQUIRE(items.size() == 3);
  CHECK_EQ(items[0].payload(), items[1].payload());
  CHECK_EQ(items[0].payload(), items[2].payload());
}

TEST(a_list_that_grows_in_batches) {
  // The inner list begins between two batches of the outer one: the outer one has to move.
  const std::string bytes =
      "\x80\x02](K\x01K\x02"
      "e(](K\x09"
      "eK\x03"
      "e(K\x04K\x05"
      "e.";
  const auto read = read_bytes(bytes);
  REQUIRE(read);
  const auto &tree = read.value();
  const auto items = tree.items(tree.root());
  REQUIRE(items.size() == 6);
  CHECK_EQ(*tree.integer(items[0]), 1);
  CHECK_EQ(*tree.integer(tree.items(items[2])[0]), 9);
  CHECK_EQ(*tree.integer(items[3]), 3);
  CHECK_EQ(*tree.integer(items[5]), 5);
}

TEST(nothing_is_called) {
  const std::string begin = "x.pickle was not opened: at byte ";
  CHECK_EQ(error_of("\x80\x02"
                    "cos\nsystem\n(X\x02\0\0\0idtR."s),
           begin + "2 it would call os.system" + kRefused);
  CHECK_EQ(error_of("\x80\x04\x8c\x05posix\x8c\x06system\x93."), begin + "17 it would call posix.system" + kRefused);
  CHECK_EQ(error_of("\x80\x02(ios\nsystem\n."), begin + "3 it would call os.system" + kRefused);
  CHECK_EQ(error_of("\x80\x02))R."), begin + "4 it would call a function" + kRefused);
  CHECK_EQ(error_of("\x80\x02))\x81."), begin + "4 it would call a class" + kRefused);
  CHECK_EQ(error_of("\x80\x02}}b."), begin + "4 it would call __setstate__ of an object" + kRefused);
  CHECK_EQ(error_of("\x80\x02\x82\x05."), begin + "2 it would call a registered extension" + kRefused);
  CHECK_EQ(error_of("\x80\x02NQ."), begin + "3 it would call a loader for an object outside of the file" + kRefused);
  CHECK_EQ(error_of("\x80\x05\x97."), begin + "2 it would call a loader for data outside of the file" + kRefused);
  CHECK_EQ(error_of("\x80\x04\x93."), begin + "2 it would call something" + kRefused);
}

TEST(a_name_in_a_message_is_of_one_line) {
  CHECK_EQ(error_of("\x80\x04\x8c\x04o\n\x1b"
                    "s\x8c\x01x\x93."),
           "x.pickle was not opened: at byte 11 it would call o??s.x" + kRefused);
  const std::string name(100'000, 'a');
  CHECK(error_of("\x80\x02"
                 "c" +
                 name + "\nb\n.")
            .size() < 200);
}

TEST(no_pickle) {
  const std::string begins = "x.pickle was not opened: it is not a pickle of protocol 2–5.";
  CHECK_EQ(error_of(""), begins);
  CHECK_EQ(error_of("hello"), begins);
  CHECK_EQ(error_of("(lp0\n."), begins);
  CHECK_EQ(error_of("\x80\x09N."),
           "x.pickle was not opened: at byte 0 it names pickle protocol 9; 2 to 5 can be read.");
  CHECK_EQ(error_of("\x80\x04\xff"),
           "x.pickle was not opened: at byte 2 is 255, no instruction of pickle protocols 2 to 5.");
}

TEST(damaged) {
  const std::string begin = "x.pickle was not opened: at byte ";
  CHECK_EQ(error_of("\x80\x02t."), begin + "2 it ends a list that was not begun.");
  CHECK_EQ(error_of("\x80\x02\x85."), begin + "2 it uses more values than it has.");
  CHECK_EQ(error_of("\x80\x02N(\x85."), begin + "4 it uses more values than it has.");
  CHECK_EQ(error_of("\x80\x02(Ne."), begin + "4 it adds items to nothing.");
  CHECK_EQ(error_of("\x80\x02N(Ne."), begin + "5 it adds items to an object that cannot hold any.");
  CHECK_EQ(error_of("\x80\x02}(Nu."), begin + "5 a key has no value.");
  CHECK_EQ(error_of("\x80\x02h\x05."), begin + "2 it refers to item 5, which is not there.");
  CHECK_EQ(error_of("\x80\x02Nr\xff\xff\xff\x7f."), begin + "3 it remembers item 2147483647 of far fewer.");
  CHECK_EQ(error_of("\x80\x02NN."), begin + "4 it ends with values that nothing uses.");
  CHECK_EQ(error_of("\x80\x02."), begin + "2 it ends with values that nothing uses.");
}

TEST(cut_short_anywhere) {
  const std::string whole = Pickle::file(
      Pickle::dict({{"a", Pickle::keep(0, Pickle::list({Pickle::number(1ll << 62), Pickle::text("text")}))},
                    {"b", Pickle::again(0)}}));
  REQUIRE(read_bytes(whole));
  for (size_t bytes = 2; bytes < whole.size(); ++bytes) {
    CHECK_EQ(error_of(whole.substr(0, bytes)),
             "x.pickle was not opened: it ends at byte " + std::to_string(bytes) + ", in the middle of its data.");
  }
}

TEST(lengths_beyond_the_file) {
  for (const char *code : {"X", "T", "B", "\x8b"}) {
    CHECK_EQ(error_of("\x80\x04"s + code +
                      "\xff\xff\xff\xff"
                      "abc"),
             "x.pickle was not opened: it ends at byte 10, in the middle of its data.");
  }
  for (const char *code : {"\x8d", "\x8e", "\x96", "\x95"}) {
    CHECK_EQ(error_of("\x80\x05"s + code +
                      "\xff\xff\xff\xff\xff\xff\xff\xff"
                      "abc"),
             "x.pickle was not opened: it ends at byte 14, in the middle of its data.");
  }
}

TEST(deep_nesting_costs_no_stack) {
  const size_t depth = 1'000'000;
  std::string bytes = "\x80\x02";
  for (size_t i = 0; i < depth; ++i) bytes += "](";
  for (size_t i = 0; i < depth; ++i) bytes += "e";
  CHECK(read_bytes(bytes + "."));
  CHECK_EQ(error_of("\x80\x02" + std::string(depth, '(')),
           "x.pickle was not opened: it ends at byte 1000002, in the middle of its data.");
}

TEST(a_billion_laughs_stay_small) {
  std::string value = Pickle::keep(0, Pickle::list({Pickle::text("ha"), Pickle::text("ha")}));
  std::string bytes = "\x80\x02(" + value;
  for (uint32_t i = 1; i < 60; ++i) {
    bytes += Pickle::keep(i, Pickle::list({Pickle::again(i - 1), Pickle::again(i - 1)}));
  }
  const auto read = read_bytes(bytes + "l.");
  REQUIRE(read);
  CHECK_EQ(read.value().container_count(), 61u);
}

TEST(a_list_that_holds_itself) {
  CHECK(
      read_bytes("\x80\x02]q\x01h\x01"
                 "a."));
}

TEST(memory_stays_in_proportion) {
  // An empty list a byte: 24 bytes of memory each.
  const size_t count = 20'000'000;
  CHECK_EQ(error_of("\x80\x02" + std::string(count, ']')).find("x.pickle was not opened: at byte "), 0u);
  CHECK(error_of("\x80\x02" + std::string(count, ']')).ends_with(" it would need far more memory than its size."));
}

TEST(files) {
  const TemporaryFolder folder;
  CHECK_EQ(trace::read_pickle_file(folder / "none").error(),
           (folder / "none") + " was not opened: No such file or directory.");
  CHECK_EQ(trace::read_pickle_file(folder.path()).error(),
           folder.path() + " was not opened: it is not a regular file.");
}

TEST_MAIN
