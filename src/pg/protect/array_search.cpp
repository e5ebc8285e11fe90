#include "pg/protect/array_search.hpp"

#include "pg/server/array_constant.hpp"
#include "pg/server/nodes.hpp"
#include "pg/vocabulary/total_functions.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

// Each is a comparison of its own.
constexpr int kMostComparisons = 100;

// Null if the array is not a constant.
const Const* constant_array(const Node* array) {
  const Node* folded = IsA(array, Const) ? array
                                         : eval_const_expressions(
                                               nullptr, static_cast<Node*>(copyObjectImpl(array)));
  return IsA(folded, Const) ? as<Const>(folded) : nullptr;
}

int size_of(const Const* array) {
  const ArrayType* elements = DatumGetArrayTypeP(array->constvalue);
  return ArrayGetNItems(ARR_NDIM(elements), ARR_DIMS(elements));
}

}  // namespace

Node* without_array_search(const Node* node) {
  if (!IsA(node, ScalarArrayOpExpr)) return nullptr;
  const auto* search = as<ScalarArrayOpExpr>(node);
  const Oid function = get_opcode(search->opno);
  if (is_total(function) || find_variant(function) == nullptr) return nullptr;
  const Const* array = constant_array(static_cast<Node*>(lsecond(search->args)));
  if (array == nullptr) return nullptr;
  if (array->constisnull) return makeBoolConst(false, true);
  const int size = size_of(array);
  if (size == 0) return makeBoolConst(!search->useOr, false);
  if (size > kMostComparisons) return nullptr;
  auto* searched = static_cast<Expr*>(linitial(search->args));
  List* comparisons = NIL;
  for (auto* element : each<Expr>(elements_of_array(array))) {
    auto* comparison = as<OpExpr>(make_opclause(search->opno, BOOLOID, false, searched, element,
                                                InvalidOid, search->inputcollid));
    comparison->opfuncid = function;
    comparison->location = search->location;
    comparisons = lappend(comparisons, comparison);
  }
  if (size == 1) return static_cast<Node*>(linitial(comparisons));
  const BoolExprType combined = search->useOr ? OR_EXPR : AND_EXPR;
  return as<Node>(makeBoolExpr(combined, comparisons, search->location));
}

}  // namespace dpquantile
