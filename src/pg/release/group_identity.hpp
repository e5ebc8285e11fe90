#pragma once

#include "pg/release/release_plan.hpp"

extern "C" {
#include "executor/tuptable.h"
}

// A number for a group that depends on the group's keys alone, not on the other groups:
// core/selection/bounded_groups.hpp needs it.
namespace dpquantile {

struct GroupIdentity {
  int count;  // of key columns
  AttrNumber* columns;
  Oid* collations;
  FmgrInfo* hashes;
};

// How to compute the identities of groups with these columns, in the current memory context.
// ereports if the type of a key has no hash function.
GroupIdentity make_group_identity(const ReleasePlan& plan, TupleDesc columns);

// The identity of the group in the slot. Equal keys give equal identities. ereports what the hash
// functions report.
uint64 identity_of(GroupIdentity& identity, TupleTableSlot* group);

}  // namespace dpquantile
