#include "model/filter.h"

#include <algorithm>
#include <cstdlib>

#include "model/stack_summary.h"

namespace gmt::model {
namespace {

/// Factor of a unit in lower case, 0 = no unit.
double unit(std::string_view name) {
  if (name.empty() || name == "b") return 1;
  const size_t power = std::string_view("kmgt").find(name[0]);
  if (power == std::string_view::npos) return 0;
  const std::string_view rest = name.substr(1);
  if (rest != "" && rest != "b" && rest != "ib") return 0;
  return static_cast<double>(1ull << (10 * (power + 1)));
}

}  // namespace

Filter::Filter(std::string_view text) {
  const std::string lower = lower_case(std::string(text));
  for (size_t at = 0; at < lower.size();) {
    const size_t begin = lower.find_first_not_of(" \t\n", at);
    if (begin == std::string::npos) break;
    at = std::min(lower.find_first_of(" \t\n", begin), lower.size());
    const std::string word = lower.substr(begin, at - begin);
    Bound bound;
    if (read_bound(word, bound)) {
      bounds_.push_back(bound);
    } else {
      words_.push_back(word);
    }
  }
}

bool Filter::read_bound(std::string_view word, Bound &bound) {
  if (word.size() < 2 || (word[0] != '<' && word[0] != '>')) return false;
  bound.above = word[0] == '>';
  bound.inclusive = word[1] == '=';
  const std::string number(word.substr(bound.inclusive ? 2 : 1));
  if (number.empty() || number.find_first_not_of("0123456789.") == 0) return false;
  const size_t end = std::min(number.find_first_not_of("0123456789."), number.size());
  const double factor = unit(std::string_view(number).substr(end));
  bound.bytes = std::strtod(number.substr(0, end).c_str(), nullptr) * factor;
  return factor > 0;
}

bool Filter::words_match(std::initializer_list<std::string_view> texts) const {
  return std::all_of(words_.begin(), words_.end(), [&](const std::string &word) {
    return std::any_of(texts.begin(), texts.end(),
                       [&](std::string_view text) { return text.find(word) != std::string_view::npos; });
  });
}

bool Filter::bytes_match(double live_bytes) const {
  return std::all_of(bounds_.begin(), bounds_.end(), [&](const Bound &bound) {
    if (bound.inclusive && live_bytes == bound.bytes) return true;
    return bound.above ? live_bytes > bound.bytes : live_bytes < bound.bytes;
  });
}

}  // namespace gmt::model
