#pragma once
// One query on sites while it is answered: cells are chosen, gathered into groups, and the groups sorted.
#include <string>
#include <unordered_map>
#include <vector>

#include "model/query/filter.h"
#include "model/query/growth.h"
#include "model/query/live_tally.h"
#include "model/query/queries.h"

namespace gmt::model {

class SiteGrouping {
 public:
  SiteGrouping(const State &state, const SiteQuery &query, const Filter &filter, const LiveTally &tally);

  SiteRows answer();

 private:
  struct Group : SiteFigures {
    uint32_t first_cell = kNone;  ///< a list through next_
    uint32_t cells = 0;           ///< in the list: those whose past is the group's
    uint32_t live_cells = 0;      ///< whose live blocks are its
    uint8_t category = kUnnamed;
    uint32_t site = 0;  ///< the biggest
    int64_t site_live = -1;
    bool one_site = true;
  };

  bool wanted(uint32_t cell);
  uint64_t key(uint32_t cell) const;
  void gather();
  void gather_categories();
  void add(Group &group, uint32_t cell, size_t slot);
  void add_history(Group &group, uint32_t cell);
  void drop_unwanted();
  void measure(Group &group) const;
  int64_t peak(const Group &group) const;
  int64_t ledger_peak(const Group &group) const;
  int64_t summed_peak(const Group &group) const;
  void sort();
  double number(const Group &group) const;
  std::string label(const Group &group) const;
  int compare_labels(const Group &a, const Group &b) const;
  SiteRow row(const Group &group) const;
  const std::string &thread_text(uint32_t process, uint16_t thread);

  const Accounts &accounts_;
  const Names &names_;
  const SiteQuery &query_;
  const Filter &filter_;
  const LiveTally &tally_;
  Growth growth_;
  std::vector<Group> groups_;
  std::vector<uint32_t> next_;  ///< by cell: the next cell of its group
  std::unordered_map<uint64_t, std::string> thread_texts_;
};

}  // namespace gmt::model
