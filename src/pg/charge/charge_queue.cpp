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

// A worker that has not occupied its place after this time is taken for lost. If it comes later,
// the place has a new generation or state, and the worker ends.
constexpr int kStartSeconds = 10;

// How long the resident worker retries a request that a lock prevents: before the request may have
// a turn, and in total.
constexpr int kBeforeTurnMilliseconds = 50;
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
  int32 place;                 // of the worker that has taken it
  TimestampTz first_taken_at;  // 0 before that
  TimestampTz tried_since;     // when it was first taken, or when its last turn was postponed
  Latch* session;
  RequestStorage request;
};

enum class PlaceState : uint32 { kFree, kReserved, kOccupied };

struct Place {
  PlaceState state;
  Oid database;
  uint32 generation;
  TimestampTz reserved_at;
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

// Also runs when the server restarts after a crash. The shared memory is empty then.
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

QueueEntry* find_free_entry(int from, int to) {
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

Place* find_place_of_database(Oid database) {
  for (Place& place : queue->places) {
    if (place.state != PlaceState::kFree && place.database == database) return &place;
  }
  return nullptr;
}

void free_place(Place* place) {
  place->state = PlaceState::kFree;
  place->worker = nullptr;
}

bool is_lost(const Place& place) {
  return place.state == PlaceState::kReserved &&
         TimestampDifferenceExceeds(place.reserved_at, GetCurrentTimestamp(), kStartSeconds * 1000);
}

Place* find_free_place() {
  for (Place& place : queue->places) {
    if (is_lost(place)) free_place(&place);
    if (place.state == PlaceState::kFree) return &place;
  }
  return nullptr;
}

// Sessions are woken after the lock is released, so that they do not have to wait for it.
struct SessionsToWake {
  Latch* sessions[kQueueEntries + kSpareEntries];
  int count;
};

void wake(const SessionsToWake& to_wake) {
  for (int i = 0; i < to_wake.count; ++i) SetLatch(to_wake.sessions[i]);
}

// The sessions that wait for a worker of this database must check again whether there is one.
void add_pending_sessions(SessionsToWake* to_wake, Oid database) {
  for (const QueueEntry& entry : queue->entries) {
    if (entry.state != EntryState::kPending || entry.database != database) continue;
    to_wake->sessions[to_wake->count++] = entry.session;
  }
}

WorkerStatus reserve_place(WorkerPlace* reserved) {
  Place* place = find_free_place();
  if (place == nullptr) return WorkerStatus::kNoPlace;
  place->state = PlaceState::kReserved;
  place->database = MyDatabaseId;
  ++place->generation;
  place->reserved_at = GetCurrentTimestamp();
  *reserved = {static_cast<int32>(place - queue->places), place->generation};
  return WorkerStatus::kMustStart;
}

bool has_state(WorkerPlace place, PlaceState state) {
  const Place& there = queue->places[place.number];
  return there.state == state && there.generation == place.generation;
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

void requeue_locked(WorkerPlace place, TimestampTz now) {
  for (QueueEntry& entry : queue->entries) {
    if (entry.place != place.number || entry.state != EntryState::kTaken) continue;
    if (entry.request.get()->outcome != ChargeOutcome::kLocked) continue;
    if (!is_over(entry.first_taken_at, kLockedMilliseconds, now))
      entry.state = EntryState::kPending;
  }
}

// The first to arrive of the requests that have failed for long enough and may have a turn, or
// null.
QueueEntry* next_turn(TimestampTz now) {
  QueueEntry* next = nullptr;
  for (QueueEntry& entry : queue->entries) {
    if (!is_pending(entry) || entry.first_taken_at == 0) continue;
    if (!is_over(entry.tried_since, kBeforeTurnMilliseconds, now)) continue;
    if (!may_have_turn(entry.database, entry.role)) continue;
    if (next == nullptr || entry.arrival < next->arrival) next = &entry;
  }
  return next;
}

void give_turns(TimestampTz now, SessionsToWake* to_wake) {
  while (QueueEntry* entry = next_turn(now)) {
    entry->state = EntryState::kHasTurn;
    to_wake->sessions[to_wake->count++] = entry->session;
  }
}

// Gives the sessions the replies to all requests that the worker in this place has taken. Frees the
// entries of abandoned requests.
void deliver_replies(WorkerPlace place, SessionsToWake* to_wake) {
  for (QueueEntry& entry : queue->entries) {
    if (entry.place != place.number) continue;
    if (entry.state == EntryState::kTaken) {
      entry.state = EntryState::kAnswered;
      to_wake->sessions[to_wake->count++] = entry.session;
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
  my_entry = find_free_entry(0, kQueueEntries);
  if (my_entry != nullptr) my_entry->state = EntryState::kFilling;
  unlock_queue();
  if (my_entry == nullptr) return false;
  memcpy(my_entry->request.get(), request, request_size(request));
  my_entry->database = MyDatabaseId;
  my_entry->role = request->role;
  my_entry->session = MyLatch;
  lock_queue();
  my_entry->first_taken_at = 0;
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
    copy_reply(request, my_entry->request.get());
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
  my_entry->tried_since = GetCurrentTimestamp();
  unlock_queue();
}

bool take_turn(Oid role) {
  Assert(my_entry == nullptr);
  lock_queue();
  QueueEntry* entry = find_free_entry(kQueueEntries, kQueueEntries + kSpareEntries);
  if (entry != nullptr && may_have_turn(MyDatabaseId, role)) {
    entry->state = EntryState::kHasTurn;
    entry->database = MyDatabaseId;
    entry->role = role;
    my_entry = entry;
  }
  unlock_queue();
  return my_entry != nullptr;
}

WorkerStatus call_worker(WorkerPlace* reserved) {
  WorkerStatus status = WorkerStatus::kAvailable;
  Latch* worker = nullptr;
  lock_queue();
  Place* place = find_place_of_database(MyDatabaseId);
  if (place != nullptr && is_lost(*place)) {
    free_place(place);
    place = nullptr;
  }
  if (my_entry->state == EntryState::kPending) {
    if (place == nullptr) {
      status = reserve_place(reserved);
    } else if (place->state == PlaceState::kOccupied) {
      worker = place->worker;
    }
  }
  unlock_queue();
  // If the worker has ended, its latch may belong to another process. Waking that does no harm.
  if (worker != nullptr) SetLatch(worker);
  return status;
}

void cancel_reservation(WorkerPlace place) {
  SessionsToWake to_wake{};
  lock_queue();
  if (has_state(place, PlaceState::kReserved)) {
    free_place(&queue->places[place.number]);
    add_pending_sessions(&to_wake, MyDatabaseId);
  }
  unlock_queue();
  wake(to_wake);
}

void release_entry() {
  if (my_entry == nullptr) return;
  lock_queue();
  my_entry->state =
      my_entry->state == EntryState::kTaken ? EntryState::kAbandoned : EntryState::kFree;
  unlock_queue();
  my_entry = nullptr;
}

bool occupy_place(WorkerPlace place) {
  lock_queue();
  const bool mine = has_state(place, PlaceState::kReserved);
  if (mine) {
    queue->places[place.number].state = PlaceState::kOccupied;
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
    if (entry.first_taken_at == 0) entry.first_taken_at = entry.tried_since = now;
    clear_reply(entry.request.get());
    const bool is_charge = entry.request.get()->kind == RequestKind::kCharges;
    if (is_charge && role_has_turn(entry.database, entry.role)) {
      entry.request.get()->outcome = ChargeOutcome::kLocked;
    } else {
      taken[(*count)++] = &entry;
    }
  }
  unlock_queue();
  std::sort(taken, taken + *count,
            [](const QueueEntry* a, const QueueEntry* b) { return a->arrival < b->arrival; });
  std::transform(taken, taken + *count, requests,
                 [](QueueEntry* entry) { return entry->request.get(); });
  return any;
}

bool answer_charges(WorkerPlace place) {
  SessionsToWake to_wake{};
  const TimestampTz now = GetCurrentTimestamp();
  lock_queue();
  requeue_locked(place, now);
  give_turns(now, &to_wake);
  deliver_replies(place, &to_wake);
  unlock_queue();
  wake(to_wake);
  return to_wake.count > 0;
}

bool leave_if_idle(WorkerPlace place) {
  lock_queue();
  const bool idle = !anything_pending();
  if (idle) free_place(&queue->places[place.number]);
  unlock_queue();
  return idle;
}

void leave_place(WorkerPlace place) {
  SessionsToWake to_wake{};
  lock_queue();
  if (has_state(place, PlaceState::kOccupied)) {
    deliver_replies(place, &to_wake);
    free_place(&queue->places[place.number]);
    add_pending_sessions(&to_wake, queue->places[place.number].database);
  }
  unlock_queue();
  wake(to_wake);
}

}  // namespace dpquantile
