#pragma once

#include "pg/server/mark.hpp"

// The mark of a query level with aggregates: what is known of the level before it is planned, and
// goes into the plan of its release node.
namespace dpquantile {

struct LevelMark {
  const char* identity;  // of the level (pg/reuse/query_identity.hpp), or null
  bool knows_tables;     // whether it is known which protected tables the rows of the level are of
  List* tables;          // these, of OIDs: their budgets pay for the release, too
  const Query* states;  // gives the states of the groups (pg/distributed/states_query.hpp), or null
  bool is_alone;        // whether no other level of the statement has private aggregates

  static constexpr MarkKind kKind = {"dpquantile level", 1};
  void each_field(MarkFields* fields) {
    fields->text("identity", &identity);
    fields->truth("knows_tables", &knows_tables);
    fields->list("tables", T_OidList, &tables);
    fields->query("states", &states);
    fields->truth("is_alone", &is_alone);
  }
};

// Empty if the level has none.
inline LevelMark mark_of_level(const Query* level) {
  LevelMark mark{};
  (void)find_mark(level->rtable, &mark);
  return mark;
}

}  // namespace dpquantile
