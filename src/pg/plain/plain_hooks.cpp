#include "pg/plain/plain_hooks.hpp"

#include "pg/borrowed/planned_time_zone.hpp"
#include "pg/grants/borrowed_relations.hpp"
#include "pg/plain/plain_query.hpp"
#include "pg/server/nodes.hpp"
#include "pg/vocabulary/foreign_code.hpp"

extern "C" {
#include "optimizer/planner.h"
#include "utils/guc.h"
#include "utils/plancache.h"
}

namespace dpquantile {

namespace {

planner_hook_type previous_planner = nullptr;
double epsilon_of_session = 0;

// Plans have the epsilon in them.
void plan_anew(double, void*) {
  ResetPlanCache();
}

PlannedStmt* plan_as_before(Query* query, const char* text, int options, ParamListInfo params) {
  return (previous_planner != nullptr ? previous_planner : standard_planner)(query, text, options,
                                                                             params);
}

// A list of keys is planned anew when the domains of its relation change, although the plan does
// not read the relation.
void depend_on(PlannedStmt* plan, const List* relations) {
  for (const Oid relation : each_oid(relations)) {
    plan->relationOids = list_append_unique_oid(plan->relationOids, relation);
  }
  plan->dependsOnRole = true;
}

// No function of others is called, whatever the gate has overlooked.
void translate(Query* query, const char* text, Reasons* reasons) {
  const bool before = begin_without_foreign_code();
  PG_TRY();
  translate_plain_query(query, text, epsilon_of_session, reasons);
  PG_FINALLY();
  end_without_foreign_code(before);
  PG_END_TRY();
}

// Functions of the user that are evaluated while a query is planned may plan others.
PlannedStmt* plan_plain(Query* query, const char* text, int options, ParamListInfo params) {
  const List* relations = borrowed_oids(query);
  if (relations == NIL) return plan_as_before(query, text, options, params);
  PlannedStmt* volatile plan = nullptr;
  const bool noted = forget_time_zone();
  PG_TRY();
  {
    translate(query, text, nullptr);
    plan = plan_as_before(query, text, options, params);
  }
  PG_FINALLY();
  restore_time_zone(noted);
  PG_END_TRY();
  depend_on(plan, relations);
  return plan;
}

}  // namespace

void translate_for_session(Query* query, const char* text, Reasons* reasons) {
  const bool noted = forget_time_zone();
  PG_TRY();
  translate(query, text, reasons);
  PG_FINALLY();
  restore_time_zone(noted);
  PG_END_TRY();
}

void install_plain_hooks() {
  DefineCustomRealVariable(
      "dpquantile.epsilon", "The epsilon of each standard aggregate over protected tables.",
      "At most that of the grant (dp_grant_private_access). 0: that of the grant.",
      &epsilon_of_session, 0, 0, 100, PGC_USERSET, 0, nullptr, plan_anew, nullptr);
  previous_planner = planner_hook;
  planner_hook = plan_plain;
}

}  // namespace dpquantile
