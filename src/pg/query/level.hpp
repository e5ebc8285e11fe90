#pragma once

#include <optional>

#include "pg/grants/borrowed_relations.hpp"

extern "C" {
#include "nodes/params.h"
}

// A statement as it is read once: which query levels it has, what FROM of each names, and which
// query is behind each name. Rules, translations and explanations read this in place of
// PostgreSQL's tree, so that none of them sees another table behind a name than the others. Plain
// data, since errors may be raised at any time.
namespace dpquantile {

struct Level;
struct JudgedLevel;  // pg/protect/judged_level.hpp

// How the groups of a level are chosen, whose keys have no public list (pg/plain).
struct ChosenGroups {
  double epsilon;
  double delta;
  int groups_of_person;  // in how many of them a person counts; 0: rows are counted
  const char* reason;    // why it has no list, as a sentence; null: as the query has another form
  bool is_public_key;    // whether the key without a list is of a table that no owner protects
  bool has_list;         // whether all keys have lists, and the query asks which of them rows have
};

// The reason of keys whose list a trial has not taken, although it is not too long itself.
inline constexpr char kListNotTaken[] =
    "With as many rows as its subqueries may give the query has too many combinations of keys.";

// Which rows of a public table are wanted: those that have one of some values in a column, which
// has a unique key of its own; for 0 all.
struct PublicChoice {
  AttrNumber column;
  List* values;  // Const, none NULL
};

// Rows of a public table from which lists of keys or bounds have been made (pg/plain).
struct PublicRead {
  Oid relation;
  List* columns;  // int
  PublicChoice choice;
  uint64 digest;  // of the values of these columns in all rows that are wanted
};

// A text of a public table that a key reads (pg/plain).
struct ReadText {
  Oid relation;
  Size bytes;  // without its header
};

// Which values but NULL a column of a public table has, as numbers (pg/plain).
struct PublicRange {
  Oid relation;
  AttrNumber column;
  bool is_known;  // whether there is one, all are finite, and they may be read
  double lower;
  double upper;
};

struct Statement {
  List* borrowed;  // BorrowedRelation
  Level* top;
  // The most scans of a level, also of a WITH query that nobody names.
  int most_scans;
  // Whether what has been put into it is computed for the session's time zone (pg/plain).
  bool has_values_of_time_zone;
  // The same for its style of dates.
  bool has_values_of_date_style;
  // What has been computed of public values for lists of keys, in calls of an ordinary function
  // (pg/plain).
  double computed_calls;
  // The names of keys that have public lists without NULL, and may be NULL: char*, each once
  // (pg/plain).
  List* keys_without_null;
  // The names of keys whose lists may lack persons with more rows than the owner states: the same.
  List* keys_without_many_rows;
  // The names of keys that are shown whether or not the rows that conditions choose have them: the
  // same.
  List* keys_of_lists;
  // Groups that are chosen privately, of each choice once (pg/plain), and whether a level
  // aggregates such groups.
  List* chosen_groups;  // ChosenGroups
  bool aggregates_chosen_groups;
  // What has been read of public tables for it: PublicRead (pg/plain).
  List* public_reads;
  List* public_ranges;  // PublicRange, of each column once
  // The keys that have been found in these: RowsOfTable (pg/plain/table_keys.cpp).
  List* rows_of_tables;
  ReadText longest_text;  // in rows of these tables, by functions that computed their keys
  // The names of standard aggregates of which a public bound is the answer: char* (pg/plain).
  List* answered_by_bounds;
  // The values of $1 and so on that the query is planned with, or null (pg/plain).
  ParamListInfo parameters;
};

// An entry of the range table.
struct Entry {
  RangeTblEntry* table;
  // The table or the protected view that it shows, or invalid. Of a protected view it is the view,
  // whoever asks: what is in its query is the business of its owner.
  Oid relation;
  BorrowedRelation* borrowed;  // if the user borrows this relation
  CommonTableExpr* cte;        // the CTE that it names, or null
  Level* below;     // the query of a derived table, view or CTE; null for others, and in recursion
  bool is_in_from;  // others are parts of UNION, or for PostgreSQL's own use
  // Whether a left join finds at most one row of it for each protected row that it keeps: it is a
  // person group, or chooses rows of one, and the join compares all keys but the person.
  bool is_met_once;
};

// A query that PostgreSQL plans for itself: the statement, a derived table, a CTE, a part of UNION,
// a subquery in an expression.
struct Level {
  Statement* statement;
  Level* parent;  // null at the top
  Query* query;
  Entry* entries;  // in the order of the range table
  List* ctes;      // Level, in the order of the query's CTEs
  List* below;     // Level: all that are written in this one, CTEs first
  // The relations whose rows FROM has and that the user borrows: OIDs, each once. No outer join
  // with another leaves out rows of the first. NIL if there is none.
  List* borrowed_rows;
  // Whether an outer join in FROM keeps rows of public tables that match no protected row:
  // "public LEFT JOIN protected".
  bool has_public_side;
  // Whether it is a person group: its GROUP BY or DISTINCT has a column that identifies persons, no
  // private aggregate is in it, and a level around reads it. Its rows are rows of persons, as those
  // of the tables are.
  bool groups_persons;
  // Whether it is a UNION ALL of queries that show rows of persons, and a level around reads it:
  // its rows are theirs. One of more than kMostScans tables is none.
  bool unites_rows;
  // Whether it is a level of window functions over rows of persons: each of them computes within
  // the rows of a person, and a level around reads it. Their results are columns of these rows.
  bool windows_persons;
  // Whether DISTINCT ON takes rows of each person, and a level around reads it.
  bool picks_rows_of_persons;
  // Whether each person has at most one row in FROM, or among its rows if it is a person group.
  bool has_one_row;
  // Whether each person has at most one row in each group of the level: FROM reads a person group,
  // and the level groups by all of its keys but the person. Then rows are groups of a person.
  bool has_one_row_in_group;
  // Whether its rows are groups that are chosen privately, or computed of such: groups of few rows
  // or persons are hidden (pg/plain).
  bool has_chosen_groups;
  // Whether it is a subquery in an expression with groups of one person each, by a unique key or a
  // reference: it is about the person of a row, and gives no answers (pg/plain).
  bool is_by_key;
  // How many groups it has at most by the public lists of their keys, as far as kMaxElements + 1
  // (pg/borrowed): more are not counted. 0 if it has no such lists (pg/plain).
  int listed_groups;
  // How many rows of a person it has at most, by what the owners of its tables state in max_rows: 1
  // if each person has one row, the sum of those of the queries of a UNION ALL, and else the most
  // that an entry of FROM has. The same with max_groups, and no more than the level has groups if
  // each person has one row in each of them and their keys are columns of lists; and of FROM, below
  // a GROUP BY. 0 if an owner states nothing.
  int most_rows;
  int most_groups;
  int most_rows_in_from;
  // Whether the rows of persons in FROM are those of referenced tables alone.
  bool only_names_persons;
  // The columns that identify persons, by number, among those that it had when it was read, and how
  // many these were.
  Bitmapset* persons;
  int read_columns;
  // The tables and views that this level and those below name: OIDs, each once.
  List* relations;
  // Aggref: the aggregates of this level, also those that stand in a level below.
  List* aggregates;
  // How many levels around this one is the farthest from which it, or a level below, takes a
  // column, an aggregate or GROUPING(); 0 if it takes none. The same for the rows of a CTE.
  Index outer_values;
  Index outer_ctes;
  // How many tables, lists and the like a plan of it may read, those of a WITH query as often as it
  // is named: PostgreSQL plans each by itself. Not counted beyond kMostScans + 1.
  int scans;
  JudgedLevel* judged;  // what the rules have found of it, or null
};

// What a query may read (check_scans() of pg/protect).
inline constexpr int kMostScans = 1000;

// The setting dpquantile.max_rows: 0, or how many rows of a person the session wants used at most.
extern int max_rows_of_session;

// How many rows of a person are used, by what the owners, the lists of keys and the session state:
// groups where each person has one row in each of them. 0 if nothing is stated by the former.
int most_rows_of_person(const Level* level);

// Reads all levels. Group keys stand in the expressions of each afterwards, in all versions of
// PostgreSQL; without borrowed relations those of grouping sets stay as they are. `borrowed` is
// what find_borrowed_relations() has found in the query. A query that is changed later is read
// again: the whole statement, or a level. The levels around that level then still say what it had.
Statement* read_statement(Query* query, List* borrowed);
void read_again(Level* level);

// An entry by its number, from 1.
inline const Entry& entry_of(const Level* level, int number) {
  return level->entries[number - 1];
}

// The level so many levels around this one, or null.
const Level* around(const Level* level, Index levels);

// Whether a row that a query shows is not one row of FROM: it groups, aggregates or combines them.
bool combines_rows(const Query* query);

// The same, but rows of a person group and of a UNION ALL of rows are rows of persons, too.
bool hides_rows(const Level* level);

// The queries that a set operation combines, as they are written: Level; null for what was not
// read.
List* branches_of(const Level* level);

// Whether the query is a set operation of levels that show rows of persons, and none else.
bool combines_branches_of_rows(const Level* level);

// Whether a set operation, or one in it, is INTERSECT ALL or EXCEPT ALL.
bool keeps_duplicates(const Node* part);

// Whether a person group shows nothing but keys and aggregates, and has no other clauses. What is
// computed of its rows, and which of them are wanted, is then the business of a level around it.
bool has_plain_form(const Query* query);

// Whether WHERE has the number of a row be a constant, which row_number() over the rows of a person
// gives in an entry of FROM: then each person has at most one row with it. The window has no key
// but the person.
bool chooses_row_of_person(const Level* level, int entry);

// Whether a window of the query has a window function.
bool is_used_window(const Query* query, const WindowClause* window);

// Whether a level with window functions over rows of persons shows nothing but these and columns
// without them, also the keys of the windows, and has no other clauses.
bool has_plain_windows(const Query* query);

// ---- Where columns come from ---------------------------------------------------------------
//
// Through derived tables, CTEs and joins to the column of the table, whose domain has the bounds
// and keys. A wrong origin would take the bounds of another column, or one column for the one that
// identifies persons.

// An expression and the query level that computes it.
struct LevelExpression {
  const Level* level;
  Node* expression;
};

// What a column of a derived table, a CTE or a join stands for, or nothing for a column of a table
// or of a query that computes it from several rows. That of a person group may be an aggregate. A
// column of a UNION ALL stands for several.
std::optional<LevelExpression> definition_of(const Level* level, const Var* column);

// What a column of a UNION ALL of rows stands for: the expressions of its queries; NIL for any
// other column.
List* definitions_in_branches(const Level* level, const Var* column);  // LevelExpression

// The expression of a column of a join (USING), or null if the column is of something else.
Node* merged_column(const Query* query, const Var* column);

// The relation and the number of the column that an expression shows as it is. The relation is a
// table, or a protected view. A column of a UNION ALL shows one if all its queries do.
struct ColumnOrigin {
  Oid relation;
  AttrNumber column;
};
std::optional<ColumnOrigin> origin_of(const Level* level, const Node* expression);

// The number of the column that a table gets after its own when a query is judged, if it is
// protected through another one: the person of a row (pg/protect/references.hpp). The names of an
// entry do not tell it: in a view they are those that the table had when it was created.
AttrNumber added_person_of(Oid table);

// Whether an expression is the column of a borrowed relation that identifies persons, or of several
// in a UNION ALL. Rows of a protected table that the user may read are public, and identify nobody.
bool is_person(const Level* level, const Node* expression);

}  // namespace dpquantile
