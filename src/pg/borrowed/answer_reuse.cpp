#include "pg/borrowed/answer_reuse.hpp"

#include <algorithm>
#include <span>

#include "pg/grants/borrowed_relations.hpp"
#include "pg/grants/protection_catalog.hpp"
#include "pg/reuse/answer_columns.hpp"
#include "pg/reuse/catalog_version.hpp"
#include "pg/server/nodes.hpp"

extern "C" {
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "utils/guc.h"
}

namespace dpquantile {

namespace {

bool reuses = true;

void add_parameter(Fields* key, ParamListInfo parameters, int number) {
  ParamExternData fetched;
  const ParamExternData* parameter =
      parameters->paramFetch == nullptr
          ? &parameters->params[number - 1]
          : parameters->paramFetch(parameters, number, true, &fetched);
  add_value(key, parameter->ptype, parameter->value,
            parameter->isnull || !OidIsValid(parameter->ptype));
}

void add_calls(Fields* key, const ReleaseNode* node) {
  add_number(key, static_cast<uint64>(node->call_count));
  for (int i = 0; i < node->call_count; ++i) {
    const AggregateParameters* checked = node->calls[i].checked;
    add_number(key, node->calls[i].method);
    add_number(key, static_cast<uint64>(node->calls[i].most_rows));
    add_bytes(key, checked, size_of(checked));
  }
}

// What the tables of the level protect.
void add_protection(Fields* key, const ReleaseNode* node, const BorrowedPlan& mark) {
  const ListCell* cell;
  foreach (cell, mark.relations) {
    const int number = foreach_current_index(cell);
    if (node->plan.knows_tables && !list_member_oid(node->plan.tables, lfirst_oid(cell))) continue;
    add_number(key, 1);
    add_relation(key, lfirst_oid(cell));
    add_number(key, static_cast<uint64>(list_nth_int(mark.user_columns, number)));
    add_number(key, list_nth_oid(mark.through, number));
    add_number(key, static_cast<uint64>(list_nth_int(mark.max_rows, number)));
    add_number(key, static_cast<uint64>(list_nth_int(mark.max_groups, number)));
  }
  add_number(key, 0);
}

struct EarlyValue {
  SecretHash identity;  // of its expression
  int number;           // of the parameter that has it
};

// The early values that depend on the clock or on settings, and the limit of texts, which depends
// on the whole statement. An immutable expression of parameters has the value that theirs imply,
// and a plan for certain parameters has it as a constant.
std::span<EarlyValue> changing_values(const BorrowedPlan& mark) {
  const auto most = static_cast<Size>(list_length(mark.expressions));
  auto* values = static_cast<EarlyValue*>(palloc(Max(most, 1) * sizeof(EarlyValue)));
  Size count = 0;
  for (int i = 0; i < list_length(mark.expressions); ++i) {
    auto* expression = static_cast<Node*>(list_nth(mark.expressions, i));
    if (!IsA(expression, Const) && !contain_mutable_functions(expression)) continue;
    const char* identity = strVal(list_nth(mark.identities, i));
    values[count++] = {hash_of_text(identity), mark.own_parameters + i + 1};
  }
  return {values, count};
}

// Each after the identity of its expression, and sorted by it: two statements with the same level
// may have different expressions before it.
void add_early_values(Fields* key, ParamListInfo parameters, const BorrowedPlan& mark) {
  const std::span<EarlyValue> values = changing_values(mark);
  std::ranges::sort(values, [](const EarlyValue& one, const EarlyValue& other) {
    return one.identity < other.identity;
  });
  add_number(key, values.size());
  for (const EarlyValue& value : values) {
    add_bytes(key, value.identity.bytes, sizeof value.identity.bytes);
    add_parameter(key, parameters, value.number);
  }
}

}  // namespace

void install_answer_reuse() {
  DefineCustomBoolVariable("dpquantile.reuse",
                           "Whether private queries show kept answers again, without a charge.",
                           "Off: each query is charged, and its answers are kept anew.", &reuses,
                           true, PGC_USERSET, 0, nullptr, nullptr, nullptr);
}

bool answers_are_kept(const List* borrowed) {
  for (const auto* relation : each<const BorrowedRelation>(borrowed)) {
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
  return node->plan.identity != nullptr && bms_is_empty(plan->extParam) &&
         bms_is_empty(plan->allParam);
}

AnswerKey key_of(const ReleaseNode* node, const BorrowedPlan& mark) {
  Fields key = begin_key();
  const SecretHash identity = hash_of_text(node->plan.identity);
  add_bytes(&key, identity.bytes, sizeof identity.bytes);
  (void)add_columns(&key, node->scan.ss.ss_ScanTupleSlot->tts_tupleDescriptor);
  add_calls(&key, node);
  add_protection(&key, node, mark);
  const ParamListInfo parameters = node->scan.ss.ps.state->es_param_list_info;
  const int given = parameters == nullptr ? 0 : Min(parameters->numParams, mark.own_parameters);
  add_number(&key, static_cast<uint64>(given));
  for (int i = 1; i <= given; ++i) add_parameter(&key, parameters, i);
  if (parameters != nullptr) add_early_values(&key, parameters, mark);
  return secret_hash(&key);
}

}  // namespace dpquantile
