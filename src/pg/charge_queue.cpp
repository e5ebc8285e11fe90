#include "pg/charge_queue.hpp"

#include <algorithm>

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

// How long requests are tried anew because of a lock.
constexpr int kLockedMilliseconds = 50;

enum class SlotState : uint32 { kFree, kFilling, kPending, kTaken, kAnswered, kAbandoned };

struct ChargeSlot {
  SlotState state;
  Oid database;
  uint64 arrival;
  int32 place;           // of the worker that has taken it
  TimestampTz taken_at;  // first; 0 before that
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
  ChargeSlot slots[kChargeSlots];
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

ChargeSlot* take_free_slot() {
  for (ChargeSlot& slot : queue->slots) {
    if (slot.state != SlotState::kFree) continue;
    slot.state = SlotState::kFilling;
    return &slot;
  }
  return nullptr;
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
  Latch* sessions[kChargeSlots];
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
  return std::any_of(queue->slots, queue->slots + kChargeSlots, is_pending);
}

bool is_to_be_tried_again(ChargeSlot* slot, TimestampTz now) {
  return request_in(slot)->outcome == ChargeOutcome::kLocked &&
         !TimestampDifferenceExceeds(slot->taken_at, now, kLockedMilliseconds);
}

void try_locked_again(WorkerPlace place, TimestampTz now) {
  for (ChargeSlot& slot : queue->slots) {
    if (slot.place != place.number || slot.state != SlotState::kTaken) continue;
    if (!is_to_be_tried_again(&slot, now)) continue;
    slot.state = SlotState::kPending;
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
  my_slot = take_free_slot();
  unlock_queue();
  if (my_slot == nullptr) return false;
  memcpy(request_in(my_slot), request, request_size(request));
  my_slot->database = MyDatabaseId;
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

bool collect_reply(ChargeRequest* request) {
  lock_queue();
  const bool answered = my_slot->state == SlotState::kAnswered;
  if (answered) {
    copy_reply(request, request_in(my_slot));
    my_slot->state = SlotState::kFree;
  }
  unlock_queue();
  if (answered) my_slot = nullptr;
  return answered;
}

Service call_worker(WorkerPlace* promised) {
  Service service = Service::kPromised;
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
      SetLatch(place->worker);
    }
  }
  unlock_queue();
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

int take_charges(WorkerPlace place, ChargeRequest* requests[kChargeSlots]) {
  ChargeSlot* taken[kChargeSlots];
  int count = 0;
  const TimestampTz now = GetCurrentTimestamp();
  lock_queue();
  for (ChargeSlot& slot : queue->slots) {
    if (!is_pending(slot)) continue;
    slot.state = SlotState::kTaken;
    slot.place = place.number;
    if (slot.taken_at == 0) slot.taken_at = now;
    taken[count++] = &slot;
  }
  unlock_queue();
  std::sort(taken, taken + count,
            [](const ChargeSlot* a, const ChargeSlot* b) { return a->arrival < b->arrival; });
  for (int i = 0; i < count; ++i) {
    requests[i] = request_in(taken[i]);
    clear_reply(requests[i]);
  }
  return count;
}

int answer_charges(WorkerPlace place) {
  Sleepers sleepers{};
  const TimestampTz now = GetCurrentTimestamp();
  lock_queue();
  try_locked_again(place, now);
  hand_over(place, &sleepers);
  unlock_queue();
  wake(sleepers);
  return sleepers.count;
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
