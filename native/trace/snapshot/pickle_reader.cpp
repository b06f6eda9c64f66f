#include "trace/snapshot/pickle_reader.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace gmt::trace {
namespace {

constexpr uint64_t kMemoryTimes = 16, kMemoryBytes = 64ull << 20;
constexpr size_t kMemoryInterval = 1u << 16;  // instructions between two looks at the memory
constexpr size_t kNameBytes = 80;

// What stands in a message is short and of one line, whatever the file says.
std::string printable(std::string_view text) {
  std::string out(text.substr(0, kNameBytes));
  for (char &c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) c = '?';
  }
  return text.size() > kNameBytes ? out + "..." : out;
}

}  // namespace

// The stack machine of a pickle. An instruction that cannot be followed sets the error and ends the run.
class PickleReader {
 public:
  PickleReader(std::unique_ptr<std::byte[]> bytes, size_t count, const std::string &where)
      : data_(bytes.get()), size_(count), where_(where) {
    tree_.file_ = std::move(bytes);
    tree_.file_bytes_ = count;
    tree_.pool_.reserve(count / 2);
  }

  Result<PickleTree> run() {
    if (size_ < 2 || data_[0] != std::byte{0x80}) fail("it is not a pickle of protocol 2–5");
    const auto table = steps();
    for (size_t count = 1; !stopped_; ++count) {
      instruction_ = at_;
      const auto code = number<uint8_t>();
      if (!stopped_) table[code](*this);
      if (count % kMemoryInterval == 0) check_memory();
    }
    if (!error_ && (stack_.size() != 1 || !marks_.empty())) fail_at("it ends with values that nothing uses");
    if (error_) return *error_;
    tree_.root_ = stack_.back();
    return std::move(tree_);
  }

 private:
  using Step = void (*)(PickleReader &);
  struct Instruction {
    uint8_t code;
    Step step;
  };
  static const Instruction kInstructions[];
  static std::array<Step, 256> steps();

  void fail(const std::string &why) {
    if (!error_) error_ = Error{where_ + " was not opened: " + why + "."};
    stopped_ = true;
  }
  void fail_at(const std::string &why) { fail("at byte " + std::to_string(instruction_) + " " + why); }
  void call(const std::string &what) { fail_at("it would call " + what + "; a memory snapshot has only plain data"); }

  const std::byte *read_bytes(uint64_t count) {
    if (count > size_ - at_) {
      fail("it ends at byte " + std::to_string(size_) + ", in the middle of its data");
      return nullptr;
    }
    const std::byte *bytes = data_ + at_;
    at_ += count;
    return bytes;
  }
  // Little-endian; 0 behind the end.
  template <class T>
  T number() {
    T value = 0;
    if (const std::byte *bytes = read_bytes(sizeof value)) std::memcpy(&value, bytes, sizeof value);
    return value;
  }
  // Up to a newline, which is passed over.
  std::string line() {
    const auto *begin = data_ + at_;
    const auto *end = std::find(begin, data_ + size_, std::byte{'\n'});
    at_ = static_cast<size_t>(end - data_) + (end < data_ + size_);
    return printable({reinterpret_cast<const char *>(begin), static_cast<size_t>(end - begin)});
  }

