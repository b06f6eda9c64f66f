#pragma once
// What lives, summed anew from the blocks: for questions that the running sums of the cells cannot answer.
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/query/filter.h"
#include "model/state/state.h"

namespace gmt::model {

struct LiveTally {
  /// False: all blocks count and `cells` and `sites` are empty; the running sums hold.
  bool counted = false;
  /// Sums a cell or site: one, or one a category.
  size_t slots = 1;
  std::vector<CategorySum> cells;   ///< by cell * slots + category
  std::vector<int64_t> site_bytes;  ///< by site * slots + category
  /// By site: words of the filter that lie in the name or category of one of its live blocks. Empty: none do.
  std::vector<WordMask> site_words;

  /// Grouped by module: of a cell, what lives and has the name of a module's part, by the module's path. By pool: what is in a known one.
  std::unordered_map<uint32_t, std::map<std::string, CategorySum>> named;
  std::vector<std::string> empty_pools;  ///< and others: all known ones, if empty ones are requested

  const CategorySum &of_cell(uint32_t cell, size_t slot) const { return cells[cell * slots + slot]; }
  int64_t of_site(uint32_t site, size_t slot) const { return site_bytes[site * slots + slot]; }
};

/// What lives of the query's layer, as far as the running sums do not have it.
LiveTally tally_live(const State &state, const SiteQuery &query, const Filter &filter);

/// Words that lie in the texts of the book, by the number of a text.
std::vector<WordMask> name_words(const NameBook &names, const Filter &filter);

}  // namespace gmt::model
