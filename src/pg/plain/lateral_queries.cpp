#include "pg/plain/lateral_queries.hpp"

#include "pg/plain/query_around.hpp"
#include "pg/server/trees.hpp"

extern "C" {
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

struct Lateral {
  RangeTblEntry* table;
  int number;    // in the range table of the level
  List* taken;   // the conditions with columns of the level
  List* stayed;  // the others
};

// Whether it shows rows of FROM and WHERE as they are.
bool shows_rows(const Query* query) {
  return !query->hasAggs && query->groupClause == NIL && query->groupingSets == NIL &&
         query->havingQual == nullptr && query->setOperations == nullptr &&
         !query->hasWindowFuncs && !query->hasTargetSRFs && query->distinctClause == NIL &&
         query->rowMarks == NIL && query->limitCount == nullptr && query->limitOffset == nullptr &&
         query->cteList == NIL && !query->hasSubLinks && query->jointree->fromlist != NIL;
}

bool takes_columns(const void* tree, int levels_up) {
  return contain_vars_of_level(static_cast<Node*>(const_cast<void*>(tree)), levels_up);
}

bool describe(const Level* level, int number, Lateral* lateral) {
  lateral->number = number;
  lateral->table = rt_fetch(number, level->query->rtable);
  const Query* query = lateral->table->subquery;
  if (lateral->table->rtekind != RTE_SUBQUERY || !lateral->table->lateral) return false;
  const Level* below = entry_of(level, number).below;
  const bool is_public = below != nullptr && below->borrowed_rows == NIL;
  if (!is_public || !shows_rows(query)) return false;
  for (auto* term : each<Node>(terms_of(query->jointree->quals))) {
    List** terms = takes_columns(term, 1) ? &lateral->taken : &lateral->stayed;
    *terms = lappend(*terms, term);
    if (takes_columns(term, 2) || contain_volatile_functions(term)) return false;
  }
  auto* without = static_cast<Query*>(copyObjectImpl(query));
  without->jointree->quals = nullptr;
  return lateral->taken != NIL && !takes_columns(without, 1);
}

// The column of the derived table with which it shows one of its own tables.
Var* shown_column(const Lateral& lateral, const Var* column) {
  Query* query = lateral.table->subquery;
  TargetEntry* shown = nullptr;
  for (auto* entry : each<TargetEntry>(query->targetList)) {
    if (equal(entry->expr, column)) shown = entry;
  }
  if (shown == nullptr) {
    char* name = psprintf("compared_%d", list_length(query->targetList) + 1);
    shown =
        makeTargetEntry(static_cast<Expr*>(copyObjectImpl(column)),
                        static_cast<AttrNumber>(list_length(query->targetList) + 1), name, false);
    query->targetList = lappend(query->targetList, shown);
    List** names = &lateral.table->eref->colnames;
    *names = lappend(*names, makeString(pstrdup(name)));
  }
  Var* made = column_of_table(shown);
  made->varno = lateral.number;
  return made;
}

// A condition of the derived table as one of the level.
Node* over_level(const Lateral& lateral, Node* term) {
  return mapped(term, [&](Node* node) -> Node* {
    if (!IsA(node, Var)) return nullptr;
    if (as<Var>(node)->varlevelsup == 0) return as<Node>(shown_column(lateral, as<Var>(node)));
    auto* column = static_cast<Var*>(copyObjectImpl(node));
    --column->varlevelsup;
    return as<Node>(column);
  });
}

bool has_entry(const Node* part, int number) {
  return any_node(part, [=](const Node* node) {
    return IsA(node, RangeTblRef) && as<RangeTblRef>(node)->rtindex == number;
  });
}

// The innermost outer join that keeps rows of its other side without one of the entry; null if
// there is none.
JoinExpr* join_without_row(Node* part, int number) {
  if (!IsA(part, JoinExpr)) return nullptr;
  auto* join = as<JoinExpr>(part);
  const bool is_left = has_entry(join->larg, number);
  JoinExpr* inner = join_without_row(is_left ? join->larg : join->rarg, number);
  if (inner != nullptr) return inner;
  const bool may_be_absent =
      join->jointype == JOIN_FULL || join->jointype == (is_left ? JOIN_RIGHT : JOIN_LEFT);
  return may_be_absent ? join : nullptr;
}

// Whether all columns of conditions are those of entries below a join, or of the joins there.
bool are_below(const JoinExpr* join, List* conditions) {
  for (const auto* column : each<const Var>(pull_vars_of_level(as<Node>(conditions), 1))) {
    const auto number = static_cast<int>(column->varno);
    const bool is_join = any_node(join->larg, [=](const Node* node) {
      return IsA(node, JoinExpr) && as<JoinExpr>(node)->rtindex == number;
    });
    if (!is_join && !has_entry(join->larg, number) && !has_entry(join->rarg, number)) return false;
  }
  return true;
}

bool move_conditions(const Level* level, Lateral* lateral) {
  FromExpr* from = level->query->jointree;
  Node** condition = &from->quals;
  for (auto* part : each<Node>(from->fromlist)) {
    if (!has_entry(part, lateral->number)) continue;
    JoinExpr* join = join_without_row(part, lateral->number);
    if (join == nullptr) continue;
    if (join->jointype == JOIN_FULL || !are_below(join, lateral->taken)) return false;
    condition = &join->quals;
  }
  Query* query = lateral->table->subquery;
  query->sortClause = NIL;
  List* shown = NIL;
  for (auto* column : each<TargetEntry>(query->targetList)) {
    if (!column->resjunk) shown = lappend(shown, column);
  }
  query->targetList = shown;
  query->jointree->quals =
      lateral->stayed == NIL ? nullptr : as<Node>(make_ands_explicit(lateral->stayed));
  for (auto* term : each<Node>(lateral->taken)) {
    *condition = make_and_qual(*condition, over_level(*lateral, term));
  }
  lateral->table->lateral = false;
  return true;
}

}  // namespace

bool take_conditions_out_of_lateral(const Level* level) {
  for (int number = 1; number <= list_length(level->query->rtable); ++number) {
    Lateral lateral{};
    if (describe(level, number, &lateral) && move_conditions(level, &lateral)) return true;
  }
  return false;
}

void refuse_values_of_rows(const RefusedQuery& refused, const Level* level) {
  for (const auto* table : each<const RangeTblEntry>(level->query->rtable)) {
    if (table->rtekind != RTE_SUBQUERY || !table->lateral) continue;
    for (const auto* values : each<const RangeTblEntry>(table->subquery->rtable)) {
      if (values->rtekind != RTE_VALUES) continue;
      List* columns = pull_vars_of_level(as<Node>(values->values_lists), 1);
      if (columns == NIL) continue;
      const bool is_one_row = list_length(values->values_lists) == 1;
      refuse(refused, exprLocation(static_cast<Node*>(linitial(columns))),
             "VALUES that are joined with protected rows must be constants, but take a column",
             is_one_row ? "Write the expression in the place of its name."
                        : psprintf("To have columns below each other, ask UNION ALL of the rows: "
                                   "FROM (SELECT 'a' AS name, a AS value FROM %s UNION ALL SELECT "
                                   "'b', b FROM %s) u.",
                                   refused.relation, refused.relation));
    }
  }
}

}  // namespace dpquantile
