// Records of the Python walk, also such as no walk would queue, into the tables that a reader makes of a log.
#include "uprobe/python/python_records.h"

#include <random>

#include "check.h"
#include "trace/log/process_tables.h"

using namespace gmt::uprobe;

namespace {

/// What a log would hold.
struct Log {
  gmt::trace::ProcessTables tables;
  uint64_t lost = 0;
  gmt_loss cause = GMT_LOST_CAUSES;  ///< of the newest loss
  bool full = false;
  int written = 0;
  PythonRecords records{[this](gmt_side_record_kind kind, const void *payload, uint32_t bytes) {
                          if (full) return false;
                          written++;
                          return tables.add(kind, {static_cast<const std::byte *>(payload), bytes});
                        },
                        [this](gmt_loss why, uint64_t count) { lost += count, cause = why; }};
};

constexpr uint64_t kKey = 0x1234567890abcdefull, kHash = 77;

gmt_up_python_code code(uint32_t file_bytes, uint32_t name_bytes, uint32_t table_bytes) {
  gmt_up_python_code about = {};
  about.head.type = GMT_UP_PYTHON_CODE;
  about.head.thread = 1;
  about.head.stack = kKey;
  about.first_line = 10;
  about.version = 0x030a0df0;
  about.bytes[GMT_PART_FILE] = file_bytes;
  about.bytes[GMT_PART_NAME] = name_bytes;
  about.bytes[GMT_PART_TABLE] = table_bytes;
  about.width[0] = about.width[1] = 1;
  return about;
}

bool put_part(Log &log, gmt_python_part_of of, uint32_t offset, const std::string &data, uint64_t key = kKey) {
  gmt_up_python_part part = {};
  part.head.type = GMT_UP_PYTHON_PART;
  part.head.thread = 1;
  part.head.stack = key;
  part.part = of;
  part.offset = offset;
  part.bytes = static_cast<uint32_t>(data.size());
  memcpy(part.data, data.data(), data.size());
  return log.records.handle(&part, offsetof(gmt_up_python_part, data) + data.size());
}

bool put_stack(Log &log, uint32_t depth, uint32_t cut = 0) {
  gmt_up_python_stack stack = {};
  stack.head.type = GMT_UP_PYTHON_STACK;
  stack.head.thread = 1;
  stack.head.stack = kHash;
  stack.depth = depth;
  stack.cut = cut;
  for (uint32_t i = 0; i < depth && i < GMT_MAX_FRAMES; i++) stack.frames[i] = {kKey, 4, 0};
  return log.records.handle(&stack, offsetof(gmt_up_python_stack, frames) + depth * sizeof(gmt_python_frame));
}

template <class T>
bool put(Log &log, const T &record) {
  return log.records.handle(&record, sizeof record);
}

const std::string kTable("\x02\x00\x02\x01\x02\x01", 6);  // 3.10: lines 10, 11, 12 at offsets 0, 2, 4

void put_usual(Log &log) {
  CHECK(put(log, code(4, 1, 6)));
  CHECK(put_part(log, GMT_PART_FILE, 0, "a.py"));
  CHECK(put_part(log, GMT_PART_NAME, 0, "f"));
  CHECK(put_part(log, GMT_PART_TABLE, 0, kTable));
}

TEST(a_stack_resolves_to_its_lines) {
  Log log;
  const uint32_t id = log.records.stack_id(kHash);  // an event may come before its stack's record
  put_usual(log);
  CHECK(put_stack(log, 2, 1));
  CHECK(id != 0);
  CHECK_EQ(log.records.stack_id(kHash), id);
  CHECK_EQ(log.records.stack_id(0), 0u);
  const auto *stack = log.tables.resolve(id);
  CHECK(stack && stack->frames.size() == 2 && stack->cut);
  if (!stack || stack->frames.empty()) return;
  CHECK_EQ(stack->frames[0].file, "a.py");
  CHECK_EQ(stack->frames[0].function, "f");
  CHECK_EQ(stack->frames[0].line, 12u);
  CHECK_EQ(log.lost, 0u);
}

TEST(a_table_in_parts_comes_whole) {
  Log log;
  std::string table;
  for (int i = 0; i < 1000; i++) table += std::string("\x02\x01", 2);
  CHECK(put(log, code(1, 1, static_cast<uint32_t>(table.size()))));
  CHECK(put_part(log, GMT_PART_FILE, 0, "x"));
  CHECK(put_part(log, GMT_PART_NAME, 0, "y"));
  CHECK(put_part(log, GMT_PART_TABLE, 0, table.substr(0, 1024)));
  CHECK_EQ(log.written, 0);
  CHECK(put_part(log, GMT_PART_TABLE, 1024, table.substr(1024)));
  CHECK_EQ(log.written, 1);
}

TEST(texts_become_utf8) {
  Log log;
  gmt_up_python_code about = code(4, 8, 0);
  about.width[0] = 2;
  about.width[1] = 4;
  CHECK(put(log, about));
  CHECK(put_part(log, GMT_PART_FILE, 0, std::string("\x09\x59\xff\xdc", 4)));                  // U+5909, a surrogate
  CHECK(put_part(log, GMT_PART_NAME, 0, std::string("\x00\x04\x01\x00\xff\xff\xff\xff", 8)));  // U+10400, no character
  CHECK(put_stack(log, 1));
  const auto *stack = log.tables.resolve(log.records.stack_id(kHash));
  CHECK(stack && stack->frames.size() == 1);
  if (!stack || stack->frames.empty()) return;
  CHECK_EQ(stack->frames[0].file, "\u5909\ufffd");
  CHECK_EQ(stack->frames[0].function, "\U00010400\ufffd");
  CHECK_EQ(stack->frames[0].line, 10u);
}

TEST(what_could_not_be_read_is_said) {
  Log log;
  gmt_up_python_code about = code(0, 0, 0);
  about.text_unread = 3;
  about.table_cut = 1;
  CHECK(put(log, about));
  CHECK(put_stack(log, 1));
  const auto *stack = log.tables.resolve(log.records.stack_id(kHash));
  CHECK(stack && stack->frames.size() == 1 && stack->frames[0].file == "?" && stack->frames[0].line == 10);
}

TEST(a_description_that_comes_again_is_written_once) {
  Log log;
  put_usual(log);
  CHECK(put_stack(log, 1));
  put_usual(log);
  CHECK(put_stack(log, 1));
  CHECK_EQ(log.written, 2);
}

TEST(where_the_log_is_full_the_next_description_is_taken) {
  Log log;
  log.full = true;
  put_usual(log);
  CHECK(put_stack(log, 1));
  CHECK_EQ(log.records.codes() + log.records.stacks(), 0u);
  log.full = false;
  put_usual(log);
  CHECK(put_stack(log, 1));
  CHECK_EQ(log.records.codes() + log.records.stacks(), 2u);
}

TEST(records_that_contradict_themselves_are_refused) {
  Log log;
  gmt_up_python_code about = code(4, 1, 6);
  CHECK(!log.records.handle(&about, sizeof about - 1));
  about.width[1] = 3;
  CHECK(!put(log, about));
  CHECK(!put(log, code(1 << 20, 1, 6)));
  CHECK(!put(log, code(4, 1 << 20, 6)));
  CHECK(!put(log, code(4, 1, 1 << 20)));
  CHECK(!put_part(log, GMT_PART_FILE, 0, "a.py"));  // of no code object
  CHECK(put(log, code(4, 1, 6)));
  CHECK(!put_part(log, GMT_PARTS, 0, "a.py"));
  CHECK(!put_part(log, GMT_PART_FILE, 1, "py"));
  CHECK(!put_part(log, GMT_PART_FILE, 0, "a.py.."));
  CHECK(!put_part(log, GMT_PART_FILE, 0, "a.py", kKey + 1));
  gmt_up_python_stack stack = {};
  stack.head.type = GMT_UP_PYTHON_STACK;
  stack.head.stack = kHash;
  stack.depth = GMT_MAX_FRAMES + 1;
  CHECK(!put(log, stack));
  stack.depth = 2;
  CHECK(!log.records.handle(&stack, offsetof(gmt_up_python_stack, frames) + sizeof(gmt_python_frame)));
  stack.head.type = GMT_UP_PYTHON_LAST;
  CHECK(!put(log, stack));
  CHECK_EQ(log.written, 0);
}

struct Names : AddressNames {
  NativeFrame resolve(uint64_t address) override {
    return {address & ~0xfffull, static_cast<uint32_t>(address & 0xfff), "libx.so",
            address < 0x2000 ? "inner" : "outer"};
  }
};

TEST(native_stacks_are_taken_where_they_are_wanted) {
  Log log;
  gmt_up_native_stack stack = {};
  stack.head.type = GMT_UP_NATIVE_STACK;
  stack.head.stack = kHash;
  stack.depth = 2;
  stack.addresses[0] = 0x1010;
  stack.addresses[1] = 0x2011;
  const size_t bytes = offsetof(gmt_up_native_stack, addresses) + 16;
  CHECK(!log.records.handle(&stack, bytes));
  log.records.resolve_native_by(std::make_unique<Names>());
  CHECK(!log.records.handle(&stack, bytes - 1));
  CHECK(log.records.handle(&stack, bytes));
  const auto *found = log.tables.resolve(log.records.stack_id(kHash));
  REQUIRE(found && found->frames.size() == 2);
  CHECK_EQ(found->frames[0].function, "inner");
  CHECK_EQ(found->frames[1].function, "outer");
  CHECK_EQ(found->frames[1].file, "libx.so");
  CHECK_EQ(found->frames[1].line, 0u);
}

TEST(a_stack_whose_functions_have_no_room_lacks_their_names_alone) {
  Log log;
  gmt_up_python_stack stack = {};
  stack.head.type = GMT_UP_PYTHON_STACK;
  stack.depth = GMT_MAX_FRAMES;
  for (uint64_t key = 1; log.lost == 0 && key < 1u << 20;) {
    stack.head.stack = key;
    for (uint32_t i = 0; i < GMT_MAX_FRAMES; i++) stack.frames[i] = {key++, 0, 0};
    CHECK(put(log, stack));
  }
  CHECK(log.lost > 0);
  CHECK_EQ(static_cast<int>(log.cause), static_cast<int>(GMT_LOST_NAME));
  CHECK(log.tables.resolve(log.records.stack_id(stack.head.stack)) != nullptr);
}

TEST(any_bytes_are_safe) {
  Log log;
  log.records.resolve_native_by(std::make_unique<Names>());
  std::mt19937 random(7);
  std::vector<unsigned char> bytes(sizeof(gmt_up_python_stack));
  for (int round = 0; round < 20000; round++) {
    for (unsigned char &byte : bytes) byte = static_cast<unsigned char>(random() % 4 ? random() % 3 : random());
    bytes[0] = static_cast<unsigned char>(GMT_UP_PYTHON_CODE + random() % 4);
    log.records.handle(bytes.data(), random() % (bytes.size() + 1));
  }
  CHECK(log.records.stacks() <= 20000);
}

}  // namespace

TEST_MAIN
