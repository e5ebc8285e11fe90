// dpquantile.total(answer, original, arguments): the variant of a function of PostgreSQL. All roles
// may call it, with arguments of any types, and variants read their arguments without a check. So
// the first call of each FmgrInfo checks the number and the types of the arguments, as the parser
// has found them, with the table (function_rule.hpp). The table has them as
// constants, so that no row looks up a catalog.

#include "pg/server/nodes.hpp"
#include "pg/vocabulary/total_functions.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
}

namespace dpquantile {

namespace {

// A checked call, in fn_extra
struct Call {
  PGFunction variant;
  int arguments;
  FmgrInfo original;  // what the variant's call is about
  alignas(FunctionCallInfoBaseData) char call[SizeForFunctionCallInfo(kMostTotalArguments)];
};

FunctionCallInfo inner_call(Call* checked) {
  return reinterpret_cast<FunctionCallInfo>(checked->call);
}

constexpr char kHint[] =
    "Call PostgreSQL's own function. Private queries call this one in its place where it would "
    "fail for a row.";

[[noreturn]] void refuse_call(int sqlstate, const char* why) {
  ereport(ERROR, (errcode(sqlstate), errmsg("dpquantile.total() cannot be called so: %s", why),
                  errhint("%s", kHint)));
}

// The call as the parser has made it.
const FuncExpr* require_call(FunctionCallInfo fcinfo) {
  const auto* call = as<FuncExpr>(fcinfo->flinfo->fn_expr);
  const bool is_call = call != nullptr && IsA(call, FuncExpr) && !call->funcvariadic &&
                       list_length(call->args) == fcinfo->nargs &&
                       fcinfo->nargs >= kBeforeArguments;
  if (!is_call) refuse_call(ERRCODE_FEATURE_NOT_SUPPORTED, "it is no call with single arguments");
  return call;
}

const FunctionRule& require_variant(const FuncExpr* call, bool may_be_stable) {
  const auto* original = static_cast<const Const*>(lsecond(call->args));
  if (!IsA(original, Const) || original->consttype != OIDOID || original->constisnull) {
    refuse_call(ERRCODE_INVALID_PARAMETER_VALUE, "the original is no constant");
  }
  const Oid function = DatumGetObjectId(original->constvalue);
  const FunctionRule* variant = find_variant_or_cast(function);
  if (variant == nullptr) {
    refuse_call(ERRCODE_UNDEFINED_FUNCTION, psprintf("function %u has no variant", function));
  }
  if (variant->is_stable && !may_be_stable) {
    refuse_call(ERRCODE_INVALID_PARAMETER_VALUE,
                psprintf("the variant of function %u is stable", function));
  }
  return *variant;
}

[[noreturn]] void refuse_type(const FunctionRule& variant, const char* of, Oid type, Oid expected) {
  refuse_call(ERRCODE_DATATYPE_MISMATCH,
              psprintf("%s of function %u is of type %s, not %s", of, variant.function,
                       format_type_be(expected), format_type_be(type)));
}

void require_types(const FunctionRule& variant, const FuncExpr* call) {
  const int arguments = list_length(call->args) - kBeforeArguments;
  if (arguments != number_of_arguments(variant)) {
    refuse_call(ERRCODE_DATATYPE_MISMATCH,
                psprintf("function %u has %d arguments, not %d", variant.function,
                         number_of_arguments(variant), arguments));
  }
  if (call->funcresulttype != variant.result) {
    refuse_type(variant, "the result", call->funcresulttype, variant.result);
  }
  for (int i = 0; i < arguments; ++i) {
    const Oid type = exprType(static_cast<Node*>(list_nth(call->args, kBeforeArguments + i)));
    if (type == variant.arguments[i]) continue;
    refuse_type(variant, psprintf("argument %d", i + 1), type, variant.arguments[i]);
  }
}

Call* checked_call(FunctionCallInfo fcinfo, bool may_be_stable) {
  const FuncExpr* call = require_call(fcinfo);
  const FunctionRule& variant = require_variant(call, may_be_stable);
  require_types(variant, call);
  FmgrInfo* info = fcinfo->flinfo;
  const int arguments = number_of_arguments(variant);
  auto* checked = static_cast<Call*>(MemoryContextAllocZero(info->fn_mcxt, sizeof(Call)));
  checked->variant = variant.variant;
  checked->arguments = arguments;
  checked->original.fn_oid = variant.function;
  checked->original.fn_nargs = static_cast<int16>(arguments);
  checked->original.fn_strict = true;
  checked->original.fn_mcxt = info->fn_mcxt;
  InitFunctionCallInfoData(*inner_call(checked), &checked->original, checked->original.fn_nargs,
                           InvalidOid, nullptr, nullptr);
  info->fn_extra = checked;
  return checked;
}

// SQL calls it only if no argument is NULL.
Datum call_variant(FunctionCallInfo fcinfo, bool may_be_stable) {
  auto* checked = static_cast<Call*>(fcinfo->flinfo->fn_extra);
  if (unlikely(checked == nullptr)) checked = checked_call(fcinfo, may_be_stable);
  FunctionCallInfo call = inner_call(checked);
  // A loop over all of them takes longer for the most frequent ones.
  const NullableDatum* arguments = fcinfo->args + kBeforeArguments;
  call->args[0].value = arguments[0].value;
  if (checked->arguments > 1) call->args[1].value = arguments[1].value;
  for (int i = 2; i < checked->arguments; ++i) call->args[i].value = arguments[i].value;
  call->fncollation = fcinfo->fncollation;
  call->isnull = false;
  const Datum answer = checked->variant(call);
  fcinfo->isnull = call->isnull;
  return answer;
}

}  // namespace

}  // namespace dpquantile

using namespace dpquantile;

// (answer anyarray, original oid, VARIADIC arguments "any") returns anyelement
DPQ_FUNCTION(dpq_total) {
  return call_variant(fcinfo, false);
}

DPQ_FUNCTION(dpq_total_stable) {
  return call_variant(fcinfo, true);
}
