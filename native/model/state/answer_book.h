#pragma once
// What the agent of one process answered, with the blocks that the answers speak of.
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "model/state/types.h"
#include "trace/batch.h"

namespace gmt::model {

struct BlockFacts {
  uint64_t address = 0;
  bool known = false;
  bool alive = false;
  uint64_t bytes = 0;
  uint32_t cell = 0;
  uint8_t device = 0;
  uint32_t step = 0;
  uint64_t time_ns = 0;
  void checkpoint(Archive &a) {
    a(address, known, alive, bytes, device, step, time_ns);
    if (known) row(a, kCellRows, cell);
  }
};

struct Answer {
  uint32_t index;  ///< rises
  uint32_t request;
  uint64_t time_ns;
  uint16_t parts;
  uint16_t next_part;  ///< that is waited for
  std::string text;
  std::vector<BlockFacts> blocks;
  bool complete() const { return next_part == parts; }
  void checkpoint(Archive &a) { a(index, request, time_ns, parts, next_part, text, blocks); }
};

class AnswerBook {
 public:
  void checkpoint(Archive &a) { a(answers_, next_index_); }
  static constexpr size_t kAnswers = 64;
  static constexpr size_t kTextBytes = 32u << 20;  ///< of one answer

  /// Adds a part; returns the answer when this was its last one, else nullptr. A part out of order begins or ends nothing.
  Answer *add(const trace::AnswerPart &part, uint64_t time_ns);
  const std::deque<Answer> &answers() const { return answers_; }
  const Answer *find(uint32_t index) const;

 private:
  std::deque<Answer> answers_;
  uint32_t next_index_ = 0;
};

/// Every number in `text` that can be an address: `0x...` and decimal ones from 2^16 up, each once, in rising order.
std::vector<uint64_t> addresses_in(const std::string &text);

}  // namespace gmt::model
