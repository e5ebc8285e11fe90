#pragma once

#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "core/base/sip_hash.hpp"
#include "core/base/workspace.hpp"

namespace dpquantile {

// A user who is in a group: the group's number and a keyed hash of the user.
struct GroupMember {
  std::uint64_t user;
  std::uint32_t group;
};

// How many users each group has, if each user is left in at most `most` of the user's own groups:
// those whose keyed hashes of user and group's identity are the smallest. `identities` has a number
// for each group that depends on its key alone, and not on which other groups there are: then a
// user more, who may bring a new group, changes no choice of another user. Groups of equal
// identities are told apart by their order in `identities`, which is one of their keys. Changes
// the order of `members`; a user who is listed twice in a group counts once. O(n log n) time,
// memory for the groups of one user.
//
// Privacy: not private, an input of a mechanism. For every key that does not depend on the data,
// adding or removing one user changes at most `most` of the counts, each by 1: which groups of a
// user are kept is a function of the key and of this user's groups alone. (Users whose hashes
// collide count as one; docs/privacy.md, "Which groups may be shown".) The key must be secret and
// random, so that nobody can choose which groups are kept.
//
// Requires every group below the number of identities, and most >= 1. Throws Cancelled,
// std::bad_alloc.
std::pmr::vector<std::uint64_t> bounded_group_counts(std::span<GroupMember> members,
                                                     std::span<const std::uint64_t> identities,
                                                     std::uint64_t most, const SipKey& key,
                                                     const Workspace& work);

}  // namespace dpquantile
