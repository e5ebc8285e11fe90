#include "pg/release/grouping_states.hpp"

#include "pg/parameters/private_call.hpp"
#include "pg/release/value_cast.hpp"
#include "pg/server/nodes.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "optimizer/appendinfo.h"
#include "optimizer/pathnode.h"
#include "optimizer/tlist.h"
}

namespace dpquantile {

namespace {

RelOptInfo* input_of_partition(PlannerInfo* root, const RelOptInfo* groups) {
  int relation;
  if (bms_get_singleton_member(groups->relids, &relation)) return find_base_rel(root, relation);
  return find_join_rel(root, groups->relids);
}

// The states as columns of the path's relation: all groups, or the groups of a partition.
PathTarget* states_for(const GroupingLevel& level, const PathTarget* columns, const Path* path,
                       StatePassing passing) {
  PathTarget* states = states_of(columns, passing);
  if (!IS_OTHER_REL(path->parent)) return states;
  RelOptInfo* partition = input_of_partition(level.root, path->parent);
  auto* expressions = as<Node>(states->exprs);
  states->exprs =
      as<List>(DPQ_TRANSLATE_TO_PARTITION(level.root, expressions, partition, level.input));
  return states;
}

// A copy, because several paths may share a child.
template <class PathType>
PathType* copy_path(const Path* path) {
  auto* copy = static_cast<PathType*>(palloc(sizeof(PathType)));
  memcpy(copy, path, sizeof(PathType));
  return copy;
}

bool has_cast_values(const PathTarget* columns) {
  const ListCell* cell;
  foreach (cell, columns->exprs) {
    if (!IsA(lfirst(cell), Aggref)) continue;
    auto* call = static_cast<Aggref*>(lfirst(cell));
    if (with_uncast_value(call) != call) return true;
  }
  return false;
}

// Null if the states are combined of partial ones whose paths are of an unknown kind.
Path* aggregation_with_states(const PathTarget* columns, const Path* path, PathTarget* states) {
  auto* copy = copy_path<AggPath>(path);
  copy->path.pathtarget = states;
  copy->qual = NIL;
  if (DO_AGGSPLIT_COMBINE(copy->aggsplit) && has_cast_values(columns)) {
    copy->subpath = with_uncast_values(copy->subpath);
    if (copy->subpath == nullptr) return nullptr;
  }
  return &copy->path;
}

template <class Grouping>
Path* grouping_with_states(const Path* path, PathTarget* states) {
  auto* copy = copy_path<Grouping>(path);
  copy->path.pathtarget = states;
  copy->qual = NIL;
  return &copy->path;
}

// Null if one of the children is of an unknown kind.
template <class Appending>
Path* append_with_states(const GroupingLevel& level, const PathTarget* columns, const Path* path,
                         PathTarget* states) {
  auto* copy = copy_path<Appending>(path);
  copy->path.pathtarget = states;
  copy->subpaths = list_copy(copy->subpaths);
  ListCell* cell;
  foreach (cell, copy->subpaths) {
    lfirst(cell) =
        with_states(level, columns, static_cast<Path*>(lfirst(cell)), StatePassing::kValue);
    if (lfirst(cell) == nullptr) return nullptr;
  }
  return &copy->path;
}

template <class Gathering>
Path* gather_with_states(const GroupingLevel& level, const PathTarget* columns, const Path* path,
                         PathTarget* states) {
  auto* copy = copy_path<Gathering>(path);
  copy->path.pathtarget = states;
  copy->subpath = with_states(level, columns, copy->subpath, StatePassing::kValue);
  return copy->subpath == nullptr ? nullptr : &copy->path;
}

}  // namespace

PathTarget* states_of(const PathTarget* columns, StatePassing passing) {
  PathTarget* states = copy_pathtarget(const_cast<PathTarget*>(columns));
  ListCell* cell;
  foreach (cell, states->exprs) {
    const auto* expression = static_cast<Node*>(lfirst(cell));
    if (private_family(expression) == nullptr) continue;
    auto* call =
        static_cast<Aggref*>(copyObjectImpl(with_uncast_value(static_cast<Aggref*>(lfirst(cell)))));
    call->aggtype = passing == StatePassing::kPointer ? INTERNALOID : call->aggtranstype;
    lfirst(cell) = call;
  }
  return states;
}

Path* with_states(const GroupingLevel& level, const PathTarget* columns, const Path* path,
                  StatePassing passing) {
  PathTarget* states = states_for(level, columns, path, passing);
  switch (nodeTag(path)) {
    case T_AggPath:
      return aggregation_with_states(columns, path, states);
    case T_GroupingSetsPath:
      return grouping_with_states<GroupingSetsPath>(path, states);
    case T_AppendPath:
      return append_with_states<AppendPath>(level, columns, path, states);
    case T_MergeAppendPath:
      return append_with_states<MergeAppendPath>(level, columns, path, states);
    case T_GatherPath:
      return gather_with_states<GatherPath>(level, columns, path, states);
    case T_GatherMergePath:
      return gather_with_states<GatherMergePath>(level, columns, path, states);
    default:
      return nullptr;
  }
}

}  // namespace dpquantile
