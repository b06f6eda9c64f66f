#pragma once
// What a user types to narrow a table: words that must all match, bounds on live bytes, bounds on age.
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace gmt::model {

/// Words are found by their bit, so that they may lie in several texts that are looked at apart.
using WordMask = uint64_t;

class Filter {
 public:
  static constexpr size_t kWords = 64;  ///< more are passed over

  /// `>10MB`, `>=1.5GiB`, `<4096`: bounds on bytes (units of 1024: B, KB, MB, GB, TB, also KiB ... and K ...).
  /// `age>5steps`, `age<=2`: bounds on age in steps. All else is text.
  explicit Filter(std::string_view text);

  bool has_words() const { return !words_.empty(); }
  bool has_ages() const { return has_ages_; }
  /// Those of the words that lie in one of the texts, which are in lower case.
  WordMask words_in(std::initializer_list<std::string_view> texts) const;
  /// Those that lie in the name of a category; `unnamed` has to be typed in full.
  WordMask words_in_category(uint8_t category) const;
  bool all_words(WordMask found) const { return found == all_; }
  bool bytes_match(double bytes) const { return match(bounds_, bytes); }
  bool age_matches(uint32_t steps) const { return static_cast<bool>((steps >= least_age_) & (steps <= most_age_)); }

 private:
  struct Bound {
    bool above;
    bool inclusive;
    double value;
  };
  static constexpr uint64_t kNoLimit = 1ull << 32;  ///< above every number of steps
  void add(const std::string &word);
  void add_age(const Bound &bound);
  static bool read_bound(std::string_view word, bool age, Bound &bound);
  static bool match(const std::vector<Bound> &bounds, double value);

  std::vector<std::string> words_;
  WordMask all_ = 0;
  std::vector<Bound> bounds_;
  bool has_ages_ = false;
  uint64_t least_age_ = 0;
  uint64_t most_age_ = kNoLimit;
};

}  // namespace gmt::model
