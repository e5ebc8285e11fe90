#pragma once

#include "pg/ledger/charge_request.hpp"

// The queue of charges that wait for the resident worker of their database, in shared memory. It
// exists only if the library is in shared_preload_libraries. Then all processes have inherited the
// postmaster's copy of the library, so the requests need no LibraryStamp.
//
// Each request has an entry. The states of an entry, which change under one lock, and who changes
// them:
//   free -> filling    by the session that asks
//   filling -> pending by the session
//   pending -> taken   by the worker; from now on the charge may be made
//   taken -> answered  by the worker
//   taken -> pending   by the worker, if a lock prevented the charge and there is time to retry
//   answered -> free   by the session
// A cancelled session frees its entry, except a taken one: the worker still writes to it, so it
// becomes abandoned, and the worker frees it.
//
// The resident worker does not wait for locks. If a lock keeps preventing a charge:
//   pending -> has turn  by the worker; the session may now use a session worker, which waits for
//                        the lock
//   has turn -> pending  by the session, if it could not start a worker
//   has turn -> free     by the session
//   free -> has turn     by the session, in a spare entry, when all other entries are busy
// A role has at most one turn at a time, and the resident worker does not charge the role
// meanwhile. Otherwise several waiting workers would lock the budget for each other, and a waiting
// worker would compete with the resident worker for it. A database has at most two turns at a time.
//
// A database has at most one resident worker. A session reserves a place for the worker before it
// starts it, and the worker keeps the place until it leaves. An idle worker leaves under the lock
// and only if nothing is pending, so a later request finds no worker and starts another.
namespace dpquantile {

inline constexpr int kQueueEntries = 64;
// Extra entries for turns only. A session that finds all other entries busy can still charge.
inline constexpr int kSpareEntries = 2;
inline constexpr int kTurnsOfDatabase = 2;
inline constexpr int kWorkerPlaces = 32;

// Call it in _PG_init while the library is being preloaded.
void install_charge_queue();

// Whether the library was preloaded.
bool charge_queue_exists();

// A resident worker's place. The generation distinguishes this worker from earlier ones in the
// place.
struct WorkerPlace {
  int32 number;
  uint32 generation;
};

// ---- The session that asks -----------------------------------------------------------------

// Whether there is a resident worker for this session's request.
enum class WorkerStatus {
  kAvailable,  // a worker runs or is being started, or the request is not pending any more
  kMustStart,  // there is none; a place is reserved, and the caller must start a worker for it
  kNoPlace     // workers of other databases have all places
};

// Puts the request in an entry for this session. Returns false if all entries are busy. A session
// has at most one entry and must give it back in the end (release_entry).
bool enqueue_charge(const ChargeRequest* request);

// Takes the request back if it is still pending, and returns whether it was. After true no resident
// worker will make the charge, and the session has no entry.
bool withdraw_charge();

// Whether the request has a reply.
enum class Reply {
  kNone,  // not yet
  kComplete,
  kTurn  // a lock prevents the charge; this session has a turn until it releases the entry
};

// If the reply is complete, copies it to the request and gives the entry back. If a lock has
// prevented the charge for too long, the reply is complete with the outcome kLocked.
Reply collect_reply(ChargeRequest* request);

// Gives up this session's turn for now: the request waits for the resident worker again.
void postpone_turn();

// Takes a turn for this session, which must have no entry. Returns false if no spare entry is free,
// or if the role or the database has all its turns.
bool take_turn(Oid role);

// If the request is pending, wakes the worker of this database, or reserves a place for a new one
// and sets *place (kMustStart).
WorkerStatus call_worker(WorkerPlace* place);

// Frees a reserved place whose worker will not come. Does nothing if the worker has occupied it.
void cancel_reservation(WorkerPlace place);

// Gives this session's entry back, in any state. Does nothing if the session has no entry.
void release_entry();

// ---- The resident worker --------------------------------------------------------------------

// Occupies the place that was reserved for this worker. Returns false if it is no longer reserved
// for it.
bool occupy_place(WorkerPlace place);

// Takes all pending requests of the worker's database and returns whether there are any. The worker
// may write to their replies until it answers them. Lists in `requests` those that the worker must
// try, in order of arrival. The others get the outcome kLocked, because their role has a turn.
bool take_charges(WorkerPlace place, ChargeRequest* requests[kQueueEntries], int* count);

// Gives the sessions the replies to the requests that were taken. A request with the outcome
// kLocked becomes pending again instead, because most locks are short; after a while it may get a
// turn, and after two seconds in total it is answered as locked. Returns whether any session was
// woken.
bool answer_charges(WorkerPlace place);

// Gives the place up unless the worker's database has pending requests. Returns whether it did.
bool leave_if_idle(WorkerPlace place);

// Gives the place up in any case. Sessions with a taken request get its reply in its present state;
// sessions with a pending request are woken to find another worker.
void leave_place(WorkerPlace place);

}  // namespace dpquantile