  void push(Value value) { stack_.push_back(value); }
  // As many values behind the last mark.
  bool has(size_t count) {
    const size_t floor = marks_.empty() ? 0 : marks_.back();
    if (stack_.size() >= floor + count) return true;
    fail_at("it uses more values than it has");
    return false;
  }
  bool pop_mark(size_t &first) {
    if (marks_.empty()) {
      fail_at("it ends a list that was not begun");
      return false;
    }
    first = marks_.back();
    marks_.pop_back();
    return true;
  }
  void push_integer(int64_t number) {
    if (Value::is_small(number)) return push({Value::kInt, static_cast<uint64_t>(number)});
    push({Value::kWideInt, tree_.wide_.size()});
    tree_.wide_.push_back(static_cast<uint64_t>(number));
  }
  void push_long(uint64_t bytes) {
    const std::byte *digits = read_bytes(bytes);
    if (!digits) return;
    if (bytes > sizeof(int64_t)) return push({Value::kBigInt, 0});
    int64_t number = bytes > 0 && (digits[bytes - 1] & std::byte{0x80}) != std::byte{0} ? -1 : 0;
    std::memcpy(&number, digits, bytes);
    push_integer(number);
  }
  void push_text(Value::Kind kind, uint64_t bytes) {
    const std::byte *text = read_bytes(bytes);
    if (!text) return;
    push({kind, tree_.texts_.size()});
    tree_.texts_.push_back({static_cast<uint64_t>(text - data_), static_cast<uint32_t>(bytes)});
  }
  /// Of the values from `first` on, which leave the stack.
  void push_container(Value::Kind kind, size_t first) {
    const auto count = static_cast<uint32_t>(stack_.size() - first);
    const Value made{kind, tree_.containers_.size()};
    tree_.containers_.push_back({tree_.pool_.size(), count, count});
    tree_.pool_.insert(tree_.pool_.end(), stack_.begin() + static_cast<std::ptrdiff_t>(first), stack_.end());
    stack_.resize(first);
    push(made);
  }
  /// Adds the values from `first` on, which leave the stack, to a container that is there.
  void add_items(Value target, size_t first, bool pairs) {
    const size_t count = stack_.size() - first;
    if (!target.is(pairs ? Value::kDict : Value::kList))
      return fail_at("it adds items to an object that cannot hold any");
    if (pairs && count % 2 != 0) return fail_at("a key has no value");
    PickleTree::Container &container = tree_.containers_[target.payload()];
    std::vector<Value> &pool = tree_.pool_;
    const uint64_t needed = uint64_t{container.count} + count;
    if (needed > container.capacity) {
      if (container.begin + container.capacity != pool.size()) {
        // Others lie behind it: it moves to the end, with room for as much again if it was not empty.
        const uint64_t begin = pool.size();
        container.capacity = static_cast<uint32_t>(container.count == 0 ? needed : 2 * needed);
        pool.resize(begin + container.capacity);
        std::copy_n(pool.begin() + static_cast<std::ptrdiff_t>(container.begin), container.count,
                    pool.begin() + static_cast<std::ptrdiff_t>(begin));
        container.begin = begin;
      } else {
        container.capacity = static_cast<uint32_t>(needed);
        pool.resize(container.begin + needed);
      }
    }
    std::copy(stack_.begin() + static_cast<std::ptrdiff_t>(first), stack_.end(),
              pool.begin() + static_cast<std::ptrdiff_t>(container.begin + container.count));
    container.count = static_cast<uint32_t>(needed);
    stack_.resize(first);
  }
  void add_top(size_t count, bool pairs) {
    if (has(count + 1)) add_items(stack_[stack_.size() - count - 1], stack_.size() - count, pairs);
  }
  void add_marked(bool pairs) {
    size_t first;
    if (!pop_mark(first)) return;
    const size_t floor = marks_.empty() ? 0 : marks_.back();
    if (first <= floor) return fail_at("it adds items to nothing");
    add_items(stack_[first - 1], first, pairs);
  }
  void make_marked(Value::Kind kind) {
    size_t first;
    if (!pop_mark(first)) return;
    if (kind == Value::kDict && (stack_.size() - first) % 2 != 0) return fail_at("a key has no value");
    push_container(kind, first);
  }
  void make_tuple(size_t count) {
    if (has(count)) push_container(Value::kTuple, stack_.size() - count);
  }
  void put(uint64_t place) {
    if (!has(1)) return;
    // A pickler numbers what it remembers without gaps: never more than there are bytes.
    if (place > size_) return fail_at("it remembers item " + std::to_string(place) + " of far fewer");
    if (place >= memo_.size()) memo_.resize(place + 1);
    memo_[place] = stack_.back();
  }
  void get(uint64_t place) {
    if (place >= memo_.size() || memo_[place].is(Value::kMissing)) {
      return fail_at("it refers to item " + std::to_string(place) + ", which is not there");
    }
    push(memo_[place]);
  }
  void call_by_lines() {
    const std::string module = line(), name = line();
    call(module + "." + name);
  }
  void call_by_texts() {
    const size_t count = stack_.size();
    if (count < 2) return call("something");
    call(printable(tree_.text(stack_[count - 2])) + "." + printable(tree_.text(stack_[count - 1])));
  }
  void check_protocol() {
    const unsigned protocol = number<uint8_t>();
    if (!stopped_ && (protocol < 2 || protocol > 5)) {
      fail_at("it names pickle protocol " + std::to_string(protocol) + "; 2 to 5 can be read");
    }
  }
  void check_frame() {
    const uint64_t bytes = number<uint64_t>();
    if (!stopped_ && bytes > size_ - at_) read_bytes(bytes);
  }
  void check_memory() {
    const uint64_t values = tree_.pool_.size() + stack_.size() + memo_.size() + marks_.size() + tree_.wide_.size();
    const uint64_t tables = tree_.containers_.size() + tree_.texts_.size();
    if (values * sizeof(Value) + tables * sizeof(PickleTree::Container) <= kMemoryBytes + kMemoryTimes * size_) return;
    fail_at("it would need far more memory than its size");
  }

