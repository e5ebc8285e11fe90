#include "pg/protect/exact_aggregate.hpp"

#include "pg/protect/column_traits.hpp"
#include "pg/protect/concatenation.hpp"
#include "pg/protect/early_expressions.hpp"
#include "pg/protect/inside.hpp"
#include "pg/protect/outside.hpp"
#include "pg/protect/row_work.hpp"
#include "pg/protect/size_bounds.hpp"
#include "pg/server/nodes.hpp"
#include "pg/vocabulary/person_aggregates.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "nodes/nodeFuncs.h"
#include "utils/regproc.h"
}

namespace dpquantile {

namespace {

[[noreturn]] void refuse_call(const JudgedLevel* level, const Aggref* call) {
  refuse(
      level->statement->refused, call->location,
      psprintf("%s of the rows of a person is not supported: it may fail for some rows, or "
               "depend on their order",
               format_procedure(call->aggfnoid)),
      "Use count, sum, avg, min, max, deviations, percentiles and count(DISTINCT ...) of numbers, "
      "dates and times; min, max and count of texts.");
}

// The longest that an aggregate of values can be.
SizeBound bound_of_aggregate(const JudgedLevel* level, Aggref* call) {
  constexpr double kMostNumericBytes = 1024;
  if (call->aggtype == NUMERICOID || call->args == NIL) return at_most(kMostNumericBytes);
  return bound_of(level, as<Node>(static_cast<TargetEntry*>(linitial(call->args))->expr));
}

// What is no value of a row, such as the fraction of a percentile, is computed before the first
// one.
Node* rewrite_argument(JudgedLevel* level, Node* argument) {
  if (!reads_columns(argument)) return early_expression(level, argument);
  Node* value = rewrite_inside(level, argument);
  if (level->is_refused) return value;
  return with_bounded_reading(level, with_counted_copy(level, value));
}

}  // namespace

Node* rewrite_exact_aggregate(JudgedLevel* level, Aggref* call) {
  count_node(level->statement, as<Node>(call));
  if (call->agglevelsup > 0) refuse_call(level, call);
  if (call->aggdistinct != NIL) count_text_for_row(level, call);
  for (auto* argument : each<TargetEntry>(call->args)) {
    argument->expr = as<Expr>(rewrite_argument(level, as<Node>(argument->expr)));
  }
  ListCell* cell;
  foreach (cell, call->aggdirectargs) {
    lfirst(cell) = rewrite_argument(level, static_cast<Node*>(lfirst(cell)));
  }
  call->aggfilter = as<Expr>(rewrite_inside(level, as<Node>(call->aggfilter)));
  if (level->is_refused) return as<Node>(call);
  Aggref* exact = person_aggregate_call(call);
  if (exact == nullptr) refuse_call(level, call);
  set_bound(level->statement, as<Node>(exact), bound_of_aggregate(level, exact));
  return with_bounded_work(level, as<Node>(exact));
}

}  // namespace dpquantile
