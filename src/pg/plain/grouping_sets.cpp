#include "pg/plain/grouping_sets.hpp"

#include "pg/plain/evaluated_key.hpp"
#include "pg/plain/query_around.hpp"
#include "pg/plain/set_operations.hpp"
#include "pg/server/trees.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parse_agg.h"
#include "rewrite/rewriteManip.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

// ---- One grouping --------------------------------------------------------------------------

struct Grouping {
  const Query* query;
  List* set;  // of integers: the references of its keys
};

bool has_key(const Grouping* grouping, Index reference) {
  return list_member_int(grouping->set, static_cast<int>(reference));
}

// One bit for each argument, the first of the highest value: whether it is no key of this grouping.
Node* constant_of_grouping(const Grouping* grouping, const GroupingFunc* call) {
  int32 bits = 0;
  for (const int number : each_int(call->refs)) {
    bits = 2 * bits + (has_key(grouping, static_cast<Index>(number)) ? 0 : 1);
  }
  return as<Node>(
      makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(bits), false, true));
}

enum class KeyOf { kNone, kThis, kOthers };

// The groupings of which the expression is a key.
KeyOf key_of(const Grouping* grouping, const Node* node) {
  KeyOf key = KeyOf::kNone;
  for (auto* clause : each<SortGroupClause>(grouping->query->groupClause)) {
    if (!equal(node, get_sortgroupclause_expr(clause, grouping->query->targetList))) continue;
    if (has_key(grouping, clause->tleSortGroupRef)) return KeyOf::kThis;
    key = KeyOf::kOthers;
  }
  return key;
}

// Aggregates see the rows.
Node* without_other_keys(const Grouping* grouping, Node* expression) {
  return mapped(expression, [&](Node* node) {
    if (IsA(node, Aggref)) return static_cast<Node*>(copyObjectImpl(node));
    if (IsA(node, GroupingFunc)) return constant_of_grouping(grouping, as<GroupingFunc>(node));
    const KeyOf key = key_of(grouping, node);
    if (key == KeyOf::kNone) return static_cast<Node*>(nullptr);
    // A key may be computed of another one that is missing.
    if (key == KeyOf::kThis) return static_cast<Node*>(copyObjectImpl(node));
    return as<Node>(null_like(node));
  });
}

List* clauses_of(const Grouping* grouping) {
  List* clauses = NIL;
  for (auto* clause : each<SortGroupClause>(grouping->query->groupClause)) {
    if (has_key(grouping, clause->tleSortGroupRef)) {
      clauses = lappend(clauses, copyObjectImpl(clause));
    }
  }
  return clauses;
}

bool is_key(const Query* query, const TargetEntry* column) {
  return column->ressortgroupref != 0 &&
         get_sortgroupref_clause_noerr(column->ressortgroupref, query->groupClause) != nullptr;
}

// If the query has a key twice, one column may be a key of this grouping and the other not.
Node* value_of_column(const Grouping* grouping, const TargetEntry* column) {
  auto* value = as<Node>(column->expr);
  if (!is_key(grouping->query, column)) return without_other_keys(grouping, value);
  return has_key(grouping, column->ressortgroupref) ? value : as<Node>(null_like(value));
}

// Every column is visible from outside, also those that ORDER BY needs.
List* columns_of(const Grouping* grouping) {
  List* columns = NIL;
  const ListCell* cell;
  foreach (cell, grouping->query->targetList) {
    auto* column = static_cast<TargetEntry*>(copyObjectImpl(lfirst(cell)));
    column->expr = as<Expr>(value_of_column(grouping, column));
    const char* name = name_of_column(grouping->query, static_cast<TargetEntry*>(lfirst(cell)));
    column->resjunk = false;
    column->resname = name != nullptr ? pstrdup(name) : psprintf("c%d", column->resno);
    if (!has_key(grouping, column->ressortgroupref)) column->ressortgroupref = 0;
    columns = lappend(columns, column);
  }
  return columns;
}

// It will be so many levels below the query.
Query* query_of_grouping(const Query* query, List* set, int levels) {
  const Grouping grouping = {query, set};
  auto* made = static_cast<Query*>(copyObjectImpl(query));
  made->groupClause = clauses_of(&grouping);
  made->targetList = columns_of(&grouping);
  made->havingQual = without_other_keys(&grouping, made->havingQual);
  made->groupingSets = NIL;
  made->groupDistinct = false;
  made->sortClause = NIL;
  made->distinctClause = NIL;
  made->hasDistinctOn = false;
  made->limitOffset = nullptr;
  made->limitCount = nullptr;
  IncrementVarSublevelsUp(as<Node>(made), levels, 1);
  return made;
}

// ---- All groupings -------------------------------------------------------------------------

// The columns of the query become those of the table.
void show_columns(Query* query, Query* table) {
  for (auto* column : each<TargetEntry>(query->targetList)) {
    column->expr = as<Expr>(column_of_table(column));
  }
  select_from(query, table);
}

}  // namespace

bool has_separable_sets(const Query* query) {
  return query->commandType == CMD_SELECT && query->groupingSets != NIL && !query->hasWindowFuncs &&
         query->cteList == NIL && !query->hasSubLinks && query->rowMarks == NIL;
}

void separate_grouping_sets(Query* query) {
  const List* sets =
      expand_grouping_sets(query->groupingSets, query->groupDistinct, kMaxGroupingSets);
  if (sets == NIL) {
    ereport(ERROR, (errcode(ERRCODE_STATEMENT_TOO_COMPLEX),
                    errmsg("the query has more than %d grouping sets", kMaxGroupingSets),
                    errhint("Ask for fewer groupings.")));
  }
  const bool is_one = list_length(sets) == 1;
  List* queries = NIL;
  for (auto* row : each<List>(sets)) {
    queries = lappend(queries, query_of_grouping(query, row, is_one ? 1 : 2));
  }
  show_columns(query,
               is_one ? static_cast<Query*>(linitial(queries)) : union_all_of(queries, nullptr));
}

}  // namespace dpquantile
