#pragma once

#include "pg/server/mark.hpp"

extern "C" {
#include "nodes/params.h"
#include "nodes/parsenodes.h"
}

// A query whose protected rows are compared with private answers: with those of the ten cities with
// the most visits, with a mean, with a total. It is asked in stages, as an analyst would by hand:
// each subquery of answers first, as a query of its own with a charge of its own, and then the
// query itself with the values that came, which are as public as a constant then. So no rule has to
// know answers beside rows, and adaptive composition (Lemma 34s of docs/privacy/relations.md) is
// all that has to hold.
namespace dpquantile {

// What stands in the query in the place of a subquery of answers.
enum class StagePlace {
  kValue,  // an external parameter: the subquery gives one value
  kArray,  // an external parameter: IN, ANY and ARRAY() compare with all values of its one column
  kTable,  // VALUES: the subquery is in FROM, or it is a WITH query that FROM names
};

// A subquery, which stands for itself. It may name tables of the stages before it.
struct Stage {
  const Query* query;
  StagePlace place;
  int parameter;  // the number of the external parameter; of a table, of one that says whether it
                  // has rows, before those of its columns
  Oid type;       // of the parameter
  List* keys;     // IntList: columns of a table in which, together, no two of its rows are equal
  bool has_one_row;
  bool is_public;  // reads no protected rows

  static constexpr MarkKind kKind = {"dpquantile stage", 1};
  void each_field(MarkFields* fields);
};

struct StagedQuery {
  List* stages;  // Stage
  Query* rest;   // the query itself; VALUES of parameters stand in it in the place of tables
  int own_parameters;
};

// At most so many rows may come from a subquery.
inline constexpr int kMostStageRows = 1000;

// Takes the subqueries of answers out of a query, whose tree it changes, and those of public tables
// that no join with protected rows can take the place of: they cost nothing. Null, and leaves it as
// it is, if there is none. ereports if there are and it cannot be asked in stages.
StagedQuery* stage_query(Query* query, const char* text);

// A copy of a stage or of the rest with rows in the place of each table that it names: `rows` has
// those of the first stages, List of List of List of Const, NIL for no rows and for other places.
// Those of the others are made up. Whether the query is accepted with these is whether it will be
// with those that come: they are different in the same columns. Of public tables it may not be.
Query* with_rows(const StagedQuery* staged, const Query* query, const List* rows);

// Parameters of the rest, all NULL: its own, and those of the stages.
ParamListInfo null_parameters(const StagedQuery* staged);

}  // namespace dpquantile
