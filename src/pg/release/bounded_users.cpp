#include "pg/release/bounded_users.hpp"

#include <algorithm>

#include "core/selection/bounded_groups.hpp"
#include "pg/release/group_identity.hpp"
#include "pg/server/boundary.hpp"
#include "pg/state/expanded_records.hpp"

namespace dpquantile {

namespace {

// The users of all groups. Arrays that grow, in PostgreSQL's memory: a longjmp crosses them.
struct Gathered {
  GroupMember* members;
  Size member_count;
  Size member_room;
  uint64* identities;
  uint32 groups;
  uint32 group_room;
};

void add_group(Gathered* gathered, uint64 identity) {
  if (gathered->groups == gathered->group_room) {
    gathered->group_room *= 2;
    gathered->identities = static_cast<uint64*>(
        repalloc_huge(gathered->identities, gathered->group_room * sizeof(uint64)));
  }
  gathered->identities[gathered->groups++] = identity;
}

void add_members(Gathered* gathered, RecordsState* state) {
  const Size needed = gathered->member_count + state->count;
  if (needed > gathered->member_room) {
    gathered->member_room = std::max(needed, 2 * gathered->member_room);
    gathered->members = static_cast<GroupMember*>(
        repalloc_huge(gathered->members, gathered->member_room * sizeof(GroupMember)));
  }
  for (uint32 i = 0; i < state->count; ++i) {
    gathered->members[gathered->member_count++] = {state->hashes()[i], gathered->groups - 1};
  }
}

Gathered gather(const ReleaseCall& call, const ReleasePlan& plan, const SortedAnswers& states,
                TupleTableSlot* slot) {
  constexpr uint32 kRoom = 1024;
  GroupIdentity identity = make_group_identity(plan, slot->tts_tupleDescriptor);
  Gathered gathered{};
  gathered.member_room = kRoom;
  gathered.group_room = kRoom;
  gathered.members = static_cast<GroupMember*>(palloc(kRoom * sizeof(GroupMember)));
  gathered.identities = static_cast<uint64*>(palloc(kRoom * sizeof(uint64)));
  while (next_answer(states, slot)) {
    CHECK_FOR_INTERRUPTS();
    add_group(&gathered, identity_of(identity, slot));
    bool is_null;
    const Datum state = slot_getattr(slot, static_cast<AttrNumber>(call.column), &is_null);
    if (!is_null) add_members(&gathered, flatten(get_state(state)));
  }
  return gathered;
}

}  // namespace

uint64* bounded_users(const ReleaseCall& call, const ReleasePlan& plan, const SortedAnswers& states,
                      TupleTableSlot* slot, RandomStream* random) {
  const Gathered gathered = gather(call, plan, states, slot);
  auto* users = static_cast<uint64*>(
      MemoryContextAllocHuge(CurrentMemoryContext, gathered.groups * sizeof(uint64) + 1));
  const uint64 most = call.checked->max_groups;
  with_scratch([&](ContextMemory& memory) {
    CancelPoll cancel(cancel_requested);
    SipKey key;
    for (std::uint8_t& byte : key) byte = static_cast<std::uint8_t>(random->bits64());
    std::ranges::copy(
        bounded_group_counts({gathered.members, gathered.member_count},
                             {gathered.identities, gathered.groups}, most, key, {cancel, &memory}),
        users);
  });
  pfree(gathered.members);
  pfree(gathered.identities);
  return users;
}

}  // namespace dpquantile
