// dpquantile.of_person(answer, original, value, ...): the variant of an aggregate of PostgreSQL
// over the rows of one person. All roles may call it, with arguments of any types, and variants
// read their arguments without a check. So the first call of each FmgrInfo checks the number and
// the types of the arguments with the table (person_aggregates.hpp).

#include "pg/server/nodes.hpp"
#include "pg/server/query_random.hpp"
#include "pg/vocabulary/person_aggregates.hpp"
#include "pg/vocabulary/person_variant.hpp"
#include "pg/vocabulary/total_call.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

// A checked call, in fn_extra
struct CheckedCall {
  PersonCallInfo info;
  const PersonVariant* variant;
};

constexpr char kHint[] =
    "Call PostgreSQL's own aggregate. Private queries call this one in its place over the rows of "
    "a person.";

[[noreturn]] void refuse_call(int sqlstate, const char* why) {
  ereport(ERROR, (errcode(sqlstate), errmsg("dpquantile.of_person() cannot be called so: %s", why),
                  errhint("%s", kHint)));
}

// The call as the parser has made it.
const Aggref* require_call(FunctionCallInfo fcinfo) {
  const bool is_aggregate = AggCheckCallContext(fcinfo, nullptr) == AGG_CONTEXT_AGGREGATE;
  const Aggref* call = is_aggregate ? AggGetAggref(fcinfo) : nullptr;
  if (call == nullptr || call->aggvariadic || list_length(call->args) < kBeforeValue) {
    refuse_call(ERRCODE_FEATURE_NOT_SUPPORTED, "it is no aggregate of single arguments");
  }
  return call;
}

const PersonAggregate* require_original(const Aggref* call) {
  const Expr* original = static_cast<TargetEntry*>(lsecond(call->args))->expr;
  const auto* constant = as<Const>(original);
  if (!IsA(original, Const) || constant->consttype != OIDOID || constant->constisnull) {
    refuse_call(ERRCODE_INVALID_PARAMETER_VALUE, "the original is no constant");
  }
  const Oid aggregate = DatumGetObjectId(constant->constvalue);
  const PersonAggregate* found = find_person_aggregate(aggregate);
  if (found == nullptr || found->variant == nullptr) {
    refuse_call(ERRCODE_UNDEFINED_FUNCTION, psprintf("aggregate %u has no variant", aggregate));
  }
  return found;
}

bool is_type(Oid type, Oid expected) {
  return type == expected || getBaseType(type) == expected;
}

// (answer, original, value), and for a percentile a fraction and whether the order is descending
void require_types(const PersonAggregate* original, const Aggref* call) {
  const List* types = call->aggargtypes;
  const bool is_percentile = original->call == PersonCall::kPercentile;
  const Oid value = list_nth_oid(types, kBeforeValue - 1);
  const Oid answer = OidIsValid(original->answer) ? original->answer : value;
  const bool has_types = list_length(types) == kBeforeValue + (is_percentile ? 2 : 0) &&
                         original->variant->takes(value) && is_type(call->aggtype, answer) &&
                         (!is_percentile || (list_nth_oid(types, kBeforeValue) == FLOAT8OID &&
                                             list_nth_oid(types, kBeforeValue + 1) == BOOLOID));
  if (has_types) return;
  refuse_call(ERRCODE_DATATYPE_MISMATCH,
              psprintf("the arguments or the answer are not of the types of aggregate %u",
                       original->aggregate));
}

SipKey draw_key() {
  const uint64 numbers[] = {draw_number(), draw_number()};
  SipKey key;
  static_assert(sizeof key == sizeof numbers);
  memcpy(key.data(), numbers, sizeof key);
  return key;
}

CheckedCall* checked_call(FunctionCallInfo fcinfo) {
  FmgrInfo* info = fcinfo->flinfo;
  if (info->fn_extra != nullptr) return static_cast<CheckedCall*>(info->fn_extra);
  const Aggref* call = require_call(fcinfo);
  const PersonAggregate* original = require_original(call);
  require_types(original, call);
  auto* checked = static_cast<CheckedCall*>(MemoryContextAlloc(info->fn_mcxt, sizeof(CheckedCall)));
  checked->info = {list_nth_oid(call->aggargtypes, kBeforeValue - 1), draw_key(), nullptr};
  checked->variant = original->variant;
  info->fn_extra = checked;
  return checked;
}

}  // namespace

}  // namespace dpquantile

using namespace dpquantile;

// (state internal, answer anyarray, original oid, VARIADIC arguments "any") returns internal
DPQ_FUNCTION(dpq_of_person_transition) {
  CheckedCall* call = checked_call(fcinfo);
  void* kept = PG_ARGISNULL(0) ? nullptr : PG_GETARG_POINTER(0);
  if (!PG_ARGISNULL(kBeforeValue)) {
    AggCheckCallContext(fcinfo, &call->info.memory);
    kept = call->variant->add(fcinfo, &call->info, kept);
  }
  if (kept == nullptr) PG_RETURN_NULL();
  PG_RETURN_POINTER(kept);
}

// The same arguments, all but the state NULL. Returns anyelement.
DPQ_FUNCTION(dpq_of_person_final) {
  const CheckedCall* call = checked_call(fcinfo);
  if (!PG_ARGISNULL(0)) return call->variant->answer(fcinfo, &call->info, PG_GETARG_POINTER(0));
  return call->variant == &persons::kDistinct ? Int64GetDatum(0) : null_answer(fcinfo);
}
