#include "pg/plain/unmatched_rows.hpp"

#include "pg/facts/unique_key.hpp"
#include "pg/grants/protection_catalog.hpp"
#include "pg/plain/evaluated_key.hpp"
#include "pg/plain/null_values.hpp"
#include "pg/plain/private_function.hpp"
#include "pg/query/shown_column.hpp"
#include "pg/server/trees.hpp"
#include "pg/vocabulary/node_functions.hpp"

extern "C" {
#include "access/sysattr.h"
#include "catalog/pg_type_d.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parse_coerce.h"
#include "parser/parsetree.h"
#include "utils/array.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

bool protects_persons(const PlainLevel* level) {
  for (const Oid relation : each_oid(level->relations)) {
    const ProtectedRelation* protection = find_protected_relation(relation);
    if (protection != nullptr && protection->user_column != InvalidAttrNumber) return true;
  }
  return false;
}

struct PublicSide {
  int entry;                // the only one of the public side
  const JoinExpr* join;     // its own
  const Bitmapset* others;  // all other entries of FROM, NULL in a row of its own
};

bool is_protected(const Level* level, int number) {
  const Entry& entry = entry_of(level, number);
  return entry.borrowed != nullptr || (entry.below != nullptr && entry.below->borrowed_rows != NIL);
}

Bitmapset* entries_of(const Node* part) {
  if (IsA(part, RangeTblRef)) return bms_make_singleton(as<RangeTblRef>(part)->rtindex);
  const auto* join = as<JoinExpr>(part);
  return bms_union(entries_of(join->larg), entries_of(join->rarg));
}

// FROM is an outer join that keeps the rows of one public entry, or others with it on their kept
// side.
std::optional<PublicSide> public_side_of(const Level* level, const Node* part) {
  if (!is_outer_join(part) || as<JoinExpr>(part)->jointype == JOIN_FULL) return std::nullopt;
  const auto* join = as<JoinExpr>(part);
  const bool keeps_left = join->jointype == JOIN_LEFT;
  const Node* kept = keeps_left ? join->larg : join->rarg;
  const Bitmapset* others = entries_of(keeps_left ? join->rarg : join->larg);
  if (IsA(kept, RangeTblRef)) {
    const int entry = as<RangeTblRef>(kept)->rtindex;
    if (is_protected(level, entry)) return std::nullopt;
    return PublicSide{entry, join, others};
  }
  auto side = public_side_of(level, kept);
  if (side) side->others = bms_union(side->others, others);
  return side;
}

const Var* column_of(const Node* expression, int entry) {
  const auto* column = as<Var>(expression);
  const bool is_own = IsA(expression, Var) && column->varlevelsup == 0 &&
                      static_cast<int>(column->varno) == entry && column->varattno > 0;
  return is_own ? column : nullptr;
}

// The columns of an entry that are keys.
const List* keys_of_entry(const Query* query, int entry) {
  List* keys = NIL;
  for (auto* clause : each<SortGroupClause>(query->groupClause)) {
    const Node* key = get_sortgroupclause_expr(clause, query->targetList);
    if (const Var* column = column_of(key, entry)) keys = lappend_int(keys, column->varattno);
  }
  return keys;
}

constexpr int kSeveral = 2;

// How many elements of VALUES, or of the array of unnest(), are NULL; kSeveral if it is not known.
// Answers of a subquery are parameters.
int nulls_in_list(const RangeTblEntry* list, int column) {
  if (list->rtekind == RTE_VALUES) {
    int nulls = 0;
    for (const auto* row : each<const List>(list->values_lists)) {
      const Node* value = folded(static_cast<Node*>(list_nth(row, column - 1)), nullptr);
      if (!IsA(value, Const) && !IsA(value, Param)) return kSeveral;
      if (IsA(value, Const) && as<Const>(value)->constisnull) ++nulls;
    }
    return nulls;
  }
  if (list_length(list->functions) != 1) return kSeveral;
  const auto* function = static_cast<const RangeTblFunction*>(linitial(list->functions));
  const Oid called = function_of(function->funcexpr);
  if (is_one_of(get_func_name(called), "generate_series")) return 0;
  if (called != F_UNNEST_ANYARRAY) return kSeveral;
  const auto* array =
      as<Const>(folded(static_cast<Node*>(linitial(arguments_of(function->funcexpr))), nullptr));
  const bool is_known = IsA(array, Const) && !array->constisnull &&
                        !array_contains_nulls(DatumGetArrayTypeP(array->constvalue));
  return is_known ? 0 : kSeveral;
}

// How many rows of a public entry have NULL there, as far as it is known.
int most_nulls(const Level* level, const Var* column) {
  check_stack_depth();
  const Entry& entry = entry_of(level, static_cast<int>(column->varno));
  if (entry.table->rtekind == RTE_VALUES || entry.table->rtekind == RTE_FUNCTION) {
    return nulls_in_list(entry.table, column->varattno);
  }
  const auto definition = definition_of(level, column);
  if (definition && IsA(definition->expression, Var)) {
    return most_nulls(definition->level, as<Var>(definition->expression));
  }
  return may_be_null(level, as<Node>(const_cast<Var*>(column))) ? kSeveral : 0;
}

// Whether NULL is equal to NULL where an entry leaves out rows that are equal to others.
bool is_grouped(const Entry& entry) {
  return entry.below != nullptr && entry.table->rtekind == RTE_SUBQUERY &&
         (entry.below->query->groupClause != NIL || entry.below->query->distinctClause != NIL);
}

// Whether the keys have all columns that the join compares, and one row at most has NULL in them.
// No two rows are equal in all of these columns, or the validator refuses the join.
bool has_compared_columns(const Level* level, const PublicSide& side, const List* keys) {
  int nulls = 0;
  for (const auto* column : each<const Var>(pull_vars_of_level(side.join->quals, 0))) {
    if (static_cast<int>(column->varno) != side.entry) continue;
    if (!list_member_int(keys, column->varattno)) return false;
    if (!is_grouped(entry_of(level, side.entry))) nulls += most_nulls(level, column);
  }
  return nulls <= 1;
}

bool has_one_row_in_group(const Level* level, const PublicSide& side) {
  const List* keys = keys_of_entry(level->query, side.entry);
  const RangeTblEntry* table = rt_fetch(side.entry, level->query->rtable);
  if (keys == NIL) return false;
  if (has_compared_columns(level, side, keys)) return true;
  if (table->rtekind != RTE_RELATION) return false;
  Bitmapset* columns = nullptr;
  for (const int column : each_int(keys)) columns = bms_add_member(columns, column);
  return are_unique(table->relid, columns);
}

// Whether FILTER is not true of a row in which all but the public entry is NULL.
bool leaves_out_unmatched(const Aggref* call, const PublicSide& side) {
  if (call->aggfilter == nullptr) return false;
  const Relids required = find_nonnullable_rels(as<Node>(call->aggfilter));
  return bms_overlap(required, side.others);
}

// GREATEST(number, 1)
Node* at_least_one(Node* number) {
  Node* one = coerce_to_target_type(
      nullptr,
      as<Node>(makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(1), false, true)),
      INT4OID, exprType(number), -1, COERCION_EXPLICIT, COERCE_EXPLICIT_CAST, kNowhere);
  MinMaxExpr* greatest = makeNode(MinMaxExpr);
  greatest->minmaxtype = exprType(number);
  greatest->op = IS_GREATEST;
  greatest->args = list_make2(number, one);
  greatest->location = kNowhere;
  return as<Node>(greatest);
}

}  // namespace

Node* with_unmatched_row(const PlainLevel* level, const Aggref* call, Node* number) {
  if (!level->select->has_public_side || !protects_persons(level)) return number;
  const List* from = level->select->query->jointree->fromlist;
  const auto side = list_length(from) == 1
                        ? public_side_of(level->select, static_cast<const Node*>(linitial(from)))
                        : std::nullopt;
  if (side && leaves_out_unmatched(call, *side)) return number;
  if (side && call->aggfilter == nullptr && has_one_row_in_group(level->select, *side)) {
    return at_least_one(number);
  }
  refuse(level->refused, call->location,
         psprintf("%s would count rows of the public table that match no protected row, in which "
                  "there is no person",
                  get_func_name(call->aggfnoid)),
         psprintf("Count a column of \"%s\" that is never NULL in the place of *, or group by all "
                  "columns of a unique key of the public table, or of the list.",
                  level->refused.relation));
}

}  // namespace dpquantile
