#pragma once
// What a user types to narrow the table: words that must all match, and bounds on live bytes.
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace gmt::model {

class Filter {
 public:
  /// `>10MB`, `>=1.5GiB`, `<4096`: bounds (units of 1024: B, KB, MB, GB, TB, also KiB ... and K ...). All else is text.
  explicit Filter(std::string_view text);

  bool has_words() const { return !words_.empty(); }
  /// Every word lies in one of the texts, which are in lower case.
  bool words_match(std::initializer_list<std::string_view> texts) const;
  bool bytes_match(double live_bytes) const;

 private:
  struct Bound {
    bool above;
    bool inclusive;
    double bytes;
  };
  static bool read_bound(std::string_view word, Bound &bound);

  std::vector<std::string> words_;
  std::vector<Bound> bounds_;
};

}  // namespace gmt::model
