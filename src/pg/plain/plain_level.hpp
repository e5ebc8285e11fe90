#pragma once

#include "pg/grants/refusal.hpp"
#include "pg/query/level.hpp"

// A query level with standard aggregates over protected rows, while it is translated to private
// ones: which relations it reads, and what the grants let each aggregate cost.
namespace dpquantile {

struct PlainLevel {
  Level* select;
  List* relations;       // OIDs of the protected relations whose rows it aggregates
  double epsilon;        // of each aggregate
  double delta;          // of the choice of groups; 0: keys must be public
  bool has_outer_join;   // as the query was written, also in derived tables
  RefusedQuery refused;  // how to refuse it
  const char* unlisted;  // why the keys of its groups have no public list, or null (ChosenGroups)
  bool is_public_key;    // as in ChosenGroups
  bool has_list;         // as in ChosenGroups
};

// How many rows of a person the level has, as the validator finds it; 0 if a relation does not
// limit them.
int most_rows_of_user(const PlainLevel* level);

// In how many groups of the level a person counts, where persons are counted, in the same way.
int most_groups_of_user(const PlainLevel* level);

}  // namespace dpquantile
