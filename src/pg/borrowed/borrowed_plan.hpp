#pragma once

#include "pg/server/mark.hpp"

// The mark of a plan that reads relations with the rights of their owners, in its range table.
namespace dpquantile {

struct BorrowedPlan {
  Oid user;            // for whom the query was validated
  List* relations;     // of OIDs: the borrowed relations
  List* user_columns;  // of numbers: the column of each that named the users, or 0
  List* through;       // of OIDs: the table through which each reached its users, or invalid
  List* unnamed;   // of numbers: 1 for each that is read for another one alone, which needs a grant
  List* max_rows;  // of numbers: the most rows of a user of each, or 0
  List* max_groups;          // of numbers: the most groups in which a user of each counts, or 0
  List* units;               // of String: the unit of each, or an empty one
  List* tables;              // of OIDs: the table that the rows of each are of
  List* table_users;         // of String: the column of that table that named the users, or empty
  List* joined;              // of OIDs: protected tables that are joined with each other
  List* public_tables;       // of OIDs: those that the user may read, beside protected rows
  List* indexes;             // of OIDs: unique indexes that the query relies on
  List* expressions;         // planned early expressions
  List* identities;          // of String: the identity of each of them (hash_of_text())
  List* samples;             // calls to be made before each charge (early_lookups.hpp)
  List* short_values;        // of numbers: those that must be short texts, from 0
  List* patterns;            // of numbers: those that are regular expressions, from 0
  List* pattern_collations;  // of OIDs: how rows are compared with each
  int most_early_bytes;      // of each of these
  int longest_value;         // of rows, bytes: longer ones count as NULL (size_limit.hpp); or 0
  int own_parameters;  // the largest number of a parameter of the query; early values come after it

  static constexpr MarkKind kKind = {"dpquantile borrowed rights", 2};
  void each_field(MarkFields* fields);
};

}  // namespace dpquantile
