#include "model/state/answer_book.h"

#include <algorithm>
#include <cctype>

namespace gmt::model {

Answer *AnswerBook::add(const trace::AnswerPart &part, uint64_t time_ns) {
  if (part.part == 0) {
    if (answers_.size() == kAnswers) answers_.pop_front();
    answers_.push_back({next_index_++, part.request, time_ns, part.parts, 0, {}, {}});
  }
  const auto found = std::find_if(answers_.rbegin(), answers_.rend(), [&](const Answer &known) {
    return known.request == part.request && known.next_part == part.part && known.parts == part.parts;
  });
  if (found == answers_.rend() || found->text.size() + part.text.size() > kTextBytes) return nullptr;
  found->text += part.text;
  found->time_ns = time_ns;
  ++found->next_part;
  return found->complete() ? &*found : nullptr;
}

const Answer *AnswerBook::find(uint32_t index) const {
  const auto found = std::ranges::find(answers_, index, &Answer::index);
  return found == answers_.end() ? nullptr : &*found;
}

namespace {

bool digit(char c, unsigned base) {
  const auto byte = static_cast<unsigned char>(c);
  return base == 16 ? std::isxdigit(byte) != 0 : std::isdigit(byte) != 0;
}

uint64_t value_of(char c) {
  if (c <= '9') return static_cast<uint64_t>(c - '0');
  return static_cast<uint64_t>((c | 0x20) - 'a' + 10);
}

bool word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; }

}  // namespace

std::vector<uint64_t> addresses_in(const std::string &text) {
  constexpr uint64_t kSmallest = 1u << 16;
  std::vector<uint64_t> found;
  for (size_t at = 0; at < text.size();) {
    const bool begins = digit(text[at], 10) && (at == 0 || !word(text[at - 1]));
    if (!begins) {
      ++at;
      continue;
    }
    const bool hex = text[at] == '0' && at + 1 < text.size() && (text[at + 1] | 0x20) == 'x';
    const unsigned base = hex ? 16 : 10;
    size_t end = hex ? at + 2 : at;
    uint64_t value = 0;
    for (; end < text.size() && digit(text[end], base); ++end) value = value * base + value_of(text[end]);
    const bool whole = end == text.size() || !word(text[end]);
    if (whole && end - at <= 20 && value >= kSmallest) found.push_back(value);
    at = end;
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace gmt::model