  PickleTree tree_;
  const std::byte *data_;
  size_t size_;
  size_t at_ = 0;
  size_t instruction_ = 0;  ///< where the running one begins
  bool stopped_ = false;
  std::vector<Value> stack_, memo_;
  std::vector<size_t> marks_;
  const std::string &where_;
  Status error_;
};

using R = PickleReader;

const R::Instruction R::kInstructions[] = {
    {0x80, [](R &r) { r.check_protocol(); }},                                // PROTO
    {0x95, [](R &r) { r.check_frame(); }},                                   // FRAME
    {'.', [](R &r) { r.stopped_ = true; }},                                  // STOP
    {'(', [](R &r) { r.marks_.push_back(r.stack_.size()); }},                // MARK
    {'N', [](R &r) { r.push(Value(Value::kNone, 0)); }},                     // NONE
    {0x88, [](R &r) { r.push(Value(Value::kBool, 1)); }},                    // NEWTRUE
    {0x89, [](R &r) { r.push(Value(Value::kBool, 0)); }},                    // NEWFALSE
    {'K', [](R &r) { r.push_integer(r.number<uint8_t>()); }},                // BININT1
    {'M', [](R &r) { r.push_integer(r.number<uint16_t>()); }},               // BININT2
    {'J', [](R &r) { r.push_integer(r.number<int32_t>()); }},                // BININT
    {0x8a, [](R &r) { r.push_long(r.number<uint8_t>()); }},                  // LONG1
    {0x8b, [](R &r) { r.push_long(r.number<uint32_t>()); }},                 // LONG4
    {'U', [](R &r) { r.push_text(Value::kText, r.number<uint8_t>()); }},     // SHORT_BINSTRING
    {'T', [](R &r) { r.push_text(Value::kText, r.number<uint32_t>()); }},    // BINSTRING
    {0x8c, [](R &r) { r.push_text(Value::kText, r.number<uint8_t>()); }},    // SHORT_BINUNICODE
    {'X', [](R &r) { r.push_text(Value::kText, r.number<uint32_t>()); }},    // BINUNICODE
    {0x8d, [](R &r) { r.push_text(Value::kText, r.number<uint64_t>()); }},   // BINUNICODE8
    {'C', [](R &r) { r.push_text(Value::kBytes, r.number<uint8_t>()); }},    // SHORT_BINBYTES
    {'B', [](R &r) { r.push_text(Value::kBytes, r.number<uint32_t>()); }},   // BINBYTES
    {0x8e, [](R &r) { r.push_text(Value::kBytes, r.number<uint64_t>()); }},  // BINBYTES8
    {0x96, [](R &r) { r.push_text(Value::kBytes, r.number<uint64_t>()); }},  // BYTEARRAY8
    {']', [](R &r) { r.push_container(Value::kList, r.stack_.size()); }},    // EMPTY_LIST
    {0x8f, [](R &r) { r.push_container(Value::kList, r.stack_.size()); }},   // EMPTY_SET
    {'}', [](R &r) { r.push_container(Value::kDict, r.stack_.size()); }},    // EMPTY_DICT
    {')', [](R &r) { r.push_container(Value::kTuple, r.stack_.size()); }},   // EMPTY_TUPLE
    {0x85, [](R &r) { r.make_tuple(1); }},                                   // TUPLE1
    {0x86, [](R &r) { r.make_tuple(2); }},                                   // TUPLE2
    {0x87, [](R &r) { r.make_tuple(3); }},                                   // TUPLE3
    {'t', [](R &r) { r.make_marked(Value::kTuple); }},                       // TUPLE
    {0x91, [](R &r) { r.make_marked(Value::kTuple); }},                      // FROZENSET
    {'l', [](R &r) { r.make_marked(Value::kList); }},                        // LIST
    {'d', [](R &r) { r.make_marked(Value::kDict); }},                        // DICT
    {'e', [](R &r) { r.add_marked(false); }},                                // APPENDS
    {0x90, [](R &r) { r.add_marked(false); }},                               // ADDITEMS
    {'u', [](R &r) { r.add_marked(true); }},                                 // SETITEMS
    {'h', [](R &r) { r.get(r.number<uint8_t>()); }},                         // BINGET
    {'j', [](R &r) { r.get(r.number<uint32_t>()); }},                        // LONG_BINGET
    {'q', [](R &r) { r.put(r.number<uint8_t>()); }},                         // BINPUT
    {'r', [](R &r) { r.put(r.number<uint32_t>()); }},                        // LONG_BINPUT
    {0x94, [](R &r) { r.put(r.memo_.size()); }},                             // MEMOIZE
    {'G',
     [](R &r) {  // BINFLOAT, big-endian
       r.push({Value::kFloat, r.tree_.wide_.size()});
       r.tree_.wide_.push_back(__builtin_bswap64(r.number<uint64_t>()));
     }},
    {'a', [](R &r) { r.add_top(1, false); }},  // APPEND
    {'s', [](R &r) { r.add_top(2, true); }},   // SETITEM
    {'2',
     [](R &r) {  // DUP
       if (r.has(1)) r.push(r.stack_.back());
     }},
    {'0',
     [](R &r) {  // POP: a mark, where one is on top
       if (!r.marks_.empty() && r.marks_.back() == r.stack_.size()) return r.marks_.pop_back();
       if (r.has(1)) r.stack_.pop_back();
     }},
    {'1',
     [](R &r) {  // POP_MARK
       size_t first;
       if (r.pop_mark(first)) r.stack_.resize(first);
     }},
    // What would run code, or needs what is not in the file.
    {'c', [](R &r) { r.call_by_lines(); }},                                     // GLOBAL
    {'i', [](R &r) { r.call_by_lines(); }},                                     // INST
    {0x93, [](R &r) { r.call_by_texts(); }},                                    // STACK_GLOBAL
    {'R', [](R &r) { r.call("a function"); }},                                  // REDUCE
    {'b', [](R &r) { r.call("__setstate__ of an object"); }},                   // BUILD
    {'o', [](R &r) { r.call("a class"); }},                                     // OBJ
    {0x81, [](R &r) { r.call("a class"); }},                                    // NEWOBJ
    {0x92, [](R &r) { r.call("a class"); }},                                    // NEWOBJ_EX
    {0x82, [](R &r) { r.call("a registered extension"); }},                     // EXT1
    {0x83, [](R &r) { r.call("a registered extension"); }},                     // EXT2
    {0x84, [](R &r) { r.call("a registered extension"); }},                     // EXT4
    {'P', [](R &r) { r.call("a loader for an object outside of the file"); }},  // PERSID
    {'Q', [](R &r) { r.call("a loader for an object outside of the file"); }},  // BINPERSID
    {0x97, [](R &r) { r.call("a loader for data outside of the file"); }},      // NEXT_BUFFER
    {0x98, [](R &r) { r.call("a loader for data outside of the file"); }},      // READONLY_BUFFER
};

std::array<R::Step, 256> R::steps() {
  std::array<Step, 256> all;
  all.fill([](R &r) {
    r.fail_at("is " + std::to_string(static_cast<int>(r.data_[r.instruction_])) +
              ", no instruction of pickle protocols 2 to 5");
  });
  for (const Instruction &instruction : kInstructions) all[instruction.code] = instruction.step;
  return all;
}

Result<PickleTree> read_pickle(std::unique_ptr<std::byte[]> bytes, size_t count, const std::string &where) {
  return PickleReader(std::move(bytes), count, where).run();
}

}  // namespace gmt::trace
