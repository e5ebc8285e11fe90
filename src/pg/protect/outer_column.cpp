#include "pg/protect/outer_column.hpp"

#include "pg/protect/column_traits.hpp"
#include "pg/server/nodes.hpp"

extern "C" {
#include "access/htup_details.h"
#include "catalog/pg_language_d.h"
#include "catalog/pg_proc.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "utils/syscache.h"
}

namespace dpquantile {

namespace {

[[noreturn]] void refuse_outer_column(const JudgedLevel* level, const Var* column) {
  refuse(level->statement->refused, exprLocation(as<Node>(column)),
         "a column of the outer query may be an expression that is computed for each protected row",
         "Use a column of a table, a derived table or a function that returns rows.");
}

bool is_written_in_sql(Oid function) {
  const HeapTuple row = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
  if (!HeapTupleIsValid(row)) return true;
  const Oid language = reinterpret_cast<Form_pg_proc>(GETSTRUCT(row))->prolang;
  ReleaseSysCache(row);
  return language == SQLlanguageId;
}

// The planner puts the query of a function in SQL into its place, and the value of one that returns
// one row.
bool stays_a_function(const List* functions) {
  for (const auto* function : each<const RangeTblFunction>(functions)) {
    const auto* call = as<FuncExpr>(function->funcexpr);
    if (!IsA(call, FuncExpr) || !call->funcretset || is_written_in_sql(call->funcid)) return false;
  }
  return true;
}

}  // namespace

void compute_before_rows(const JudgedLevel* level, const JudgedLevel* around, const Var* column) {
  const RangeTblEntry* entry = rt_fetch(column->varno, around->query->rtable);
  switch (entry->rtekind) {
    case RTE_RELATION:
    case RTE_NAMEDTUPLESTORE:
      return;
    case RTE_SUBQUERY:
      fence(entry->subquery);
      return;
    case RTE_CTE:
      if (CommonTableExpr* cte = entry_of(around->read, column->varno).cte) {
        cte->ctematerialized = CTEMaterializeAlways;
        return;
      }
      break;
    case RTE_FUNCTION:
      if (stays_a_function(entry->functions)) return;
      break;
    case RTE_JOIN: {
      const Node* merged = merged_column(around->query, column);
      if (merged == nullptr || !IsA(merged, Var)) break;
      compute_before_rows(level, around, as<Var>(merged));
      return;
    }
    default:
      break;
  }
  refuse_outer_column(level, column);
}

}  // namespace dpquantile
