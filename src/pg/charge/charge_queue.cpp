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

enum class EntryState : uint32 {
  kFree,
  kFilling,
  kPending,
  kTaken,
  kAnswered,
  kAbandoned,
  kHasTurn
};

struct QueueEntry {
  EntryState state;
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
  QueueEntry entries[kQueueEntries + kSpareEntries];
};

ChargeQueue* queue = nullptr;
QueueEntry* my_entry = nullptr;

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

ChargeRequest* request_in(QueueEntry* entry) {
  return reinterpret_cast<ChargeRequest*>(entry->request);
}

QueueEntry* free_entry(int from, int to) {
  for (int i = from; i < to; ++i) {
    if (queue->entries[i].state == EntryState::kFree) return &queue->entries[i];
  }
  return nullptr;
}

bool has_turn(const QueueEntry& entry, Oid database) {
  return entry.state == EntryState::kHasTurn && entry.database == database;
}

bool role_has_turn(Oid database, Oid role) {
  return std::any_of(
      std::begin(queue->entries), std::end(queue->entries),
      [&](const QueueEntry& entry) { return has_turn(entry, database) && entry.role == role; });
}

bool may_have_turn(Oid database, Oid role) {
  const auto turns =
      std::count_if(std::begin(queue->entries), std::end(queue->entries),
                    [&](const QueueEntry& entry) { return has_turn(entry, database); });
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
  Latch* sessions[kQueueEntries + kSpareEntries];
  int count;
};

void wake(const Sleepers& sleepers) {
  for (int i = 0; i < sleepers.count; ++i) SetLatch(sleepers.sessions[i]);
}

// The sessions that wait for a worker of this database shall look again whether there is one.
void add_pending(Sleepers* sleepers, Oid database) {
  for (const QueueEntry& entry : queue->entries) {
    if (entry.state != EntryState::kPending || entry.database != database) continue;
    sleepers->sessions[sleepers->count++] = entry.session;
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

bool is_pending(const QueueEntry& entry) {
  return entry.state == EntryState::kPending && entry.database == MyDatabaseId;
}

bool anything_pending() {
  return std::any_of(std::begin(queue->entries), std::end(queue->entries), is_pending);
}

bool is_over(TimestampTz start, int milliseconds, TimestampTz now) {
  return TimestampDifferenceExceeds(start, now, milliseconds);
}

void try_locked_again(WorkerPlace place, TimestampTz now) {
  for (QueueEntry& entry : queue->entries) {
    if (entry.place != place.number || entry.state != EntryState::kTaken) continue;
    if (request_in(&entry)->outcome != ChargeOutcome::kLocked) continue;
    if (!is_over(entry.taken_at, kLockedMilliseconds, now)) entry.state = EntryState::kPending;
  }
}

// Of what has been tried in vain for long enough, and may have a turn, what came first.
QueueEntry* next_turn(TimestampTz now) {
  QueueEntry* next = nullptr;
  for (QueueEntry& entry : queue->entries) {
    if (!is_pending(entry) || entry.taken_at == 0) continue;
    if (!is_over(entry.tried_from, kTurnMilliseconds, now)) continue;
    if (!may_have_turn(entry.database, entry.role)) continue;
    if (next == nullptr || entry.arrival < next->arrival) next = &entry;
  }
  return next;
}

void give_turns(TimestampTz now, Sleepers* sleepers) {
  while (QueueEntry* entry = next_turn(now)) {
    entry->state = EntryState::kHasTurn;
    sleepers->sessions[sleepers->count++] = entry->session;
  }
}

// What the worker in this place has taken goes to the sessions. Frees what nobody waits for.
void hand_over(WorkerPlace place, Sleepers* sleepers) {
  for (QueueEntry& entry : queue->entries) {
    if (entry.place != place.number) continue;
    if (entry.state == EntryState::kTaken) {
      entry.state = EntryState::kAnswered;
      sleepers->sessions[sleepers->count++] = entry.session;
    } else if (entry.state == EntryState::kAbandoned) {
      entry.state = EntryState::kFree;
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
  Assert(my_entry == nullptr);
  lock_queue();
  my_entry = free_entry(0, kQueueEntries);
  if (my_entry != nullptr) my_entry->state = EntryState::kFilling;
  unlock_queue();
  if (my_entry == nullptr) return false;
  memcpy(request_in(my_entry), request, request_size(request));
  my_entry->database = MyDatabaseId;
  my_entry->role = request->role;
  my_entry->session = MyLatch;
  lock_queue();
  my_entry->taken_at = 0;
  my_entry->arrival = ++queue->arrivals;
  my_entry->state = EntryState::kPending;
  unlock_queue();
  return true;
}

bool withdraw_charge() {
  lock_queue();
  const bool withdrawn = my_entry->state == EntryState::kPending;
  if (withdrawn) my_entry->state = EntryState::kFree;
  unlock_queue();
  if (withdrawn) my_entry = nullptr;
  return withdrawn;
}

Reply collect_reply(ChargeRequest* request) {
  Reply reply = Reply::kNone;
  lock_queue();
  if (my_entry->state == EntryState::kAnswered) {
    reply = Reply::kComplete;
    copy_reply(request, request_in(my_entry));
    my_entry->state = EntryState::kFree;
  } else if (my_entry->state == EntryState::kHasTurn) {
    reply = Reply::kTurn;
  }
  unlock_queue();
  if (reply == Reply::kComplete) my_entry = nullptr;
  return reply;
}

void postpone_turn() {
  lock_queue();
  my_entry->state = EntryState::kPending;
  my_entry->tried_from = GetCurrentTimestamp();
  unlock_queue();
}

bool take_turn(Oid role) {
  Assert(my_entry == nullptr);
  lock_queue();
  QueueEntry* entry = free_entry(kQueueEntries, kQueueEntries + kSpareEntries);
  if (entry != nullptr && may_have_turn(MyDatabaseId, role)) {
    entry->state = EntryState::kHasTurn;
    entry->database = MyDatabaseId;
    entry->role = role;
    my_entry = entry;
  }
  unlock_queue();
  return my_entry != nullptr;
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
  if (my_entry->state == EntryState::kPending) {
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

void release_entry() {
  if (my_entry == nullptr) return;
  lock_queue();
  my_entry->state =
      my_entry->state == EntryState::kTaken ? EntryState::kAbandoned : EntryState::kFree;
  unlock_queue();
  my_entry = nullptr;
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

bool take_charges(WorkerPlace place, ChargeRequest* requests[kQueueEntries], int* count) {
  QueueEntry* taken[kQueueEntries];
  bool any = false;
  *count = 0;
  const TimestampTz now = GetCurrentTimestamp();
  lock_queue();
  for (QueueEntry& entry : queue->entries) {
    if (!is_pending(entry)) continue;
    any = true;
    entry.state = EntryState::kTaken;
    entry.place = place.number;
    if (entry.taken_at == 0) entry.taken_at = entry.tried_from = now;
    clear_reply(request_in(&entry));
    if (role_has_turn(entry.database, entry.role)) {
      request_in(&entry)->outcome = ChargeOutcome::kLocked;
    } else {
      taken[(*count)++] = &entry;
    }
  }
  unlock_queue();
  std::sort(taken, taken + *count,
            [](const QueueEntry* a, const QueueEntry* b) { return a->arrival < b->arrival; });
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
