#include "pg/release/value_cast.hpp"

#include "pg/aggregate/call_parameters.hpp"
#include "pg/parameters/private_call.hpp"
#include "pg/server/nodes.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/tlist.h"
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
    case NUMERICOID:
      return to == FLOAT8OID || to == FLOAT4OID;
    default:
      return false;
  }
}

// The expression that an implicit cast converts, or null.
const Node* implicitly_cast(const Node* expression) {
  if (!IsA(expression, FuncExpr)) return nullptr;
  const auto* cast = as<FuncExpr>(expression);
  return cast->funcformat == COERCE_IMPLICIT_CAST ? static_cast<const Node*>(linitial(cast->args))
                                                  : nullptr;
}

// A copy, because several paths may share a child.
template <class PathType>
PathType* copy_path(const Path* path) {
  auto* copy = static_cast<PathType*>(palloc(sizeof(PathType)));
  memcpy(copy, path, sizeof(PathType));
  return copy;
}

PathTarget* uncast_target(PathTarget* target) {
  PathTarget* copy = copy_pathtarget(target);
  ListCell* cell;
  foreach (cell, copy->exprs) {
    if (IsA(lfirst(cell), Aggref)) lfirst(cell) = with_uncast_value(lfirst_node(Aggref, cell));
  }
  return copy;
}

template <class PathType>
Path* above_uncast_values(const Path* path) {
  auto* copy = copy_path<PathType>(path);
  Path* below = with_uncast_values(copy->subpath);
  if (below == nullptr) return nullptr;
  copy->subpath = below;
  copy->path.pathtarget = uncast_target(path->pathtarget);
  return &copy->path;
}

Path* sorted_uncast_values(const Path* path, std::size_t size) {
  auto* copy = static_cast<SortPath*>(palloc(size));
  memcpy(static_cast<void*>(copy), path, size);
  copy->subpath = with_uncast_values(copy->subpath);
  copy->path.pathtarget = uncast_target(path->pathtarget);
  return copy->subpath == nullptr ? nullptr : &copy->path;
}

template <class PathType>
Path* appended_uncast_values(const Path* path) {
  auto* copy = copy_path<PathType>(path);
  copy->subpaths = list_copy(copy->subpaths);
  ListCell* cell;
  foreach (cell, copy->subpaths) {
    lfirst(cell) = with_uncast_values(static_cast<Path*>(lfirst(cell)));
    if (lfirst(cell) == nullptr) return nullptr;
  }
  copy->path.pathtarget = uncast_target(path->pathtarget);
  return &copy->path;
}

// The aggregation itself, whose input has no calls.
Path* made_of_uncast_values(const Path* path) {
  auto* copy = copy_path<AggPath>(path);
  copy->path.pathtarget = uncast_target(path->pathtarget);
  return &copy->path;
}

}  // namespace

namespace {

void check_cast(const Aggref* call, const FamilyRow& family, int which) {
  const Node* value = uncast_value(call, family, which);
  if (value == nullptr) return;
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

}  // namespace

void check_value(const Aggref* call, const FamilyRow& family) {
  require_value_type(call, family);
  for (int i = 0; i < family.values_from_rows(); ++i) check_cast(call, family, i);
}

Aggref* with_uncast_value(Aggref* call) {
  const FamilyRow* family = private_family(call);
  if (family == nullptr) return call;
  Aggref* uncast = call;
  for (int i = 0; i < family->values_from_rows(); ++i) {
    const Node* value = uncast_value(call, *family, i);
    if (value == value_argument(call, *family, i)) continue;
    if (uncast == call) uncast = static_cast<Aggref*>(copyObjectImpl(call));
    auto* argument = static_cast<TargetEntry*>(list_nth(uncast->args, place_of_value(*family, i)));
    argument->expr = static_cast<Expr*>(copyObjectImpl(value));
  }
  return uncast;
}

Path* with_uncast_values(const Path* path) {
  switch (nodeTag(path)) {
    case T_AggPath:
      if (!DO_AGGSPLIT_SKIPFINAL(reinterpret_cast<const AggPath*>(path)->aggsplit)) return nullptr;
      return made_of_uncast_values(path);
    case T_GatherPath:
      return above_uncast_values<GatherPath>(path);
    case T_GatherMergePath:
      return above_uncast_values<GatherMergePath>(path);
    case T_SortPath:
      return sorted_uncast_values(path, sizeof(SortPath));
    case T_IncrementalSortPath:
      return sorted_uncast_values(path, sizeof(IncrementalSortPath));
    case T_AppendPath:
      return appended_uncast_values<AppendPath>(path);
    case T_MergeAppendPath:
      return appended_uncast_values<MergeAppendPath>(path);
    default:
      return nullptr;
  }
}

}  // namespace dpquantile
