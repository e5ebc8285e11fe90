#include "pg/release/value_cast.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pg_list.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

// Whether the server's implicit cast to the type of an aggregate's value fails for some values.
bool may_fail(Oid from, Oid to) {
  switch (from) {
    case DATEOID:
      return to == TIMESTAMPOID || to == TIMESTAMPTZOID;
    case TIMESTAMPOID:
      return to == TIMESTAMPTZOID;
    default:
      return false;
  }
}

// The expression that an implicit cast converts, or null.
const Node* implicitly_cast(const Node* expression) {
  if (!IsA(expression, FuncExpr)) return nullptr;
  const auto* cast = reinterpret_cast<const FuncExpr*>(expression);
  return cast->funcformat == COERCE_IMPLICIT_CAST ? static_cast<const Node*>(linitial(cast->args))
                                                  : nullptr;
}

}  // namespace

void check_value_cast(const Aggref* call, const FamilyRow& family) {
  const int rows = family.arguments_from_rows();
  if (rows == 0) return;
  const auto* argument = static_cast<const TargetEntry*>(list_nth(call->args, rows - 1));
  const auto* value = reinterpret_cast<const Node*>(argument->expr);
  const Node* original = implicitly_cast(value);
  if (original == nullptr) return;
  const Oid type = getBaseType(exprType(original));
  if (!may_fail(type, exprType(value))) return;
  const char* from = format_type_be(type);
  ereport(ERROR,
          (errcode(ERRCODE_DATATYPE_MISMATCH),
           errmsg("the values are of type %s, but the bounds of type %s", from,
                  format_type_be(exprType(value))),
           errdetail("The values would be converted, which fails for some of them."),
           errhint("Write the bounds as literals without a type, or cast them to %s.", from)));
}

}  // namespace dpquantile
