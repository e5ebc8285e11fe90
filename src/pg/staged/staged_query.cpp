#include "pg/staged/staged_query.hpp"

#include "pg/borrowed/early_values.hpp"
#include "pg/borrowed/made_up_values.hpp"
#include "pg/grants/protection_catalog.hpp"
#include "pg/grants/refusal.hpp"
#include "pg/plain/person_keys.hpp"
#include "pg/plain/query_around.hpp"
#include "pg/query/level.hpp"
#include "pg/server/trees.hpp"

extern "C" {
#include "catalog/pg_class.h"
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

struct Staging {
  const Query* whole;
  RefusedQuery refused;
  List* stages;  // Stage
  List* levels;  // Level, of the subqueries that are stages
  int next_parameter;
};

// Which subqueries are taken out.
enum class Taken { kAll, kPublicAlone };

// ---- Which subqueries are stages -----------------------------------------------------------

// As whom the rights on an entry are checked, if not as the user: what a view reads.
Oid checked_user(const Query* query, const RangeTblEntry* entry) {
  const RelationPermissions* permissions = permissions_of(query, entry);
  return permissions == nullptr ? InvalidOid : permissions->checkAsUser;
}

bool reads_protected_rows(const Level* level) {
  CHECK_FOR_INTERRUPTS();
  if (level->borrowed_rows != NIL) return true;
  for (int i = 1; i <= list_length(level->query->rtable); ++i) {
    const Entry& entry = entry_of(level, i);
    if (entry.cte != nullptr && !entry.cte->cterecursive && reads_protected_rows(entry.below)) {
      return true;
    }
  }
  for (const auto* below : each<const Level>(level->below)) {
    if (reads_protected_rows(below)) return true;
  }
  return false;
}

// Whether a query gives private answers, and what is computed of them: it reads protected rows, and
// shows none.
bool gives_answers(const Level* level) {
  if (level->query->commandType != CMD_SELECT || !reads_protected_rows(level)) return false;
  for (const auto* branch : each<const Level>(branches_of(level))) {
    if (branch != nullptr && reads_protected_rows(branch) && !gives_answers(branch)) return false;
  }
  if (level->borrowed_rows == NIL) return true;
  return hides_rows(level) && !level->picks_rows_of_persons && !level->is_by_key;
}

bool shows_rows(const Level* level) {
  return level->borrowed_rows != NIL && level->query->commandType == CMD_SELECT;
}

const Level* level_of(const Level* around, const Node* query) {
  for (const auto* below : each<const Level>(around->below)) {
    if (as<Node>(below->query) == query) return below;
  }
  return nullptr;
}

// Whether a query names a WITH query which no stage has taken the place of. `beside_rows`: beside
// protected rows.
bool names(const Level* level, const CommonTableExpr* cte, bool beside_rows = false) {
  CHECK_FOR_INTERRUPTS();
  for (int i = 1; i <= list_length(level->query->rtable); ++i) {
    const Entry& entry = entry_of(level, i);
    const bool is_named = entry.cte == cte && entry.table->rtekind == RTE_CTE;
    const bool is_meant = !beside_rows || (entry.is_in_from && shows_rows(level));
    if (is_named && is_meant) return true;
  }
  for (const auto* below : each<const Level>(level->below)) {
    if (names(below, cte, beside_rows)) return true;
  }
  return false;
}

bool is_named_by(const List* users, const CommonTableExpr* cte) {
  for (const auto* user : each<const Level>(users)) {
    if (names(user, cte)) return true;
  }
  return false;
}

bool has_name(const List* ctes, const char* name) {
  for (const auto* cte : each<const CommonTableExpr>(ctes)) {
    if (strcmp(cte->ctename, name) == 0) return true;
  }
  return false;
}

// The WITH queries of the levels around that a query needs, each before those that name it. Returns
// whether they can be one list.
bool find_ctes_around(const Level* level, List** ctes) {
  List* users = list_make1(const_cast<Level*>(level));
  for (const Level* around = level->parent; around != nullptr; around = around->parent) {
    for (int i = list_length(around->query->cteList) - 1; i >= 0; --i) {
      auto* cte = static_cast<CommonTableExpr*>(list_nth(around->query->cteList, i));
      if (!is_named_by(users, cte)) continue;
      if (cte->cterecursive || has_name(*ctes, cte->ctename)) return false;
      *ctes = lcons(cte, *ctes);
      users = lappend(users, const_cast<Level*>(level_of(around, cte->ctequery)));
    }
  }
  return true;
}

// Whether it can be asked by itself, with these WITH queries.
bool stands_alone(const Level* level) {
  List* ctes = NIL;
  return level->outer_values == 0 && find_ctes_around(level, &ctes);
}

// Whether a query is in the body of a view, whose tables are read with the rights of its owner.
// Asked by itself it would read protected rows with them, exactly and for nothing: it would not be
// seen that they are borrowed through the view.
bool is_of_view(const Level* level) {
  for (const auto* entry : each<const RangeTblEntry>(level->query->rtable)) {
    const bool is_view = entry->rtekind == RTE_RELATION && entry->relkind == RELKIND_VIEW;
    if (is_view || OidIsValid(checked_user(level->query, entry))) return true;
  }
  return false;
}

// Whether a query of public tables has a clause with which it cannot be joined with protected rows
// (pg/protect/public_level.hpp): what it gives is the same for all rows only if it is asked once.
bool is_to_be_asked_once(const Level* level) {
  const Query* query = level->query;
  const bool has_clause = query->limitCount != nullptr || query->limitOffset != nullptr ||
                          query->setOperations != nullptr || query->hasWindowFuncs ||
                          query->hasDistinctOn || query->groupingSets != NIL ||
                          query->hasTargetSRFs || query->hasRowSecurity;
  if (has_clause) return true;
  for (int i = 1; i <= list_length(query->rtable); ++i) {
    const Entry& entry = entry_of(level, i);
    if (OidIsValid(checked_user(query, entry.table))) return true;
    if (entry.cte != nullptr && !entry.cte->cterecursive && is_to_be_asked_once(entry.below)) {
      return true;
    }
  }
  for (const auto* below : each<const Level>(level->below)) {
    if (is_to_be_asked_once(below)) return true;
  }
  return false;
}

// Whether it gives public values.
bool gives_public(const Level* level) {
  return level->query->commandType == CMD_SELECT && level->query->rowMarks == NIL &&
         (level->relations != NIL || level->query->jointree->fromlist != NIL) &&
         !reads_protected_rows(level);
}

// SELECT FROM towns LIMIT 1 shows none.
bool shows_columns(const Query* query) {
  return query->targetList != NIL &&
         !static_cast<TargetEntry*>(linitial(query->targetList))->resjunk;
}

// Whether EXISTS asks for rows of a stage.
bool is_asked_alone(const Level* level, Taken taken) {
  if (is_of_view(level) || !stands_alone(level)) return false;
  if (gives_answers(level)) return taken == Taken::kAll;
  return gives_public(level) && is_to_be_asked_once(level);
}

// Whether a subquery in FROM, or the list of one in an expression, is a stage.
bool is_stage(const Level* level, Taken taken) {
  return shows_columns(level->query) && is_asked_alone(level, taken);
}

// A query that selects from this one, and no columns yet.
Query* query_around(Query* query) {
  Query* made = makeNode(Query);
  made->commandType = CMD_SELECT;
  made->canSetTag = true;
  made->stmt_location = query->stmt_location;
  made->stmt_len = query->stmt_len;
  select_from(made, query);
  return made;
}

// Has a query name WITH queries from outside of it by the level around it.
void name_ctes_around(Query* query, Index depth) {
  for (auto* entry : each<RangeTblEntry>(query->rtable)) {
    if (entry->rtekind == RTE_CTE && entry->ctelevelsup > depth) entry->ctelevelsup = depth + 1;
  }
  (void)search(
      query,
      [=](Node* node) {
        if (node == as<Node>(query) || !IsA(node, Query)) return Look::kBelow;
        name_ctes_around(as<Query>(node), depth + 1);
        return Look::kPast;
      },
      kIntoQueries);
}

// The query as one of its own, with the WITH queries that it needs.
Query* alone(const Level* level) {
  auto* query = static_cast<Query*>(copyObjectImpl(level->query));
  List* ctes = NIL;
  (void)find_ctes_around(level, &ctes);
  if (ctes == NIL) return query;
  name_ctes_around(query, 0);
  Query* made = query_around(query);
  for (const auto* cte : each<const CommonTableExpr>(ctes)) {
    auto* copy = static_cast<CommonTableExpr*>(copyObjectImpl(cte));
    name_ctes_around(as<Query>(copy->ctequery), 0);
    made->cteList = lappend(made->cteList, copy);
  }
  for (const auto* column : each<const TargetEntry>(query->targetList)) {
    if (column->resjunk) continue;
    auto* shown = as<Expr>(column_of_table(column));
    made->targetList =
        lappend(made->targetList, makeTargetEntry(shown, column->resno, column->resname, false));
  }
  return made;
}

// ---- What is known of their rows -----------------------------------------------------------

// How many rows of a query are used, as far as LIMIT says it: the parser makes 10 a bigint.
int most_rows(const Query* query) {
  const auto* cast = as<FuncExpr>(query->limitCount);
  const bool is_stated = cast != nullptr && query->limitOption != LIMIT_OPTION_WITH_TIES &&
                         IsA(cast, FuncExpr) && cast->funcid == F_INT8_INT4;
  const auto* constant = is_stated ? static_cast<Const*>(linitial(cast->args)) : nullptr;
  if (constant == nullptr || !IsA(constant, Const) || constant->constisnull) return kMostStageRows;
  return Min(Max(DatumGetInt32(constant->constvalue), 0), kMostStageRows);
}

// The query of the only entry of FROM, or null.
const Level* only_source(const Level* level) {
  const List* from = level->query->jointree->fromlist;
  if (list_length(from) != 1 || !IsA(linitial(from), RangeTblRef)) return nullptr;
  return entry_of(level, static_cast<const RangeTblRef*>(linitial(from))->rtindex).below;
}

bool gives_sets(const Query* query) {
  return query->hasTargetSRFs || query->setOperations != nullptr;
}

bool has_one_row(const Level* level) {
  const Query* query = level->query;
  if (most_rows(query) == 1) return true;
  if (gives_sets(query)) return false;
  if (query->jointree->fromlist == NIL) return true;
  if (query->hasAggs && query->groupClause == NIL && query->groupingSets == NIL) return true;
  const Level* source = combines_rows(query) ? nullptr : only_source(level);
  return source != nullptr && has_one_row(source);
}

// The columns with these keys of GROUP BY or DISTINCT, or null if a key is not shown.
Bitmapset* columns_of(const List* keys, List* columns) {
  Bitmapset* found = nullptr;
  for (auto* key : each<SortGroupClause>(keys)) {
    const TargetEntry* column = get_sortgroupclause_tle(key, columns);
    if (column->resjunk) return nullptr;
    found = bms_add_member(found, column->resno);
  }
  return found;
}

// Columns in which no two rows are equal, or null if none are known.
Bitmapset* keys_of(const Level* level) {
  const Query* query = level->query;
  if (gives_sets(query) || query->groupingSets != NIL) return nullptr;
  if (query->distinctClause != NIL) return columns_of(query->distinctClause, query->targetList);
  if (query->groupClause != NIL) return columns_of(query->groupClause, query->targetList);
  const Level* source = combines_rows(query) ? nullptr : only_source(level);
  const Bitmapset* below = source == nullptr ? nullptr : keys_of(source);
  Bitmapset* shown = nullptr;
  Bitmapset* found = nullptr;
  for (const auto* column : each<const TargetEntry>(query->targetList)) {
    const auto* key = as<Var>(column->expr);
    if (column->resjunk || !IsA(key, Var) || key->varlevelsup > 0) continue;
    if (!bms_is_member(key->varattno, below) || bms_is_member(key->varattno, shown)) continue;
    shown = bms_add_member(shown, key->varattno);
    found = bms_add_member(found, column->resno);
  }
  return bms_equal(shown, below) ? found : nullptr;
}

// ---- Taking them out -----------------------------------------------------------------------

void stage_level(Staging* staging, const Level* level, Taken taken);

// The public subqueries in one of answers are stages of their own, before it.
Stage* add_stage(Staging* staging, const Level* level, StagePlace place, Oid type) {
  auto* stage = static_cast<Stage*>(palloc0(sizeof(Stage)));
  if (reads_protected_rows(level)) stage_level(staging, level, Taken::kPublicAlone);
  Query* query = alone(level);
  query->stmt_location = staging->whole->stmt_location;
  query->stmt_len = staging->whole->stmt_len;
  stage->query = query;
  stage->place = place;
  stage->parameter = staging->next_parameter;
  stage->type = type;
  stage->most_rows = has_one_row(level) ? 1 : most_rows(level->query);
  stage->is_public = !reads_protected_rows(level);
  const Bitmapset* keys = keys_of(level);
  for (int key = -1; (key = bms_next_member(keys, key)) >= 0;) {
    stage->keys = lappend_int(stage->keys, key);
  }
  staging->stages = lappend(staging->stages, stage);
  staging->levels = lappend(staging->levels, const_cast<Level*>(level));
  return stage;
}

Node* next_parameter(Staging* staging, Oid type, int32 modifier, Oid collation, int location) {
  Param* parameter = makeNode(Param);
  parameter->paramkind = PARAM_EXTERN;
  parameter->paramid = staging->next_parameter++;
  parameter->paramtype = type;
  parameter->paramtypmod = modifier;
  parameter->paramcollid = collation;
  parameter->location = location;
  return as<Node>(parameter);
}

// The first column, which is the only one of a subquery in an expression.
Node* shown_by(const Level* level) {
  return as<Node>(static_cast<TargetEntry*>(linitial(level->query->targetList))->expr);
}

// These return what takes the place of a subquery, or null if it stays.
Node* stage_value(Staging* staging, const SubLink* subquery, const Level* level) {
  if (reads_protected_rows(level) && !has_one_row(level)) {
    refuse(staging->refused, subquery->location,
           "a subquery of private answers that is used as a value may give several rows",
           "Add LIMIT 1, or leave out GROUP BY.");
  }
  const Node* value = shown_by(level);
  add_stage(staging, level, StagePlace::kValue, exprType(value));
  return next_parameter(staging, exprType(value), exprTypmod(value), exprCollation(value),
                        subquery->location);
}

Node* stage_array(Staging* staging, const SubLink* subquery, const Level* level) {
  const Node* value = shown_by(level);
  const Oid array = get_array_type(exprType(value));
  if (!OidIsValid(array)) return nullptr;
  add_stage(staging, level, StagePlace::kArray, array);
  return next_parameter(staging, array, -1, exprCollation(value), subquery->location);
}

// EXISTS (...) becomes (SELECT true FROM (...) LIMIT 1) IS NOT NULL.
Node* stage_existence(Staging* staging, const SubLink* subquery, const Level* level) {
  Stage* stage = add_stage(staging, level, StagePlace::kValue, BOOLOID);
  Query* first = query_around(const_cast<Query*>(stage->query));
  first->targetList = list_make1(
      makeTargetEntry(as<Expr>(makeBoolConst(true, false)), 1, pstrdup("exists"), false));
  first->limitCount = as<Node>(
      makeConst(INT8OID, -1, InvalidOid, sizeof(int64), Int64GetDatum(1), false, FLOAT8PASSBYVAL));
  stage->query = first;
  stage->most_rows = 1;
  NullTest* test = makeNode(NullTest);
  test->arg = as<Expr>(next_parameter(staging, BOOLOID, -1, InvalidOid, subquery->location));
  test->nulltesttype = IS_NOT_NULL;
  test->location = subquery->location;
  return as<Node>(test);
}

bool is_shown_value(const Node* node) {
  return IsA(node, Param) && as<Param>(node)->paramkind == PARAM_SUBLINK;
}

// The query around that shows what is compared: its value, perhaps by a cast.
Query* with_cast(Query* query, Node* compared) {
  if (is_shown_value(compared)) return query;
  const auto* first = static_cast<TargetEntry*>(linitial(query->targetList));
  Query* made = query_around(query);
  Node* cast = mapped(compared, [=](const Node* node) {
    return is_shown_value(node) ? as<Node>(column_of_table(first)) : nullptr;
  });
  made->targetList = list_make1(makeTargetEntry(as<Expr>(cast), 1, first->resname, false));
  return made;
}

// `compared_with`: what stands on its left, without stages.
Node* stage_comparison(Staging* staging, const SubLink* subquery, const Level* level,
                       Node* compared_with) {
  const auto* comparison = as<OpExpr>(subquery->testexpr);
  auto* compared = static_cast<Node*>(lsecond(comparison->args));
  const Oid type = get_array_type(exprType(compared));
  const bool is_computed_of_value = any_node(compared, is_shown_value);
  if (!OidIsValid(type) || !is_computed_of_value) return nullptr;
  Stage* stage = add_stage(staging, level, StagePlace::kArray, type);
  stage->query = with_cast(const_cast<Query*>(stage->query), compared);
  Node* array = next_parameter(staging, type, -1, exprCollation(compared), subquery->location);
  ScalarArrayOpExpr* made = makeNode(ScalarArrayOpExpr);
  made->opno = comparison->opno;
  made->opfuncid = get_opcode(comparison->opno);
  made->useOr = subquery->subLinkType == ANY_SUBLINK;
  made->inputcollid = comparison->inputcollid;
  made->args = list_make2(compared_with, array);
  made->location = subquery->location;
  return as<Node>(made);
}

// In the trees of a level itself. What is below its entries are levels of their own.
template <class Tree>
Tree* without_stages(Staging* staging, const Level* level, Taken taken, Tree* tree) {
  return mapped(tree, [=](const Node* node) -> Node* {
    if (!IsA(node, SubLink)) return nullptr;
    const auto* subquery = as<SubLink>(node);
    const Level* below = level_of(level, subquery->subselect);
    if (below == nullptr || list_member_ptr(staging->levels, below)) return nullptr;
    const bool is_public_value = subquery->subLinkType == EXPR_SUBLINK && !is_of_view(below) &&
                                 gives_public(below) && shows_columns(below->query) &&
                                 stands_alone(below);
    const bool is_taken = subquery->subLinkType == EXISTS_SUBLINK
                              ? is_asked_alone(below, taken)
                              : is_public_value || is_stage(below, taken);
    if (!is_taken) return nullptr;
    switch (subquery->subLinkType) {
      case EXISTS_SUBLINK:
        return stage_existence(staging, subquery, below);
      case EXPR_SUBLINK:
        return stage_value(staging, subquery, below);
      case ARRAY_SUBLINK:
        return stage_array(staging, subquery, below);
      case ANY_SUBLINK:
      case ALL_SUBLINK: {
        if (!IsA(subquery->testexpr, OpExpr)) return nullptr;
        auto* left = static_cast<Node*>(linitial(as<OpExpr>(subquery->testexpr)->args));
        left = without_stages(staging, level, taken, left);
        return stage_comparison(staging, subquery, below, left);
      }
      default:
        return nullptr;  // refused later
    }
  });
}

bool has_subqueries(const Query* level) {
  return search(
      level, [](const Node* node) { return IsA(node, SubLink) ? Look::kFound : Look::kBelow; },
      kIntoQueries | QTW_IGNORE_RC_SUBQUERIES);
}

void stage_subqueries(Staging* staging, const Level* level, Taken taken) {
  Query* query = level->query;
  query->targetList = without_stages(staging, level, taken, query->targetList);
  query->jointree = without_stages(staging, level, taken, query->jointree);
  query->havingQual = without_stages(staging, level, taken, query->havingQual);
  for (auto* entry : each<RangeTblEntry>(query->rtable)) {
    entry->functions = without_stages(staging, level, taken, entry->functions);
  }
  query->hasSubLinks = has_subqueries(query);
}

// Answers that are joined with rows need columns by which it can be, of types whose values can be
// made up. Of public rows it is seen when they are there, before anything is charged.
void require_keys(const Staging* staging, const Level* level, const char* name) {
  if (!reads_protected_rows(level) || has_one_row(level)) return;
  const Bitmapset* keys = keys_of(level);
  for (const auto* column : each<const TargetEntry>(level->query->targetList)) {
    const Oid type = exprType(as<Node>(column->expr));
    if (!bms_is_member(column->resno, keys) || count_made_up_values(type, 1) > 0) continue;
    refuse(staging->refused, kNowhere,
           psprintf("\"%s\" has a key of type %s, so that it cannot be joined with protected rows",
                    name, format_type_be(type)),
           "Join by keys of numbers, texts, dates, times, booleans or enums: cast the others.");
  }
  if (keys != nullptr) return;
  refuse(staging->refused, kNowhere,
         psprintf("no columns of \"%s\" are known in which its rows of private answers differ, so "
                  "that it cannot be joined with protected rows",
                  name),
         "Join one query with GROUP BY, and show all of its keys.");
}

// What takes the place of a table.
struct Table {
  RangeTblEntry* values;  // of parameters, by the first of which it is found again
  Node* has_rows;         // a parameter: VALUES have a row in any case
};

Table stage_table(Staging* staging, const Level* level) {
  add_stage(staging, level, StagePlace::kTable, BOOLOID);
  Node* has_rows = next_parameter(staging, BOOLOID, -1, InvalidOid, -1);
  RangeTblEntry* values = makeNode(RangeTblEntry);
  values->rtekind = RTE_VALUES;
  List* row = NIL;
  for (const auto* column : each<const TargetEntry>(level->query->targetList)) {
    if (column->resjunk) continue;
    const auto* value = as<Node>(column->expr);
    const Oid type = exprType(value);
    const int32 modifier = exprTypmod(value);
    const Oid collation = exprCollation(value);
    row = lappend(row, next_parameter(staging, type, modifier, collation, -1));
    values->coltypes = lappend_oid(values->coltypes, type);
    values->coltypmods = lappend_int(values->coltypmods, modifier);
    values->colcollations = lappend_oid(values->colcollations, collation);
  }
  values->values_lists = list_make1(row);
  return {values, has_rows};
}

Node* both(Node* condition, const Node* other) {
  return make_and_qual(condition, static_cast<Node*>(copyObjectImpl(other)));
}

// Puts a condition where it leaves out the rows of FROM that have a row of an entry: in the
// condition of the innermost join that keeps the rows of its other side, or in WHERE. Returns
// whether the entry is in a part of FROM, and the condition is still to be put further out.
bool put_condition(Node* from, int number, const Node* condition) {
  if (IsA(from, RangeTblRef)) return as<RangeTblRef>(from)->rtindex == number;
  if (IsA(from, JoinExpr)) {
    auto* join = as<JoinExpr>(from);
    const bool is_left = put_condition(join->larg, number, condition);
    const bool is_right = !is_left && put_condition(join->rarg, number, condition);
    const bool may_be_absent =
        (is_left && join->jointype == JOIN_RIGHT) || (is_right && join->jointype == JOIN_LEFT);
    if (may_be_absent) join->quals = both(join->quals, condition);
    return (is_left || is_right) && !may_be_absent;
  }
  auto* where = as<FromExpr>(from);
  for (auto* part : each<Node>(where->fromlist)) {
    if (put_condition(part, number, condition)) where->quals = both(where->quals, condition);
  }
  return false;
}

void put_table(const Level* level, int number, const Table& table) {
  RangeTblEntry* entry = entry_of(level, number).table;
  RangeTblEntry made = *table.values;
  made.alias = entry->alias;
  made.eref = entry->eref;
  made.inFromCl = entry->inFromCl;
  *entry = made;
  (void)put_condition(as<Node>(level->query->jointree), number, table.has_rows);
}

// Wherever the statement names the WITH query.
void put_in_place(const Level* level, const CommonTableExpr* cte, const Table& table) {
  for (int i = 1; i <= list_length(level->query->rtable); ++i) {
    if (entry_of(level, i).cte == cte) put_table(level, i, table);
  }
  for (const auto* below : each<const Level>(level->below)) put_in_place(below, cte, table);
}

// Whether subqueries that are stages name a WITH query. It is asked once for all of them.
bool is_named_by_stages(const Level* level, const CommonTableExpr* cte) {
  for (const auto* below : each<const Level>(level->below)) {
    const bool may_be_stage = shows_rows(level) && gives_answers(below);
    if (may_be_stage ? names(below, cte) : is_named_by_stages(below, cte)) return true;
  }
  return false;
}

// Whether a WITH query of answers is a stage: it is named beside rows, or by what is a stage.
bool is_asked_first(const Level* level, const CommonTableExpr* cte) {
  if (names(level, cte, true) || is_named_by_stages(level, cte)) return true;
  for (const auto* other : each<const CommonTableExpr>(level->query->cteList)) {
    const Level* below = other == cte ? nullptr : level_of(level, other->ctequery);
    const bool names_it = below != nullptr && gives_answers(below) && names(below, cte);
    if (names_it && is_asked_first(level, other)) return true;
  }
  return false;
}

// In their order, so that a later one may name an earlier one: its rows are the same for both.
void stage_with_queries(Staging* staging, const Level* level, Taken taken) {
  for (auto* cte : each<CommonTableExpr>(list_copy(level->query->cteList))) {
    const Level* below = level_of(level, cte->ctequery);
    if (below == nullptr || cte->cterecursive || !names(level, cte)) continue;
    if (!is_stage(below, taken) || !is_asked_first(level, cte)) {
      stage_level(staging, below, taken);
      continue;
    }
    if (names(level, cte, true)) require_keys(staging, below, cte->ctename);
    put_in_place(level, cte, stage_table(staging, below));
    level->query->cteList = list_delete_ptr(level->query->cteList, cte);
  }
}

// Whether the right to read it is asked for where it is named: until PostgreSQL 15 by an entry in
// its query.
bool is_view(const Level* level, const Entry& entry) {
  if (OidIsValid(entry.table->relid)) return true;
  return is_of_view(entry.below) || OidIsValid(checked_user(level->query, entry.table));
}

void stage_derived_tables(Staging* staging, const Level* level, Taken taken) {
  for (int i = 1; i <= list_length(level->query->rtable); ++i) {
    const Entry& entry = entry_of(level, i);
    const bool is_derived = entry.is_in_from && entry.below != nullptr &&
                            entry.borrowed == nullptr && entry.table->rtekind == RTE_SUBQUERY;
    if (!is_derived || is_view(level, entry) || !is_stage(entry.below, taken)) continue;
    require_keys(staging, entry.below, entry.table->eref->aliasname);
    put_table(level, i, stage_table(staging, entry.below));
  }
}

// Whether a view reads no relation that an owner has protected.
bool is_of_public_tables(const Level* view) {
  for (const Oid relation : each_oid(view->relations)) {
    if (find_protected_relation(relation) != nullptr) return false;
  }
  return !reads_protected_rows(view);
}

// Views beside protected rows get a derived table around them, which is asked as a statement of its
// own, with the rights on the view that the role has. Returns whether there are some.
bool put_public_views_below(const Level* level) {
  bool changes = false;
  for (int i = 1; shows_rows(level) && i <= list_length(level->query->rtable); ++i) {
    const Entry& entry = entry_of(level, i);
    const bool is_public = entry.is_in_from && entry.below != nullptr &&
                           entry.borrowed == nullptr && entry.table->rtekind == RTE_SUBQUERY &&
                           is_view(level, entry) && is_of_public_tables(entry.below);
    if (!is_public) continue;
    put_view_below(level->query, entry.table);
    changes = true;
  }
  for (const auto* below : each<const Level>(level->below)) {
    if (!is_of_view(below)) changes |= put_public_views_below(below);
  }
  return changes;
}

bool is_with_query(const Level* level, const Level* below) {
  for (const auto* cte : each<const CommonTableExpr>(level->query->cteList)) {
    if (cte->ctequery == as<Node>(below->query)) return true;
  }
  return false;
}

bool is_body_of_view(const Level* level, const Level* below) {
  for (int i = 1; i <= list_length(level->query->rtable); ++i) {
    const Entry& entry = entry_of(level, i);
    if (entry.below == below && entry.cte == nullptr && is_view(level, entry)) return true;
  }
  return false;
}

void stage_level(Staging* staging, const Level* level, Taken taken) {
  if (is_of_view(level)) return;
  List* others = NIL;
  for (auto* below : each<Level>(level->below)) {
    const bool is_other = !is_with_query(level, below) && !is_body_of_view(level, below);
    if (is_other) others = lappend(others, below);
  }
  stage_with_queries(staging, level, taken);
  if (shows_rows(level)) {
    stage_derived_tables(staging, level, taken);
    if (level->query->hasSubLinks) stage_subqueries(staging, level, taken);
  }
  for (const auto* below : each<const Level>(others)) {
    if (!list_member_ptr(staging->levels, below)) stage_level(staging, below, taken);
  }
}

// PostgreSQL does not run a WITH query that nobody names.
void forget_unnamed(const Level* level) {
  for (auto* cte : each<CommonTableExpr>(list_copy(level->query->cteList))) {
    const Level* below = level_of(level, cte->ctequery);
    const bool is_unnamed = below != nullptr && below->query->commandType == CMD_SELECT &&
                            !cte->cterecursive && !names(level, cte);
    if (is_unnamed) level->query->cteList = list_delete_ptr(level->query->cteList, cte);
  }
  for (const auto* below : each<const Level>(level->below)) forget_unnamed(below);
}

// What fails, or cannot be joined, does so before anything is charged. No public query names a
// table of answers.
List* public_first(const List* stages) {
  List* sorted = NIL;
  for (const bool is_public : {true, false}) {
    for (auto* stage : each<Stage>(stages)) {
      if (stage->is_public == is_public) sorted = lappend(sorted, stage);
    }
  }
  return sorted;
}

// In a part itself, a subquery that has no protected rows left has answers in the place of some.
List* answers_of(const List* stages) {
  List* answers = list_copy(parameters_of_answers());
  const bool is_part = answers != NIL;
  for (const auto* stage : each<const Stage>(stages)) {
    if (is_part || !stage->is_public) answers = lappend_int(answers, stage->parameter);
  }
  return answers;
}

}  // namespace

