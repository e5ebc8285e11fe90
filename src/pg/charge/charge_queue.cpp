#include "pg/charge/charge_queue.hpp"

#include <algorithm>
#include <iterator>

extern "C" {
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "utils/timestamp.h"
}

namespace dpquantile {

namespace {

constexpr const char* kName = "dpquantile charges";

// A worker that has not come by then was lost before it could say so; a late one finds its term
// over.
constexpr int kStartSeconds = 10;

// How long a request is tried anew because of a lock before it may have a turn, and in all.
constexpr int kTurnMilliseconds = 50;
constexpr int kLockedMilliseconds = 2000;

enum class SlotState : uint32 {
  kFree,
  kFilling,
  kPending,
  kTaken,
  kAnswered,
  kAbandoned,
  kHasTurn
};

struct ChargeSlot {
  SlotState state;
  Oid database;
  Oid role;
  uint64 arrival;
  int32 place;             // of the worker that has taken it
  TimestampTz taken_at;    // first; 0 before that
  TimestampTz tried_from;  // since the last turn that was postponed, if any
  Latch* session;
  alignas(ChargeRequest) char request[kLargestRequest];
};

enum class PlaceState : uint32 { kVacant, kPromised, kEntered };

struct Place {
  PlaceState state;
  Oid database;
  uint32 term;
  TimestampTz promised_at;
  Latch* worker;
};

struct ChargeQueue {
  LWLock* lock;
  uint64 arrivals;
  Place places[kWorkerPlaces];
  ChargeSlot slots[kChargeSlots + kSpareSlots];
};

ChargeQueue* queue = nullptr;
ChargeSlot* my_slot = nullptr;

shmem_request_hook_type next_shmem_request_hook = nullptr;
shmem_startup_hook_type next_shmem_startup_hook = nullptr;

void request_shared_memory() {
  if (next_shmem_request_hook != nullptr) next_shmem_request_hook();
  RequestAddinShmemSpace(MAXALIGN(sizeof(ChargeQueue)));
  RequestNamedLWLockTranche(kName, 1);
}

// Also runs when the server starts anew after a crash, with the shared memory empty.
void start_queue() {
  if (next_shmem_startup_hook != nullptr) next_shmem_startup_hook();
  bool found;
  LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
  queue = static_cast<ChargeQueue*>(ShmemInitStruct(kName, sizeof(ChargeQueue), &found));
  if (!found) {
    memset(queue, 0, sizeof(ChargeQueue));
    queue->lock = &GetNamedLWLockTranche(kName)->lock;
  }
  LWLockRelease(AddinShmemInitLock);
}

void lock_queue() {
  LWLockAcquire(queue->lock, LW_EXCLUSIVE);
}

void unlock_queue() {
  LWLockRelease(queue->lock);
}

ChargeRequest* request_in(ChargeSlot* slot) {
  return reinterpret_cast<ChargeRequest*>(slot->request);
}

ChargeSlot* free_slot(int from, int to) {
  for (int i = from; i < to; ++i) {
    if (queue->slots[i].state == SlotState::kFree) return &queue->slots[i];
  }
  return nullptr;
}

bool has_turn(const ChargeSlot& slot, Oid database) {
  return slot.state == SlotState::kHasTurn && slot.database == database;
}

bool role_has_turn(Oid database, Oid role) {
  return std::any_of(std::begin(queue->slots), std::end(queue->slots), [&](const ChargeSlot& slot) {
    return has_turn(slot, database) && slot.role == role;
  });
}

bool may_have_turn(Oid database, Oid role) {
  const auto turns =
      std::count_if(std::begin(queue->slots), std::end(queue->slots),
                    [&](const ChargeSlot& slot) { return has_turn(slot, database); });
  return turns < kTurnsOfDatabase && !role_has_turn(database, role);
}

Place* place_of_database(Oid database) {
  for (Place& place : queue->places) {
    if (place.state != PlaceState::kVacant && place.database == database) return &place;
  }
  return nullptr;
}

void vacate(Place* place) {
  place->state = PlaceState::kVacant;
  place->worker = nullptr;
}

bool is_lost(const Place& place) {
  return place.state == PlaceState::kPromised &&
         TimestampDifferenceExceeds(place.promised_at, GetCurrentTimestamp(), kStartSeconds * 1000);
}

Place* vacant_place() {
  for (Place& place : queue->places) {
    if (is_lost(place)) vacate(&place);
    if (place.state == PlaceState::kVacant) return &place;
  }
  return nullptr;
}

// Sessions to be woken when the lock is released, so that they do not run into it.
struct Sleepers {
  Latch* sessions[kChargeSlots + kSpareSlots];
  int count;
};

void wake(const Sleepers& sleepers) {
  for (int i = 0; i < sleepers.count; ++i) SetLatch(sleepers.sessions[i]);
}

// The sessions that wait for a worker of this database shall look again whether there is one.
void add_pending(Sleepers* sleepers, Oid database) {
  for (const ChargeSlot& slot : queue->slots) {
    if (slot.state != SlotState::kPending || slot.database != database) continue;
    sleepers->sessions[sleepers->count++] = slot.session;
  }
}

Service promise_place(WorkerPlace* promised) {
  Place* place = vacant_place();
  if (place == nullptr) return Service::kImpossible;
  place->state = PlaceState::kPromised;
  place->database = MyDatabaseId;
  ++place->term;
  place->promised_at = GetCurrentTimestamp();
  *promised = {static_cast<int32>(place - queue->places), place->term};
  return Service::kWanted;
}

bool holds(WorkerPlace place, PlaceState state) {
  const Place& there = queue->places[place.number];
  return there.state == state && there.term == place.term;
}

bool is_pending(const ChargeSlot& slot) {
  return slot.state == SlotState::kPending && slot.database == MyDatabaseId;
}

bool anything_pending() {
  return std::any_of(std::begin(queue->slots), std::end(queue->slots), is_pending);
}

bool is_over(TimestampTz start, int milliseconds, TimestampTz now) {
  return TimestampDifferenceExceeds(start, now, milliseconds);
}

void try_locked_again(WorkerPlace place, TimestampTz now) {
  for (ChargeSlot& slot : queue->slots) {
    if (slot.place != place.number || slot.state != SlotState::kTaken) continue;
    if (request_in(&slot)->outcome != ChargeOutcome::kLocked) continue;
    if (!is_over(slot.taken_at, kLockedMilliseconds, now)) slot.state = SlotState::kPending;
  }
}

// Of what has been tried in vain for long enough, and may have a turn, what came first.
ChargeSlot* next_turn(TimestampTz now) {
  ChargeSlot* next = nullptr;
  for (ChargeSlot& slot : queue->slots) {
    if (!is_pending(slot) || slot.taken_at == 0) continue;
    if (!is_over(slot.tried_from, kTurnMilliseconds, now)) continue;
    if (!may_have_turn(slot.database, slot.role)) continue;
    if (next == nullptr || slot.arrival < next->arrival) next = &slot;
  }
  return next;
}

void give_turns(TimestampTz now, Sleepers* sleepers) {
  while (ChargeSlot* slot = next_turn(now)) {
    slot->state = SlotState::kHasTurn;
    sleepers->sessions[sleepers->count++] = slot->session;
  }
}

// What the worker in this place has taken goes to the sessions. Frees what nobody waits for.
void hand_over(WorkerPlace place, Sleepers* sleepers) {
  for (ChargeSlot& slot : queue->slots) {
    if (slot.place != place.number) continue;
    if (slot.state == SlotState::kTaken) {
      slot.state = SlotState::kAnswered;
      sleepers->sessions[sleepers->count++] = slot.session;
    } else if (slot.state == SlotState::kAbandoned) {
      slot.state = SlotState::kFree;
    }
  }
}

}  // namespace

void install_charge_queue() {
  next_shmem_request_hook = shmem_request_hook;
  shmem_request_hook = request_shared_memory;
  next_shmem_startup_hook = shmem_startup_hook;
  shmem_startup_hook = start_queue;
}

bool charge_queue_exists() {
  return queue != nullptr;
}

bool enqueue_charge(const ChargeRequest* request) {
  Assert(my_slot == nullptr);
  lock_queue();
  my_slot = free_slot(0, kChargeSlots);
  if (my_slot != nullptr) my_slot->state = SlotState::kFilling;
  unlock_queue();
  if (my_slot == nullptr) return false;
  memcpy(request_in(my_slot), request, request_size(request));
  my_slot->database = MyDatabaseId;
  my_slot->role = request->role;
  my_slot->session = MyLatch;
  lock_queue();
  my_slot->taken_at = 0;
  my_slot->arrival = ++queue->arrivals;
  my_slot->state = SlotState::kPending;
  unlock_queue();
  return true;
}

bool withdraw_charge() {
  lock_queue();
  const bool withdrawn = my_slot->state == SlotState::kPending;
  if (withdrawn) my_slot->state = SlotState::kFree;
  unlock_queue();
  if (withdrawn) my_slot = nullptr;
  return withdrawn;
}

Reply collect_reply(ChargeRequest* request) {
  Reply reply = Reply::kNone;
  lock_queue();
  if (my_slot->state == SlotState::kAnswered) {
    reply = Reply::kComplete;
    copy_reply(request, request_in(my_slot));
    my_slot->state = SlotState::kFree;
  } else if (my_slot->state == SlotState::kHasTurn) {
    reply = Reply::kTurn;
  }
  unlock_queue();
  if (reply == Reply::kComplete) my_slot = nullptr;
  return reply;
}

void postpone_turn() {
  lock_queue();
  my_slot->state = SlotState::kPending;
  my_slot->tried_from = GetCurrentTimestamp();
  unlock_queue();
}

bool take_turn(Oid role) {
  Assert(my_slot == nullptr);
  lock_queue();
  ChargeSlot* slot = free_slot(kChargeSlots, kChargeSlots + kSpareSlots);
  if (slot != nullptr && may_have_turn(MyDatabaseId, role)) {
    slot->state = SlotState::kHasTurn;
    slot->database = MyDatabaseId;
    slot->role = role;
    my_slot = slot;
  }
  unlock_queue();
  return my_slot != nullptr;
}

Service call_worker(WorkerPlace* promised) {
  Service service = Service::kPromised;
  Latch* worker = nullptr;
  lock_queue();
  Place* place = place_of_database(MyDatabaseId);
  if (place != nullptr && is_lost(*place)) {
    vacate(place);
    place = nullptr;
  }
  if (my_slot->state == SlotState::kPending) {
    if (place == nullptr) {
      service = promise_place(promised);
    } else if (place->state == PlaceState::kEntered) {
      worker = place->worker;
    }
  }
  unlock_queue();
  // The latch of a process that has left may be another's by now, which it does no harm.
  if (worker != nullptr) SetLatch(worker);
  return service;
}

void cancel_place(WorkerPlace place) {
  Sleepers sleepers{};
  lock_queue();
  if (holds(place, PlaceState::kPromised)) {
    vacate(&queue->places[place.number]);
    add_pending(&sleepers, MyDatabaseId);
  }
  unlock_queue();
  wake(sleepers);
}

void release_slot() {
  if (my_slot == nullptr) return;
  lock_queue();
  my_slot->state = my_slot->state == SlotState::kTaken ? SlotState::kAbandoned : SlotState::kFree;
  unlock_queue();
  my_slot = nullptr;
}

bool enter_place(WorkerPlace place) {
  lock_queue();
  const bool mine = holds(place, PlaceState::kPromised);
  if (mine) {
    queue->places[place.number].state = PlaceState::kEntered;
    queue->places[place.number].worker = MyLatch;
  }
  unlock_queue();
  return mine;
}

bool take_charges(WorkerPlace place, ChargeRequest* requests[kChargeSlots], int* count) {
  ChargeSlot* taken[kChargeSlots];
  bool any = false;
  *count = 0;
  const TimestampTz now = GetCurrentTimestamp();
  lock_queue();
  for (ChargeSlot& slot : queue->slots) {
    if (!is_pending(slot)) continue;
    any = true;
    slot.state = SlotState::kTaken;
    slot.place = place.number;
    if (slot.taken_at == 0) slot.taken_at = slot.tried_from = now;
    clear_reply(request_in(&slot));
    if (role_has_turn(slot.database, slot.role)) {
      request_in(&slot)->outcome = ChargeOutcome::kLocked;
    } else {
      taken[(*count)++] = &slot;
    }
  }
  unlock_queue();
  std::sort(taken, taken + *count,
            [](const ChargeSlot* a, const ChargeSlot* b) { return a->arrival < b->arrival; });
  std::transform(taken, taken + *count, requests, request_in);
  return any;
}

bool answer_charges(WorkerPlace place) {
  Sleepers sleepers{};
  const TimestampTz now = GetCurrentTimestamp();
  lock_queue();
  try_locked_again(place, now);
  give_turns(now, &sleepers);
  hand_over(place, &sleepers);
  unlock_queue();
  wake(sleepers);
  return sleepers.count > 0;
}

bool leave_if_idle(WorkerPlace place) {
  lock_queue();
  const bool idle = !anything_pending();
  if (idle) vacate(&queue->places[place.number]);
  unlock_queue();
  return idle;
}

void leave_place(WorkerPlace place) {
  Sleepers sleepers{};
  lock_queue();
  if (holds(place, PlaceState::kEntered)) {
    hand_over(place, &sleepers);
    vacate(&queue->places[place.number]);
    add_pending(&sleepers, queue->places[place.number].database);
  }
  unlock_queue();
  wake(sleepers);
}

}  // namespace dpquantile
