#include "pg/protect/array_search.hpp"

#include "pg/server/array_constant.hpp"
#include "pg/server/nodes.hpp"
#include "pg/vocabulary/total_functions.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

// Each is a comparison of its own.
constexpr int kMostComparisons = 100;

// The elements of a literal array that is not empty; NIL for others.
List* elements_of(const Node* array) {
  const Node* folded = eval_const_expressions(nullptr, static_cast<Node*>(copyObjectImpl(array)));
  if (!IsA(folded, Const) || as<Const>(folded)->constisnull) return NIL;
  List* elements = elements_of_array(as<Const>(folded));
  return list_length(elements) > kMostComparisons ? NIL : elements;
}

}  // namespace

Node* without_array_search(const Node* node) {
  if (!IsA(node, ScalarArrayOpExpr)) return nullptr;
  const auto* search = as<ScalarArrayOpExpr>(node);
  const Oid function = get_opcode(search->opno);
  if (is_total(function) || find_variant(function) == nullptr) return nullptr;
  List* comparisons = NIL;
  for (auto* element : each<Expr>(elements_of(static_cast<Node*>(lsecond(search->args))))) {
    auto* searched = static_cast<Expr*>(copyObjectImpl(linitial(search->args)));
    auto* comparison = as<OpExpr>(make_opclause(search->opno, BOOLOID, false, searched, element,
                                                InvalidOid, search->inputcollid));
    comparison->opfuncid = function;
    comparison->location = search->location;
    comparisons = lappend(comparisons, comparison);
  }
  if (list_length(comparisons) <= 1) {
    return comparisons == NIL ? nullptr : static_cast<Node*>(linitial(comparisons));
  }
  const BoolExprType combined = search->useOr ? OR_EXPR : AND_EXPR;
  return as<Node>(makeBoolExpr(combined, comparisons, search->location));
}

}  // namespace dpquantile
