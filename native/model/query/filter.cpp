#include "model/query/filter.h"

#include <algorithm>
#include <cstdlib>

#include "model/state/name_book.h"
#include "model/state/stack_summary.h"

namespace gmt::model {
namespace {

constexpr std::string_view kAge = "age";

/// Factor of a unit of bytes in lower case, 0 = no unit.
double unit(std::string_view name) {
  if (name.empty() || name == "b") return 1;
  const size_t power = std::string_view("kmgt").find(name[0]);
  if (power == std::string_view::npos) return 0;
  const std::string_view rest = name.substr(1);
  if (rest != "" && rest != "b" && rest != "ib") return 0;
  return static_cast<double>(1ull << (10 * (power + 1)));
}

double step_unit(std::string_view name) { return name.empty() || name == "step" || name == "steps" ? 1 : 0; }

}  // namespace

Filter::Filter(std::string_view text) {
  const std::string lower = lower_case(std::string(text));
  for (size_t at = 0; at < lower.size();) {
    const size_t begin = lower.find_first_not_of(" \t\n", at);
    if (begin == std::string::npos) break;
    at = std::min(lower.find_first_of(" \t\n", begin), lower.size());
    add(lower.substr(begin, at - begin));
  }
}

void Filter::add(const std::string &word) {
  Bound bound;
  if (word.starts_with(kAge) && read_bound(std::string_view(word).substr(kAge.size()), true, bound)) {
    add_age(bound);
  } else if (read_bound(word, false, bound)) {
    bounds_.push_back(bound);
  } else if (words_.size() < kWords) {
    all_ |= WordMask{1} << words_.size();
    words_.push_back(word);
  }
}

/// Ages are whole numbers: bounds become the least and the most of them.
void Filter::add_age(const Bound &bound) {
  has_ages_ = true;
  const auto below = static_cast<uint64_t>(std::min(bound.value, static_cast<double>(kNoLimit)));
  const bool whole = static_cast<double>(below) == bound.value;
  if (bound.above) {
    least_age_ = std::max(least_age_, whole && bound.inclusive ? below : below + 1);
  } else if (whole && !bound.inclusive && below == 0) {
    least_age_ = kNoLimit;
  } else {
    most_age_ = std::min(most_age_, whole && !bound.inclusive ? below - 1 : below);
  }
}

bool Filter::read_bound(std::string_view word, bool age, Bound &bound) {
  if (word.size() < 2 || (word[0] != '<' && word[0] != '>')) return false;
  bound.above = word[0] == '>';
  bound.inclusive = word[1] == '=';
  const std::string number(word.substr(bound.inclusive ? 2 : 1));
  if (number.empty() || number.find_first_not_of("0123456789.") == 0) return false;
  const size_t end = std::min(number.find_first_not_of("0123456789."), number.size());
  const std::string_view name = std::string_view(number).substr(end);
  const double factor = age ? step_unit(name) : unit(name);
  bound.value = std::strtod(number.substr(0, end).c_str(), nullptr) * factor;
  return factor > 0;
}

WordMask Filter::words_in(std::initializer_list<std::string_view> texts) const {
  WordMask found = 0;
  for (size_t i = 0; i < words_.size(); ++i) {
    const bool is_in = std::any_of(texts.begin(), texts.end(), [&](std::string_view text) {
      return text.find(words_[i]) != std::string_view::npos;
    });
    if (is_in) found |= WordMask{1} << i;
  }
  return found;
}

WordMask Filter::words_in_category(uint8_t category) const {
  if (category != kUnnamed) return words_in({category_name(category)});
  WordMask whole = 0;
  for (size_t i = 0; i < words_.size(); ++i) {
    if (words_[i] == category_name(kUnnamed)) whole |= WordMask{1} << i;
  }
  return whole;
}

bool Filter::match(const std::vector<Bound> &bounds, double value) {
  return std::all_of(bounds.begin(), bounds.end(), [&](const Bound &bound) {
    if (bound.inclusive && value == bound.value) return true;
    return bound.above ? value > bound.value : value < bound.value;
  });
}

}  // namespace gmt::model
