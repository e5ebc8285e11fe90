#include "pg/vocabulary/answer_call.hpp"

#include "pg/server/nodes.hpp"
#include "pg/vocabulary/node_functions.hpp"
#include "pg/vocabulary/own_function.hpp"
#include "pg/vocabulary/total_call.hpp"

extern "C" {
#include "access/xact.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/resowner.h"
}

namespace dpquantile {

namespace {

constexpr int kBefore = 2;  // arguments of dpquantile.or_null() before the original's

// ---- The call in the query -----------------------------------------------------------------

Oid input_function(Oid type) {
  Oid function;
  Oid element;
  getTypeInputInfo(type, &function, &element);
  return function;
}

List* arguments_of_call(const Node* node) {
  return IsA(node, CoerceViaIO) ? list_make1(as<CoerceViaIO>(node)->arg) : arguments_of(node);
}

// As PostgreSQL does before it calls the function itself.
void require_right(Oid function) {
  const Datum may_execute = DirectFunctionCall2(
      has_function_privilege_id, ObjectIdGetDatum(function), CStringGetTextDatum("EXECUTE"));
  if (!DatumGetBool(may_execute)) {
    aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_FUNCTION, get_func_name(function));
  }
  InvokeFunctionExecuteHook(function);
}

// No user can write one that is not NULL: so nobody else chooses what is called.
Const* original_constant(Oid function) {
  return makeConst(INTERNALOID, -1, InvalidOid, sizeof(Datum), ObjectIdGetDatum(function), false,
                   true);
}

// ---- The original --------------------------------------------------------------------------

// A prepared call, in fn_extra
struct Call {
  FmgrInfo original;
  FmgrInfo output;  // of a cast by text: of the type of the argument
  Oid input_type;   // of a cast by text: what the input function gets, besides the text
  bool is_cast;     // whether it is one
  bool has_told;    // a notice
  FunctionCallInfo arguments;
};

const FuncExpr* require_call(FunctionCallInfo fcinfo) {
  const auto* call = as<FuncExpr>(fcinfo->flinfo->fn_expr);
  if (call != nullptr && IsA(call, FuncExpr) && !PG_ARGISNULL(1) &&
      list_length(call->args) == fcinfo->nargs) {
    return call;
  }
  ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                  errmsg("dpquantile.or_null() cannot be called directly"),
                  errhint("Private queries call it in the place of functions that may fail.")));
}

void prepare_cast(Call* prepared, Oid from, Oid to, MemoryContext context) {
  Oid function;
  bool is_varlena;
  getTypeOutputInfo(from, &function, &is_varlena);
  fmgr_info_cxt(function, &prepared->output, context);
  Oid input;
  getTypeInputInfo(to, &input, &prepared->input_type);
}

// A function reads all of its arguments, whether they are there or not.
void require_arguments(Oid function, const FuncExpr* call, int count) {
  const bool is_cast = call->funcformat == COERCE_EXPLICIT_CAST;
  if (is_cast ? count == 1
              : get_func_variadictype(function) == ANYOID || count == get_func_nargs(function)) {
    return;
  }
  ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                  errmsg("function %s lacks arguments", format_procedure(function)),
                  errhint("Write all arguments of the function, without names.")));
}

// What the call is about is what the query had, also for functions of any type.
Call* prepare(FunctionCallInfo fcinfo) {
  const FuncExpr* call = require_call(fcinfo);
  const auto function = DatumGetObjectId(PG_GETARG_DATUM(1));
  const MemoryContext context = fcinfo->flinfo->fn_mcxt;
  const MemoryContext before = MemoryContextSwitchTo(context);
  require_right(function);
  List* own = list_copy_tail(call->args, kBefore);
  require_arguments(function, call, list_length(own));
  auto* prepared = static_cast<Call*>(palloc0(sizeof(Call)));
  FuncExpr* original = makeFuncExpr(function, call->funcresulttype, own, call->funccollid,
                                    call->inputcollid, COERCE_EXPLICIT_CALL);
  original->funcvariadic = call->funcvariadic;
  fmgr_info_cxt(function, &prepared->original, context);
  fmgr_info_set_expr(as<Node>(original), &prepared->original);
  prepared->is_cast = call->funcformat == COERCE_EXPLICIT_CAST;
  if (prepared->is_cast) {
    prepare_cast(prepared, exprType(static_cast<Node*>(linitial(own))), call->funcresulttype,
                 context);
  }
  const int arguments = prepared->is_cast ? 3 : list_length(own);
  prepared->arguments = static_cast<FunctionCallInfo>(palloc0(SizeForFunctionCallInfo(arguments)));
  InitFunctionCallInfoData(*prepared->arguments, &prepared->original, static_cast<int16>(arguments),
                           call->inputcollid, nullptr, nullptr);
  MemoryContextSwitchTo(before);
  fcinfo->flinfo->fn_extra = prepared;
  return prepared;
}

bool has_null(FunctionCallInfo fcinfo) {
  for (int i = kBefore; i < fcinfo->nargs; ++i) {
    if (PG_ARGISNULL(i)) return true;
  }
  return false;
}

void set_arguments(Call* call, FunctionCallInfo fcinfo) {
  FunctionCallInfo inner = call->arguments;
  inner->isnull = false;
  for (int i = kBefore; i < fcinfo->nargs; ++i) inner->args[i - kBefore] = fcinfo->args[i];
  if (!call->is_cast) return;
  char* text = OutputFunctionCall(&call->output, fcinfo->args[kBefore].value);
  inner->args[0] = {CStringGetDatum(text), false};
  inner->args[1] = {ObjectIdGetDatum(call->input_type), false};
  inner->args[2] = {Int32GetDatum(-1), false};
}