StagedQuery* stage_query(Query* query, const char* text) {
  if (query->commandType != CMD_SELECT) return nullptr;
  List* borrowed = find_borrowed_relations(query);
  if (borrowed == NIL) return nullptr;
  const Statement* statement = read_statement(query, borrowed);
  if (statement->most_scans > kMostScans) return nullptr;  // refused later
  if (group_by_persons_of_keys(statement->top)) statement = read_statement(query, borrowed);
  if (put_public_views_below(statement->top)) statement = read_statement(query, borrowed);
  note_subqueries_by_key(statement->top);
  Staging staging{};
  staging.whole = query;
  staging.refused = {.text = text,
                     .relation = name_of(static_cast<BorrowedRelation*>(linitial(borrowed))),
                     .answers_plain_sql = answers_plain_sql(borrowed)};
  const int own_parameters = largest_parameter(query);
  staging.next_parameter = own_parameters + 1;
  stage_level(&staging, statement->top, Taken::kAll);
  if (staging.stages == NIL) return nullptr;
  forget_unnamed(statement->top);
  auto* staged = static_cast<StagedQuery*>(palloc0(sizeof(StagedQuery)));
  *staged = {public_first(staging.stages), query, own_parameters, answers_of(staging.stages)};
  return staged;
}

}  // namespace dpquantile
