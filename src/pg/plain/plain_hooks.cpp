#include "pg/plain/plain_hooks.hpp"

#include "pg/borrowed/early_values.hpp"
#include "pg/borrowed/fresh_plans.hpp"
#include "pg/borrowed/planned_time_zone.hpp"
#include "pg/grants/borrowed_relations.hpp"
#include "pg/parameters/expected_error.hpp"
#include "pg/plain/error_of_answer.hpp"
#include "pg/plain/plain_query.hpp"
#include "pg/plain/public_rows.hpp"
#include "pg/plain/shown_rows.hpp"
#include "pg/plain/standard_aggregate.hpp"
#include "pg/server/mark.hpp"
#include "pg/server/nodes.hpp"
#include "pg/server/noted_errors.hpp"
#include "pg/server/trees.hpp"
#include "pg/vocabulary/foreign_code.hpp"

extern "C" {
#include "executor/executor.h"
#include "lib/stringinfo.h"
#include "optimizer/planner.h"
#include "utils/guc.h"
}

namespace dpquantile {

namespace {

planner_hook_type previous_planner = nullptr;
ExecutorStart_hook_type previous_start = nullptr;
double epsilon_of_session = 0;

PlannedStmt* plan_as_before(DPQ_PLANNER_PARAMETERS) {
  return (previous_planner != nullptr ? previous_planner : standard_planner)(DPQ_PLANNER_ARGUMENTS);
}

// A list of keys depends on its relation, too, although the plan does not read it.
void depend_on(PlannedStmt* plan, const List* relations) {
  for (const Oid relation : each_oid(relations)) {
    plan->relationOids = list_append_unique_oid(plan->relationOids, relation);
  }
}

const char* names_of(const List* keys) {
  StringInfoData names;
  initStringInfo(&names);
  for (const auto* key : each<const char>(keys)) {
    appendStringInfo(&names, "%s\"%s\"", names.len == 0 ? "" : ", ", key);
  }
  return names.data;
}

// A list of keys leaves rows out that PostgreSQL would show in a group of their own. The notice
// follows from what is stated of columns, so it tells nothing of the rows.
void tell_of_rows_without_group(const Statement* statement) {
  if (const List* keys = statement->keys_without_null) {
    ereport(NOTICE,
            (errmsg("rows whose key is NULL, or not in its public list, are in no group: %s",
                    names_of(keys)),
             errhint("To have a group for NULL, ask the owner of the table for a list with NULL "
                     "(dp_set_domain), or group by coalesce(key, value). Write WHERE key IS NOT "
                     "NULL if these rows are not wanted.")));
  }
  if (const List* keys = statement->keys_without_many_rows) {
    ereport(NOTICE,
            (errmsg("persons with more than max_rows rows may be in no group: %s", names_of(keys)),
             errhint("Group by least(key, 30), whose last group has all that are above, or "
                     "add WHERE key <= 30, with a number of yours.")));
  }
}

// Conditions on rows leave out no key of a list. The notice follows from the query and the grants.
void tell_of_listed_keys(const Statement* statement) {
  const List* keys = statement->keys_of_lists;
  if (keys == NIL) return;
  ereport(NOTICE, (errmsg("keys are those of a public list, whether or not rows have them: %s",
                          names_of(keys)),
                   errhint("Conditions on the keys and on public tables leave keys out, others do "
                           "not. Show count(*) besides to see which keys many rows have.")));
}

// Who asks for the largest value may take the bound for it.
void tell_of_bounds(const List* answered_by_bounds) {
  if (answered_by_bounds == NIL) return;
  ereport(NOTICE,
          (errmsg("min and max answer the public bounds of their values, whatever the rows are"),
           errhint("For a low or a high value of the rows ask percentile_disc(0.01) or "
                   "percentile_disc(0.99) WITHIN GROUP (ORDER BY value).")));
}

// Whether a part is planned once more, so that all but what is new has been told.
bool has_told() {
  return is_in_stages() && row_lists() == RowLists::kNotTaken;
}

// A table of groups with private keys leaves out those of few rows, as it must. Who reads it, or
// adds up what it shows, may not know that. The notice follows from the query, the grants and what
// is stated of columns.
void tell_of_chosen_groups(const Statement* statement) {
  for (const auto* chosen : each<const ChosenGroups>(statement->chosen_groups)) {
    const bool is_new = chosen->reason != nullptr && strcmp(chosen->reason, kListNotTaken) == 0;
    if (has_told() && !is_new) continue;
    const double least = least_shown_group(chosen->epsilon, chosen->delta,
                                           static_cast<uint64>(Max(chosen->groups_of_person, 1)));
    const char* counted = chosen->groups_of_person > 0 ? "persons" : "rows";
    const bool is_computed_of = statement->aggregates_chosen_groups;
    ereport(NOTICE,
            (errmsg("groups of fewer than %.0f %s may be hidden%s", least, counted,
                    is_computed_of ? ", and are then not in what is computed of the groups" : ""),
             errdetail("Which groups are shown is chosen privately.%s%s",
                       chosen->reason != nullptr ? " " : "",
                       chosen->reason != nullptr ? chosen->reason : ""),
             chosen->has_list
                 ? errhint("SELECT DISTINCT of the keys without conditions shows their list, free.")
             : is_computed_of
                 ? errhint("Ask the rows themselves: percentile_cont(0.5) WITHIN GROUP (ORDER BY "
                           "value) for a median, an aggregate without GROUP BY for a total. Or ask "
                           "the owner of the table for a list of the keys (dp_set_domain or "
                           "dp_learn_keys).")
             : chosen->is_public_key
                 ? errhint("Group by the column that refers to its table, and join the table with "
                           "the answers.")
                 : errhint("Have fewer keys: shorten their range by WHERE, or group by fewer or "
                           "coarser ones. Or ask the owner of the table for a list of them "
                           "(dp_set_domain or dp_learn_keys).")));
  }
}

// Whether standard aggregates are asked without their errors.
bool asks_without_errors(const Query* query) {
  bool asks = false;
  const auto asks_for_error = [&](const Node* node) {
    asks |= IsA(node, Aggref) && is_standard_aggregate(as<Aggref>(node));
    return is_error_of_answer(node);
  };
  return !any_node(query, asks_for_error, kIntoQueries) && asks;
}

PlannedStmt* plan_plain(DPQ_PLANNER_PARAMETERS) {
  const List* relations = borrowed_oids(query);
  if (relations == NIL) return plan_as_before(DPQ_PLANNER_ARGUMENTS);
  begin_fresh_plan();
  const bool notes_errors = asks_without_errors(query);
  const Statement* statement = translate_for_session(query, text, nullptr, params);
  const auto shown = most_shown_rows(statement, params);
  PlannedStmt* plan = plan_as_before(DPQ_PLANNER_ARGUMENTS);
  depend_on(plan, relations);
  if (shown) put_mark(&plan->rtable, ShownRows{*shown});
  if (notes_errors) put_mark(&plan->rtable, NotedErrors{true});
  if (statement->has_values_of_time_zone || statement->has_values_of_date_style) {
    mark_time_zone(plan, statement->has_values_of_date_style);
  }
  require_short_texts(plan, statement);
  mark_rows(plan, statement);
  if (!has_told()) {
    tell_of_bounds(statement->answered_by_bounds);
    tell_of_listed_keys(statement);
    tell_of_rows_without_group(statement);
  }
  tell_of_chosen_groups(statement);
  return plan;
}

void start_plain(QueryDesc* query, int flags) {
  forget_fresh_plans();
  require_rows(query->plannedstmt, query->snapshot);
  (previous_start != nullptr ? previous_start : standard_ExecutorStart)(query, flags);
}

}  // namespace

// No function of others is called, whatever the gate has overlooked.
const Statement* translate_for_session(Query* query, const char* text, Reasons* reasons,
                                       ParamListInfo parameters) {
  const bool before = begin_without_foreign_code();
  const Statement* volatile statement = nullptr;
  PG_TRY();
  statement = translate_plain_query(query, text, epsilon_of_session, reasons, parameters);
  PG_FINALLY();
  end_without_foreign_code(before);
  PG_END_TRY();
  return statement;
}

void install_plain_hooks() {
  DefineCustomRealVariable(
      "dpquantile.epsilon", "The epsilon of each standard aggregate over protected tables.",
      "At most that of the grant (dp_grant_private_access). 0: that of the grant.",
      &epsilon_of_session, 0, 0, 100, PGC_USERSET, 0, nullptr, nullptr, nullptr);
  DefineCustomIntVariable(
      "dpquantile.max_rows", "The most rows of a person that an answer over protected tables uses.",
      "At most max_rows of the table (dp_protect_table). 0: that of the table.",
      &max_rows_of_session, 0, 0, 1000, PGC_USERSET, 0, nullptr, nullptr, nullptr);
  install_fresh_plans();
  previous_planner = planner_hook;
  planner_hook = plan_plain;
  previous_start = ExecutorStart_hook;
  ExecutorStart_hook = start_plain;
}

}  // namespace dpquantile
