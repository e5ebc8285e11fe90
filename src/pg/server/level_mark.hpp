#pragma once

#include "pg/server/mark.hpp"

// The mark of a query level with aggregates: what is known of the level before it is planned, and
// goes into the plan of its release node.
namespace dpquantile {

struct LevelMark {
  const char* identity;  // of the level (pg/reuse/query_identity.hpp), or null
  bool knows_tables;     // whether it is known which protected tables the rows of the level are of
  List* tables;          // these, of OIDs: their budgets pay for the release, too
  bool joins_rows;   // whether one row may be a part of several of the level: it joins protected
                     // tables, or has person groups
  bool has_one_row;  // whether each person has at most one row in the level, by its person groups
  bool protects_persons;  // whether the rows have persons, all of whose rows are protected together
  const Query* states;  // gives the states of the groups (pg/distributed/states_query.hpp), or null
  int listed_groups;    // how many groups the lists of keys in the query name; 0 if it has none
  bool is_alone;        // whether no other level of the statement has private aggregates

  static constexpr MarkKind kKind = {"dpquantile level", 3};
  void each_field(MarkFields* fields) {
    fields->text("identity", &identity);
    fields->truth("knows_tables", &knows_tables);
    fields->list("tables", T_OidList, &tables);
    fields->truth("joins_rows", &joins_rows);
    fields->truth("has_one_row", &has_one_row);
    fields->truth("protects_persons", &protects_persons);
    fields->query("states", &states);
    fields->integer("listed_groups", &listed_groups);
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
