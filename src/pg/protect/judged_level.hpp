#pragma once

#include "pg/grants/refusal.hpp"
#include "pg/query/level.hpp"

extern "C" {
#include "nodes/params.h"
#include "utils/hsearch.h"
}

// What the rules have found of a statement and of each of its query levels (pg/query), and what is
// to be made of it. They fill it from the innermost level outwards, and read it instead of looking
// at the query again. Plain data, since errors may be raised at any time. The types of relations
// are those of Theorem 34 of docs/privacy/relations.md.
namespace dpquantile {

struct JudgedLevel;
struct PublicLevel;

// The limits for the values of rows among which row_work.hpp chooses: 64 kB, 32 kB, ... 256 bytes,
// and 256 bytes with shorter values of parameters.
constexpr int kSizeLimits = 10;

// Nanoseconds for one row, with each of these limits.
struct RowWork {
  double time[kSizeLimits];
};

// The most bytes of a text, array or other value of variable length, with each of these limits.
struct SizeBound {
  double bytes[kSizeLimits];
  double computed[kSizeLimits];  // of a value that no row has as it is
  bool is_stored;                // whether it may be one that a row has, of any length
  bool is_toasted;               // whether it may be compressed or out of line
};

// What a column of a source is for an expression that uses it: computed again for each use.
struct ColumnWork {
  int nodes;  // with which it is computed
  SizeBound size;
  RowWork work;
};

// Judges the subquery of an expression.
using SubqueryCheck = void (*)(JudgedLevel* level, SubLink* subquery);

// Rewrites the expressions of a public level.
using PublicRewriting = void (*)(JudgedLevel* level);

// A statement with borrowed relations.
struct JudgedStatement {
  RefusedQuery refused;
  List* borrowed;    // BorrowedRelation
  List* early;       // expressions without columns, to be evaluated before the first row is read
  List* samples;     // calls to be made before the first row is read (early_lookups.hpp)
  List* identities;  // of String: the identity of each of them (hash_of_text())
  ParamListInfo parameters;  // of the execution that the plan is for, or null
  int own_parameters;        // the largest number of a parameter of the query
  List* person_hashes;       // FuncExpr: the hashes of persons in windows and person groups
  List* indexes;             // of OIDs: unique indexes that joins and groups rely on
  List* joined;              // of OIDs: protected tables that are joined with each other
  List* public_tables;       // of OIDs: tables that the user may read, beside protected rows
  // Whose rights decide which tables in views are public; invalid: all are.
  Oid reader;
  SubqueryCheck check_subquery;
  PublicRewriting rewrite_public;
  int node_count;      // nodes of the expressions that have been looked at
  RowWork work;        // of the expressions inside
  HTAB* bounds;        // SizeBound of the values in them
  Const* size_limit;   // the early value that limits the values of rows, or null
  int limit_number;    // of its parameter
  List* known;         // of Const: values of parameters, which must not decide about the limit
  Size longest_known;  // bytes, of those of any length
  List* short_values;  // of integers: the early values of any length, from 0
  List* patterns;      // of integers: those that are regular expressions
  List* pattern_collations;  // of OIDs: how rows are compared with each
  int most_early_bytes;      // of each of these
};

// What the rows of a level depend on.
enum class RelationType {
  kPublic,   // public data, parameters and earlier answers
  kRows,     // of each person, or of each row: what is computed of the protected rows of that one
  kAnswers,  // private answers, and what is computed of them
};

// An entry of a range table, as far as FROM shows it.
struct JudgedEntry {
  BorrowedRelation* relation;  // the protected table, or null
  AttrNumber user_column;     // of a protected table or view: the column that names the users, or 0
  const JudgedLevel* source;  // the derived table, CTE or view with protected rows, or null
  bool is_joined_table;       // a table that the user may read, in a source or release block
  const PublicLevel*
      public_level;             // the derived table or CTE of public rows, beside protected ones
  Bitmapset* distinct_columns;  // of a list beside protected rows: in each no two rows are equal
  const RangeTblEntry* values;  // such a list as VALUES, if it is that or arrays, or null
  Bitmapset* compared_columns;  // of these: those that = compares; no two rows are equal in them
  Bitmapset* hashed_columns;  // those of distinct_columns of which at most two values have one hash
  int most_rows;              // of such a list
  bool may_have_nulls;        // of such a list: whether a value may be NULL
  bool is_public;             // its rows, and which of them there are, depend on no protected row
  bool may_be_absent;         // an outer join puts NULLs in the place of its rows
};

// Tables in FROM of a public level, and the conditions by which they are joined.
struct PublicPart {
  Bitmapset* tables;
  List* conditions;
};

// A derived table or CTE of public rows that is joined with protected ones (public_level.hpp).
struct PublicLevel {
  JudgedLevel* level;
  List* shown;         // the expressions of its columns, as they were written
  List* keys;          // those of GROUP BY or DISTINCT
  PublicPart* kept;    // what inner joins and WHERE join
  List* others;        // PublicPart: what each outer join may put NULLs in the place of
  bool combines_rows;  // a row of it is a group of rows
  // RowChoice: what has been found of its columns. Levels in each other would ask again and again.
  List** choices;
};

// Whether rows of a public level that are equal in some columns are one row.
struct RowChoice {
  const Bitmapset* columns;
  bool is_one;
};

struct JudgedLevel {
  JudgedStatement* statement;
  const Level* read;
  JudgedLevel* parent;  // null at the top
  Query* query;
  RelationType type;
  JudgedEntry* entries;    // in the order of the range table
  ColumnWork* works;       // of a source: of each of its columns
  BorrowedRelation* view;  // the protected view of which this is the body, or reads it; or null
  AttrNumber
      view_user_column;  // the column of this query that the view has as its user column, or 0
  // The protected view in whose query the level is, if it is read as a derived table; or null.
  BorrowedRelation* within;
  List* relations;  // of a source or release block: those with its rows, BorrowedRelation
  List* tables;     // of OIDs: the tables that these rows are of, in views, too
  // Those of them of whose rows a person may have several. Sources with one row of each person do
  // not count.
  List* limiting_relations;
  List* limiting_tables;
  BorrowedRelation* user_relation;  // the one of these with the user column of each row
  int user_entry;                   // the entry of FROM that shows this column
  Bitmapset* user_entries;  // all entries of which a column has the user in each row: inner joins
                            // by users have several
  const PublicLevel* as_public;  // what it is if it is joined with protected rows, or null
  bool is_refused;         // if all reasons are collected: a rule has refused it, or a level in it
  bool has_one_row;        // no person has several of its rows
  bool has_person_groups;  // it is a person group or a UNION ALL, or reads one, so that one value
                           // of a row may change several rows of its person
  bool is_empty;           // a source of which no row is read
  // "public LEFT JOIN protected": some rows may have no protected row.
  bool has_public_side;
  // All rows of the public side stay, whatever the protected rows are.
  bool keeps_public_rows;
};

// How many rows of a person a source or release block may have (most_rows_of_person() of pg/query).
// 0 if a relation allows none.
int most_rows_of_user(const JudgedLevel* level);

// Has the planner plan the query for itself: no condition of the query around gets into it, and no
// expression out of it.
void fence(Query* query);

// Makes a check of the level: attempt() of pg/grants/refusal.hpp.
template <class Check>
bool attempt(JudgedLevel* level, Check check) {
  const bool passes = attempt(level->statement->refused, check);
  level->is_refused |= !passes;
  return passes;
}

// Whether no person has several protected rows in an entry of FROM.
inline bool has_one_row(const JudgedEntry& entry) {
  return entry.relation == nullptr && (entry.source == nullptr || entry.source->has_one_row);
}

inline JudgedEntry& entry_of(const JudgedLevel* level, int number) {
  return level->entries[number - 1];
}

}  // namespace dpquantile
