#pragma once

#include <optional>

#include "pg/borrowed/early_values.hpp"
#include "pg/server/mark.hpp"

extern "C" {
#include "nodes/params.h"
#include "nodes/parsenodes.h"
}

// The parts of a query that is asked in stages (staged_query.hpp), with the rows of subqueries in
// the place of tables: those that came, or made-up ones for a trial.
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
  int parameter;   // the number of the external parameter; of a table, of one that says whether it
                   // has rows, before those of its columns
  Oid type;        // of the parameter
  List* keys;      // IntList: columns of a table in which, together, no two of its rows are equal
  int most_rows;   // of a table, that it may give
  bool is_public;  // reads no protected rows

  static constexpr MarkKind kKind = {"dpquantile stage", 2};
  void each_field(MarkFields* fields) {
    fields->query("query", &query);
    auto number = static_cast<int>(place);
    fields->integer("place", &number);
    place = static_cast<StagePlace>(number);
    fields->integer("parameter", &parameter);
    fields->oid("type", &type);
    fields->list("keys", T_IntList, &keys);
    fields->integer("most_rows", &most_rows);
    fields->truth("is_public", &is_public);
  }
};

struct StagedQuery {
  List* stages;  // Stage
  Query* rest;   // the query itself; VALUES of parameters stand in it in the place of tables
  int own_parameters;
  List* answers;  // IntList: the parameters that are private answers, or follow from some
};

// At most so many rows of a subquery are used.
inline constexpr int kMostStageRows = kMaxElements;

// Notes how many rows a stage shows, if that is known, for the trial of those after it. ereports if
// these may be more than kMostStageRows.
void limit_rows(Stage* stage, std::optional<int> shown);

// A copy of a stage or of the rest with rows in the place of each table that it names: `rows` has
// those of the first stages, List of List of List of Const, NIL for no rows and for other places.
// Those of the others are made up. Whether the query is accepted with these is whether it will be
// with those that come: they are different in the same columns, and as many as may come. Of public
// tables it may not be.
// `kind` becomes what they are.
Query* with_rows(const StagedQuery* staged, const Query* query, const List* rows, StageRows* kind);

// Parameters of the rest, all NULL: its own, and those of the stages, which PostgreSQL does not
// take for constants.
ParamListInfo null_parameters(const StagedQuery* staged);

}  // namespace dpquantile
