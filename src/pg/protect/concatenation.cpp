#include "pg/protect/concatenation.hpp"

#include "pg/protect/column_traits.hpp"
#include "pg/server/nodes.hpp"
#include "pg/vocabulary/written_values.hpp"

extern "C" {
#include "catalog/pg_collation_d.h"
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

Node* one() {
  return as<Node>(makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(1), false, true));
}

// All that is not NULL, each after the separator if there is one.
Node* joined(const Writing& call, const List* values, Node* separator) {
  Node* text = nullptr;
  for (auto* value : each<Node>(values)) {
    Node* part = as_text(call, value);
    if (separator != nullptr) part = text_call(call, F_TEXTCAT, TEXTOID, separator, part);
    part = text_or(part, "");
    text = text == nullptr ? part : text_call(call, F_TEXTCAT, TEXTOID, text, part);
  }
  return text;
}

// Without the separator before the first one
Node* joined_by(const Writing& writing, const FuncExpr* call) {
  auto* separator = static_cast<Node*>(linitial(call->args));
  Node* length = text_call(writing, F_LENGTH_TEXT, INT4OID, separator, nullptr);
  FuncExpr* begin = makeFuncExpr(F_INT4PL, INT4OID, list_make2(length, one()), InvalidOid,
                                 InvalidOid, COERCE_EXPLICIT_CALL);
  return text_call(writing, F_SUBSTR_TEXT_INT4, TEXTOID,
                   joined(writing, list_copy_tail(call->args, 1), separator), as<Node>(begin));
}

[[noreturn]] void refuse_value(const JudgedLevel* level, const Node* value) {
  refuse(level->statement->refused, exprLocation(value),
         psprintf("rows with a value of type %s cannot be counted: equal values may look different",
                  format_type_be(exprType(value))),
         "Cast it to a type in which they are the same, such as text.");
}

}  // namespace

void count_text_for_row(const JudgedLevel* level, Aggref* call) {
  const Node* unknown = put_text_for_row(call);
  if (unknown != nullptr) refuse_value(level, unknown);
}

Node* without_concatenation(const Node* node) {
  if (!IsA(node, FuncExpr) || as<FuncExpr>(node)->funcvariadic) return nullptr;
  const auto* call = as<FuncExpr>(node);
  const Writing writing = {
      OidIsValid(call->inputcollid) ? call->inputcollid : DEFAULT_COLLATION_OID, call->location};
  if (call->funcid == F_CONCAT) return joined(writing, call->args, nullptr);
  if (call->funcid != F_CONCAT_WS || list_length(call->args) < 2) return nullptr;
  return reads_columns(static_cast<Node*>(linitial(call->args))) ? nullptr
                                                                 : joined_by(writing, call);
}

}  // namespace dpquantile
