#include "pg/protect/answer_reuse.hpp"

#include "pg/protect/borrowed_relations.hpp"
#include "pg/protect/protection_catalog.hpp"

extern "C" {
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "utils/guc.h"
}

namespace dpquantile {

namespace {

bool reuses = true;

void add_parameter(KeyText* key, ParamListInfo parameters, int number) {
  ParamExternData fetched;
  const ParamExternData* parameter =
      parameters->paramFetch == nullptr
          ? &parameters->params[number - 1]
          : parameters->paramFetch(parameters, number, true, &fetched);
  add_value(key, parameter->ptype, parameter->value,
            parameter->isnull || !OidIsValid(parameter->ptype));
}

// What the tables protect.
void add_units(KeyText* key, const BorrowedPlan& mark) {
  const ListCell* cell;
  foreach (cell, mark.user_columns) add_number(key, static_cast<uint64>(lfirst_int(cell)));
  foreach (cell, mark.max_rows) add_number(key, static_cast<uint64>(lfirst_int(cell)));
}

}  // namespace

void install_answer_reuse() {
  DefineCustomBoolVariable("dpquantile.reuse",
                           "Whether private queries show kept answers again, without a charge.",
                           "Off: each query is charged, and its answers are kept anew.", &reuses,
                           true, PGC_USERSET, 0, nullptr, nullptr, nullptr);
}

bool answers_are_kept(const List* borrowed) {
  const ListCell* cell;
  foreach (cell, borrowed) {
    const auto* relation = static_cast<const BorrowedRelation*>(lfirst(cell));
    const auto granted = private_access(relation->permissions->relid, GetUserId());
    if (!granted || granted->reuse <= 0) return false;
  }
  return true;
}

bool wants_fresh_answers() {
  return !reuses;
}

bool is_same_whenever_asked(const ReleaseNode* node) {
  const Plan* plan = node->scan.ss.ps.plan;
  return node->plan.identity != 0 && bms_is_empty(plan->extParam) && bms_is_empty(plan->allParam);
}

// An immutable expression of parameters has the value that theirs imply, and a plan for certain
// parameters has it as a constant.
AnswerKey key_of(const ReleaseNode* node, const BorrowedPlan& mark) {
  KeyText key = begin_key();
  add_number(&key, node->plan.identity);
  for (int i = 0; i < node->call_count; ++i) {
    const AggregateParameters* checked = node->calls[i].checked;
    add_number(&key, node->calls[i].method);
    add_bytes(&key, checked, parameters_size(checked->quantile_count));
  }
  add_units(&key, mark);
  const ParamListInfo parameters = node->scan.ss.ps.state->es_param_list_info;
  const int given = parameters == nullptr ? 0 : parameters->numParams;
  for (int i = 1; i <= Min(given, mark.own_parameters); ++i) add_parameter(&key, parameters, i);
  const ListCell* cell;
  foreach (cell, mark.expressions) {
    if (!contain_mutable_functions(static_cast<Node*>(lfirst(cell)))) continue;
    const int number = mark.own_parameters + foreach_current_index(cell) + 1;
    if (number <= given) add_parameter(&key, parameters, number);
  }
  return end_key(&key);
}

}  // namespace dpquantile
