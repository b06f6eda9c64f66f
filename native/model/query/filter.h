#pragma once
// What a user types to narrow a table: words that must all match, bounds on live bytes, bounds on age.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "model/state/name_book.h"
#include "model/state/stack_summary.h"

namespace gmt::model {

/// Words are found by their bit, so that they may lie in several texts that are looked at apart.
using WordMask = uint64_t;

class Filter {
 public:
  static constexpr size_t kWords = 64;  ///< more are passed over

  /// `>10MB`, `>=1.5GiB`, `<4096`: bounds on bytes (units of 1024: B, KB, MB, GB, TB, also KiB ... and K ...).
  /// `age>5steps`, `age<=2`: bounds on age in steps. All else is text.
  explicit Filter(std::string_view text) {
    const std::string lower = lower_case(std::string(text));
    for (size_t at = 0; at < lower.size();) {
      const size_t begin = lower.find_first_not_of(" \t\n", at);
      if (begin == std::string::npos) break;
      at = std::min(lower.find_first_of(" \t\n", begin), lower.size());
      add(lower.substr(begin, at - begin));
    }
  }

  bool has_words() const { return !words_.empty(); }
  bool has_ages() const { return has_ages_; }
  /// Those of the words that lie in one of the texts, which are in lower case.
  WordMask words_in(std::initializer_list<std::string_view> texts) const {
    WordMask found = 0;
    for (size_t i = 0; i < words_.size(); ++i) {
      const bool is_in = std::any_of(texts.begin(), texts.end(), [&](std::string_view text) {
        return text.find(words_[i]) != std::string_view::npos;
      });
      if (is_in) found |= WordMask{1} << i;
    }
    return found;
  }
  /// Those that lie in the name of a category; `unnamed` has to be typed in full.
  WordMask words_in_category(uint8_t category) const {
    if (category != kUnnamed) return words_in({category_name(category)});
    WordMask whole = 0;
    for (size_t i = 0; i < words_.size(); ++i) {
      if (words_[i] == category_name(kUnnamed)) whole |= WordMask{1} << i;
    }
    return whole;
  }
  bool all_words(WordMask found) const { return found == all_; }
  bool bytes_match(double bytes) const { return match(bounds_, bytes); }
  bool age_matches(uint32_t steps) const { return static_cast<bool>((steps >= least_age_) & (steps <= most_age_)); }

 private:
  static constexpr std::string_view kAge = "age";
  /// Factor of a unit of bytes in lower case, 0 = no unit.
  static double unit(std::string_view name) {
    if (name.empty() || name == "b") return 1;
    const size_t power = std::string_view("kmgt").find(name[0]);
    if (power == std::string_view::npos) return 0;
    const std::string_view rest = name.substr(1);
    if (rest != "" && rest != "b" && rest != "ib") return 0;
    return static_cast<double>(1ull << (10 * (power + 1)));
  }
  static double step_unit(std::string_view name) { return name.empty() || name == "step" || name == "steps" ? 1 : 0; }

  struct Bound {
    bool above;
    bool inclusive;
    double value;
  };
  static constexpr uint64_t kNoLimit = 1ull << 32;  ///< above every number of steps
  void add(const std::string &word) {
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
  void add_age(const Bound &bound) {
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
  static bool read_bound(std::string_view word, bool age, Bound &bound) {
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
  static bool match(const std::vector<Bound> &bounds, double value) {
    return std::all_of(bounds.begin(), bounds.end(), [&](const Bound &bound) {
      if (bound.inclusive && value == bound.value) return true;
      return bound.above ? value > bound.value : value < bound.value;
    });
  }

  std::vector<std::string> words_;
  WordMask all_ = 0;
  std::vector<Bound> bounds_;
  bool has_ages_ = false;
  uint64_t least_age_ = 0;
  uint64_t most_age_ = kNoLimit;
};

}  // namespace gmt::model
