#include "pg/vocabulary/total_query.hpp"

#include "pg/server/trees.hpp"
#include "pg/vocabulary/node_functions.hpp"
#include "pg/vocabulary/person_aggregates.hpp"
#include "pg/vocabulary/total_functions.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

// The variant of a text function gives a text where that gives another type of texts.
Node* with_type_of(const Node* original, FuncExpr* variant) {
  if (variant == nullptr) return nullptr;
  const Oid type = exprType(original);
  if (variant->funcresulttype == type) return as<Node>(variant);
  return as<Node>(
      makeRelabelType(as<Expr>(variant), type, -1, exprCollation(original), COERCE_IMPLICIT_CAST));
}

Node* total_call(const Node* call, Oid function) {
  const FunctionRule* variant = find_variant(function);
  return variant == nullptr
             ? nullptr
             : with_type_of(call, call_of_variant(*variant, call, arguments_of(call)));
}

Node* total_cast(const CoerceViaIO* cast) {
  const Oid to = cast->resulttype;
  const bool is_text = to == VARCHAROID || to == BPCHAROID;
  return with_type_of(as<Node>(cast), cast_by_variant(cast, is_text ? TEXTOID : to));
}

// Sums of numbers with few digits do not overflow (Lemma 34p).
Node* total_window_function(WindowFunc* call) {
  const PersonAggregate* found = call->winagg ? find_person_aggregate(call->winfnoid) : nullptr;
  if (found == nullptr || found->call != PersonCall::kOfNumeric) return nullptr;
  Expr* number = short_number(static_cast<Expr*>(linitial(call->args)));
  if (number != nullptr) linitial(call->args) = number;
  return as<Node>(call);
}

// What stands for the node, whose arguments are total. Null: it stays.
Node* total_node(Node* node) {
  switch (nodeTag(node)) {
    case T_FuncExpr:
      return total_call(node, as<FuncExpr>(node)->funcid);
    case T_OpExpr:
      set_opfuncid(as<OpExpr>(node));
      return total_call(node, as<OpExpr>(node)->opfuncid);
    case T_CoerceViaIO:
      return total_cast(as<CoerceViaIO>(node));
    case T_Aggref:
      return as<Node>(person_aggregate_call(as<Aggref>(node)));
    case T_WindowFunc:
      return total_window_function(as<WindowFunc>(node));
    default:
      return nullptr;
  }
}

// A copy with what stands for its nodes.
struct TotalCopy {
  Node* operator()(Node* node) const {
    Node* copy = with_children(node, *this, kIntoQueries);
    Node* total = total_node(copy);
    return total == nullptr ? copy : total;
  }
};

}  // namespace

Query* total_query(const Query* query) {
  return as<Query>(TotalCopy{}(as<Node>(const_cast<Query*>(query))));
}

}  // namespace dpquantile
