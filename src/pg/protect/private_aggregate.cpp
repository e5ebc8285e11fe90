#include "pg/protect/private_aggregate.hpp"

#include "pg/borrowed/early_values.hpp"
#include "pg/parameters/private_call.hpp"
#include "pg/parameters/public_functions.hpp"
#include "pg/protect/accepted_shape.hpp"
#include "pg/protect/column_traits.hpp"
#include "pg/protect/concatenation.hpp"
#include "pg/protect/early_expressions.hpp"
#include "pg/protect/inside.hpp"
#include "pg/protect/outside.hpp"
#include "pg/protect/row_work.hpp"
#include "pg/protect/user_of_row.hpp"
#include "pg/server/own_objects.hpp"
#include "pg/server/trees.hpp"
#include "pg/vocabulary/node_functions.hpp"
#include "pg/vocabulary/own_function.hpp"

extern "C" {
#include "access/transam.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteManip.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

constexpr char kPrivateHint[] =
    "Ask private aggregates, such as dp_count(0.1), dp_avg(column, 0.1, lower, upper) or "
    "dp_median(column, 0.1, lower, upper).";
constexpr char kModeHint[] =
    "Ask how often there is each value, and take the first: SELECT kind, dp_count(0.1) FROM visits "
    "GROUP BY kind ORDER BY 2 DESC LIMIT 1, or count(*) in plain SQL.";
constexpr char kTruthHint[] =
    "Ask the share of the rows, dp_avg(x::int, 0.1, 0, 1), or in plain SQL count(*) FILTER (WHERE "
    "x) "
    "> 0 for bool_or and count(*) FILTER (WHERE NOT x) = 0 for bool_and. Noise may decide about "
    "few "
    "rows.";
constexpr char kListHint[] =
    "It would show values of single rows. Those that many rows have are the keys of groups: GROUP "
    "BY "
    "kind.";
constexpr char kUserGroupHint[] =
    "Write dp_keep_group with this column as user_id, and max_groups: the most groups of a person.";

[[noreturn]] void refuse_call(const JudgedLevel* level, const Aggref* call, const char* reason,
                              const char* hint) {
  refuse(level->statement->refused, call->location, reason, hint);
}

const char* hint_for_other_aggregate(const JudgedStatement* statement, const Aggref* call) {
  if (call->aggfnoid == F_MODE) return kModeHint;
  const bool is_standard = call->aggfnoid < FirstUnpinnedObjectId;
  const char* name = is_standard ? get_func_name(call->aggfnoid) : nullptr;
  if (name != nullptr && is_one_of(name, "bool_or bool_and every")) return kTruthHint;
  if (name != nullptr && is_one_of(name, "string_agg array_agg json_agg jsonb_agg")) {
    return kListHint;
  }
  const RefusedQuery& refused = statement->refused;
  const bool needs_persons = refused.user_column != nullptr && !refused.limits_rows;
  const char* hint = needs_persons ? accepted_aggregate(refused) : kPrivateHint;
  if (!is_standard || refused.answers_plain_sql) return hint;
  return psprintf(
      "%s For plain SQL, such as count(*), ask the owner of the table for an epsilon: "
      "dp_grant_private_access('%s', role, epsilon => 0.1).",
      hint, refused.relation);
}

// A user could make an aggregate with a function of its own before the private final function.
const FamilyRow& family_of(const JudgedLevel* level, const Aggref* call) {
  const FamilyRow* family = private_family(call);
  if (family != nullptr && is_own_object(ProcedureRelationId, call->aggfnoid)) return *family;
  refuse_without_select(level->statement->refused, call->location,
                        psprintf("the aggregate %s is not private", get_func_name(call->aggfnoid)),
                        hint_for_other_aggregate(level->statement, call));
}

void check_form(const JudgedLevel* level, const Aggref* call) {
  const bool is_plain = call->aggkind == AGGKIND_NORMAL && call->aggdistinct == NIL &&
                        call->aggorder == NIL && call->aggdirectargs == NIL &&
                        call->agglevelsup == 0;
  if (is_plain) return;
  refuse_call(level, call,
              "DISTINCT or ORDER BY in a private aggregate would choose rows by other rows",
              "Leave it out. FILTER (WHERE ...) is allowed.");
}

// The grids are shown with exact numbers of users.
void check_grids(const JudgedLevel* level, const Aggref* call, const FamilyRow& family) {
  if (!family.has(Argument::kGrid)) return;
  refuse_call(
      level, call,
      "dp_user_grid_stats is not supported over protected tables: it shows grids as they "
      "are in the rows",
      "Group by a column with a list in its place: SELECT kind, dp_user_mean(person, value, "
      "0.5, lower, upper, dp_options('bounded', max_contributions => 20)) FROM visits GROUP "
      "BY kind.");
}

// Where rows are protected, one row more makes another user of its user: that is one user less and
// one more, which costs an aggregate over users twice its epsilon.
void check_unit_is_row(const JudgedLevel* level, const Aggref* call, const FamilyRow& family) {
  if (!family.hashes_users()) return;
  refuse_call(
      level, call,
      psprintf("%s protects persons, but table \"%s\" protects single rows",
               get_func_name(call->aggfnoid), level->statement->refused.relation),
      "Ask the owner to protect the persons: dp_protect_table('visits', user_id => 'patient').");
}

// The number of different users.
bool counts_users(const JudgedLevel* level, const Aggref* call, const FamilyRow& family) {
  if (family.family != Family::kDistinct) return false;
  const auto* user = static_cast<TargetEntry*>(linitial(call->args))->expr;
  return is_user_column(level, as<Node>(user));
}

bool protects_users(const JudgedLevel* level, const Aggref* call, const FamilyRow& family) {
  if (family.hashes_users()) {
    const auto* user = static_cast<TargetEntry*>(linitial(call->args))->expr;
    if (is_user_column(level, as<Node>(user))) return true;
  }
  // In groups it does not: a user may be in several.
  return level->query->groupClause == NIL && counts_users(level, call, family);
}

// How the rows of a user are limited: what is left of them is protected by an aggregate over rows.
bool limits_rows(const JudgedLevel* level, const FamilyRow& family) {
  return most_rows_of_user(level) > 0 && !family.hashes_users() && !family.selects_groups;
}

const char* hint_for_users_by_group(const char* user) {
  return psprintf(
      "Ask the owner to state max_groups, in how many groups of an answer a person may count, or "
      "to have it found by dp_learn_groups. It is for plain SQL, count(DISTINCT %s), and for "
      "dp_count over SELECT DISTINCT %s, key.",
      user, user);
}

const char* hint_for_user(const JudgedLevel* level, const FamilyRow& family, const char* user) {
  if (most_rows_of_user(level) > 0 && family.selects_groups) return kUserGroupHint;
  const bool needs_max_rows = !family.hashes_users() && !family.selects_groups;
  const char* count = level->statement->refused.answers_plain_sql
                          ? psprintf("count(DISTINCT %s)", user)
                          : psprintf("dp_count_distinct(%s, 0.1), without GROUP BY", user);
  return psprintf(
      "%s dp_user_mean(%s, column, 0.5, lower, upper, dp_options('bounded', max_contributions => "
      "20)), dp_user_variance(...) or, in HAVING, dp_keep_group(%s, 0.5, 1e-6, 1); or %s.",
      needs_max_rows ? "Ask the owner to state max_rows of each table, the most rows of a person "
                       "that an answer sees, or to have it found by dp_learn_limits; or ask"
                     : "Ask",
      user, user, count);
}

// Returns whether the call must see limited rows only.
bool check_user(const JudgedLevel* level, const Aggref* call, const FamilyRow& family) {
  if (level->user_relation->user_column == 0) {
    check_unit_is_row(level, call, family);
    return false;
  }
  if (protects_users(level, call, family)) return false;
  if (level->has_one_row && !family.hashes_users() && !family.selects_groups) return false;
  if (limits_rows(level, family)) return true;
  const BorrowedRelation* users = level->user_relation;
  const char* user = get_attname(users->permissions->relid, users->user_column, false);
  const char* name = quote_identifier(user);
  const char* hint = counts_users(level, call, family) ? hint_for_users_by_group(name)
                                                       : hint_for_user(level, family, name);
  refuse_call(
      level, call,
      psprintf("%s does not protect all rows of a person, whom column \"%s\"%s identifies",
               get_func_name(call->aggfnoid), user,
               users->is_referenced ? psprintf(" of \"%s\"", name_of(users)) : ""),
      users->is_referenced
          ? psprintf("Join \"%s\" by the foreign key to name this column. %s", name_of(users), hint)
          : hint);
}

// ---- The limit of the rows of a user -------------------------------------------------------

Node* row_limit(JudgedLevel* level, const Aggref* call) {
  const Oid types[] = {ANYOID, INT4OID};
  const Oid function = own_function("limited_row", buildoidvector(types, lengthof(types)));
  Node* user = user_of_row(level);
  if (!OidIsValid(function) || user == nullptr) {
    refuse_call(level, call, "the query does not show which person each row belongs to",
                "Name the table itself in FROM.");
  }
  Const* most = makeConst(INT4OID, -1, InvalidOid, sizeof(int32),
                          Int32GetDatum(most_rows_of_user(level)), false, true);
  return as<Node>(makeFuncExpr(function, BOOLOID, list_make2(user, most), InvalidOid, InvalidOid,
                               COERCE_EXPLICIT_CALL));
}

// The aggregate sees at most max_rows rows of a user, and answers with a part of its epsilon for
// each (pg/limits/row_limit.hpp).
void limit_rows_of_users(JudgedLevel* level, Aggref* call) {
  Node* limit = row_limit(level, call);
  auto* filter = as<Node>(call->aggfilter);
  call->aggfilter = as<Expr>(
      filter == nullptr ? limit : as<Node>(makeBoolExpr(AND_EXPR, list_make2(limit, filter), -1)));
}

// A row of the public side without a protected row must not count: the first protected row would
// take its place, which is two changes.
void check_absent(JudgedLevel* level, const Aggref* call, Node* argument) {
  if (!level->has_public_side || is_null_when_absent(level, argument)) return;
  refuse_call(
      level, call,
      psprintf("an argument of %s is not NULL for public rows without a protected row",
               get_func_name(call->aggfnoid)),
      "Leave out COALESCE, CASE and the like, or write them in a derived table of the join.");
}

// Also of the query levels around, and in subqueries.
bool depends_on_column(const JudgedLevel* level, Node* parameter) {
  for (int above = 0; level != nullptr; ++above, level = level->parent) {
    if (contain_vars_of_level(parameter, above)) return true;
    if (contain_aggs_of_level(parameter, above)) return true;
  }
  return false;
}

// The planner refuses subqueries that read tables. With an answer of the statement itself a
// parameter could be out of range when that has been charged.
void check_parameter(JudgedLevel* level, const Aggref* call, Node* parameter) {
  if (depends_on_column(level, parameter)) {
    refuse_with_code(level->statement->refused, ERRCODE_INVALID_PARAMETER_VALUE, call->location,
                     "a parameter of a private aggregate depends on a column",
                     "Write it as a literal or a query parameter.");
  }
  if (has_earlier_answer(parameter)) {
    refuse_with_code(level->statement->refused, ERRCODE_INVALID_PARAMETER_VALUE, call->location,
                     "a parameter of a private aggregate comes from a private answer of the query",
                     "Ask this answer first, and write it as a literal or a query parameter.");
  }
  check_outside(level, parameter, level->statement->check_subquery);
}

// PostgreSQL evaluates a subquery without columns once.
Node* in_subquery(Node* expression) {
  IncrementVarSublevelsUp(expression, 1, 0);
  Query* query = makeNode(Query);
  query->commandType = CMD_SELECT;
  query->canSetTag = true;
  query->hasSubLinks = true;
  query->jointree = makeFromExpr(NIL, nullptr);
  query->targetList =
      list_make1(makeTargetEntry(as<Expr>(expression), 1, pstrdup("parameter"), false));
  SubLink* subquery = makeNode(SubLink);
  subquery->subLinkType = EXPR_SUBLINK;
  subquery->subselect = as<Node>(query);
  subquery->location = exprLocation(expression);
  return as<Node>(subquery);
}

// PostgreSQL would compute a parameter for each row, too. What changes, the planner refuses.
Node* rewrite_parameter(JudgedStatement* statement, Node* checked) {
  if (calls_changing_functions(checked)) return checked;
  if (!checkExprHasSubLink(checked)) return early_value(statement, checked);
  return IsA(checked, SubLink) ? checked : in_subquery(checked);
}

void rewrite_parameters(JudgedLevel* level, const Aggref* call, const FamilyRow& family) {
  ListCell* cell;
  for_each_from(cell, call->args, family.arguments_from_rows()) {
    auto* argument = static_cast<TargetEntry*>(lfirst(cell));
    auto* parameter = as<Node>(argument->expr);
    check_parameter(level, call, parameter);
    argument->expr = as<Expr>(rewrite_parameter(level->statement, parameter));
  }
}

void rewrite_values(JudgedLevel* level, Aggref* call, const FamilyRow& family) {
  if (family.family == Family::kDistinct) count_text_for_row(level, call);
  for (int i = 0; i < family.arguments_from_rows() && i < list_length(call->args); ++i) {
    auto* argument = static_cast<TargetEntry*>(list_nth(call->args, i));
    const bool hashes_value =
        family.hashes_values() && !is_user_column(level, as<Node>(argument->expr));
    Node* value = with_counted_copy(level, rewrite_inside(level, as<Node>(argument->expr)));
    check_absent(level, call, value);
    if (hashes_value) value = with_bounded_reading(level, value);
    argument->expr = as<Expr>(value);
  }
}

}  // namespace

Node* rewrite_aggregate(JudgedLevel* level, Aggref* call) {
  count_node(level->statement, as<Node>(call));
  const FamilyRow& family = family_of(level, call);
  check_form(level, call);
  check_grids(level, call, family);
  const bool is_limited = check_user(level, call, family);
  rewrite_parameters(level, call, family);
  rewrite_values(level, call, family);
  call->aggfilter = as<Expr>(rewrite_inside(level, as<Node>(call->aggfilter)));
  if (is_limited) limit_rows_of_users(level, call);
  return as<Node>(call);
}

bool has_aggregate(const Node* expression) {
  return any_node(expression, [](const Node* node) { return IsA(node, Aggref); });
}

void require_private_aggregates(JudgedLevel* level, Node* expression) {
  visit_nodes(expression, [&](Node* node) {
    if (!IsA(node, Aggref) || as<Aggref>(node)->agglevelsup > 0) return;
    attempt(level, [&] { (void)family_of(level, as<Aggref>(node)); });
  });
}

}  // namespace dpquantile