void tell(const char* what, const char* why) {
  ereport(NOTICE, (errmsg("%s: the answer is NULL", why),
                   errdetail("%s has no value for one of the answers, and the query has been "
                             "charged.",
                             what)));
}

// Whether an error is about the values of a call, or the names that they are. Others are the
// user's who cancels, or the server's.
bool is_of_answers(int sqlstate) {
  if (sqlstate == ERRCODE_INSUFFICIENT_PRIVILEGE) return false;
  return is_about_values(sqlstate) || sqlstate == ERRCODE_INVALID_SCHEMA_NAME ||
         ERRCODE_TO_CATEGORY(sqlstate) == ERRCODE_SYNTAX_ERROR_OR_ACCESS_RULE_VIOLATION;
}

// Ends the subtransaction of a call that has failed, whatever the error is: who catches it would
// take back the wrong one.
void end_failure(Call* call, MemoryContext context, ResourceOwner owner) {
  MemoryContextSwitchTo(context);
  ErrorData* error = CopyErrorData();
  FlushErrorState();
  RollbackAndReleaseCurrentSubTransaction();
  MemoryContextSwitchTo(context);
  CurrentResourceOwner = owner;
  if (!is_of_answers(error->sqlerrcode)) ReThrowError(error);
  if (!call->has_told) {
    tell(psprintf("Function %s", format_procedure(call->original.fn_oid)), error->message);
  }
  call->has_told = true;
}

// The subtransaction takes back what the original holds when it fails. Its answer is in the memory
// of the caller.
Datum call_original(Call* call, FunctionCallInfo fcinfo) {
  const MemoryContext context = CurrentMemoryContext;
  const ResourceOwner owner = CurrentResourceOwner;
  volatile Datum answer = 0;
  BeginInternalSubTransaction(nullptr);
  MemoryContextSwitchTo(context);
  PG_TRY();
  {
    set_arguments(call, fcinfo);
    answer = FunctionCallInvoke(call->arguments);
    fcinfo->isnull = call->arguments->isnull;
    ReleaseCurrentSubTransaction();
    MemoryContextSwitchTo(context);
    CurrentResourceOwner = owner;
  }
  PG_CATCH();
  {
    end_failure(call, context, owner);
    answer = null_answer(fcinfo);
  }
  PG_END_TRY();
  return answer;
}

}  // namespace

Expr* call_or_null_of(const Node* node) {
  const Oid types[] = {ANYELEMENTOID, INTERNALOID, ANYOID};
  const Oid function = own_function("or_null", buildoidvector(types, lengthof(types)));
  if (!OidIsValid(function)) return nullptr;
  const bool is_cast = IsA(node, CoerceViaIO);
  const Oid result = exprType(node);
  const Oid original = is_cast ? input_function(result) : function_of(node);
  require_right(original);
  List* before =
      list_make2(makeNullConst(result, -1, exprCollation(node)), original_constant(original));
  FuncExpr* call = makeFuncExpr(function, result, list_concat(before, arguments_of_call(node)),
                                exprCollation(node), exprInputCollation(node),
                                is_cast ? COERCE_EXPLICIT_CAST : COERCE_EXPLICIT_CALL);
  call->funcvariadic = IsA(node, FuncExpr) && as<FuncExpr>(node)->funcvariadic;
  call->location = exprLocation(node);
  return as<Expr>(call);
}

Expr* only_element_of(Node* array, Oid type, Oid collation) {
  const Oid types[] = {ANYARRAYOID};
  const Oid function = own_function("only_element", buildoidvector(types, lengthof(types)));
  if (!OidIsValid(function)) return nullptr;
  FuncExpr* call =
      makeFuncExpr(function, type, list_make1(array), collation, InvalidOid, COERCE_EXPLICIT_CALL);
  call->location = exprLocation(array);
  return as<Expr>(call);
}

}  // namespace dpquantile

using namespace dpquantile;

// (answer anyelement, original internal, VARIADIC arguments "any") returns anyelement
DPQ_FUNCTION(dpq_or_null) {
  auto* call = static_cast<Call*>(fcinfo->flinfo->fn_extra);
  if (call == nullptr) call = prepare(fcinfo);
  if ((call->is_cast || call->original.fn_strict) && has_null(fcinfo)) return null_answer(fcinfo);
  return call_original(call, fcinfo);
}

// (elements anyarray) returns anyelement
DPQ_FUNCTION(dpq_only_element) {
  const ArrayType* array = PG_GETARG_ARRAYTYPE_P(0);
  const int count = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
  if (count != 1) {
    bool* const has_told = reinterpret_cast<bool*>(&fcinfo->flinfo->fn_extra);
    if (count > 1 && !*has_told) {
      tell("A subquery", "more than one row returned by a subquery used as an expression");
      *has_told = true;
    }
    return null_answer(fcinfo);
  }
  int16 length;
  bool by_value;
  char alignment;
  get_typlenbyvalalign(ARR_ELEMTYPE(array), &length, &by_value, &alignment);
  int place[] = {ARR_LBOUND(array)[0]};
  bool is_null;
  const Datum element = array_get_element(PointerGetDatum(array), 1, place, -1, length, by_value,
                                          alignment, &is_null);
  fcinfo->isnull = is_null;
  return element;
}
