#pragma once

#include "pg/ledger/charge_request.hpp"

// Charges that wait for a resident worker of their database, in shared memory. It exists only if
// the library is in shared_preload_libraries.
//
// A request has an entry, whose state changes under one lock:
//   free -> filling    by the session that asks
//   filling -> pending
//   pending -> taken   by the worker; from here on the charge may be made
//   taken -> answered  or pending once more, where a lock stood in the way just now
//   answered -> free   by the session
// A session that is cancelled frees its entry in every state but one: an entry that is taken
// becomes abandoned, because the worker still writes to it, and is freed by the worker.
//
// The resident worker waits for nobody's lock. Where one stays in the way,
//   pending -> has turn  by the worker: it is this session's turn to have a session worker, which
//                        waits for the lock
//   has turn -> pending  by the session, where no worker could be started
//   has turn -> free     by the session
//   free -> has turn     by the session, in a spare entry, when all others are busy
// A role has one turn at a time, and the resident worker leaves the role alone meanwhile: many
// waiting workers would lock the budget for each other, and one would have to compete with the
// resident worker. A database has two.
//
// A database has at most one resident worker, which has a place here from before it is started
// until it leaves. It leaves under the lock and only if nothing is pending, so a request that comes
// later finds no worker and starts another.
namespace dpquantile {

inline constexpr int kQueueEntries = 64;
// Entries that are for turns only, so that a session gets its charge while all others are busy.
inline constexpr int kSpareEntries = 2;
inline constexpr int kTurnsOfDatabase = 2;
inline constexpr int kWorkerPlaces = 32;

// To be called in _PG_init while the library is being preloaded.
void install_charge_queue();

bool charge_queue_exists();

// A resident worker's place. The term tells it from those that had the place before.
struct WorkerPlace {
  int32 number;
  uint32 term;
};

// ---- The session that asks -----------------------------------------------------------------

// Whether a resident worker is or will be there for this session's request.
enum class Service {
  kPromised,   // a worker runs or is being started
  kWanted,     // nobody has started one; the caller has been given a place for it, and must
  kImpossible  // every place is taken by workers of other databases
};

// Puts the request in an entry of this session; false if all entries are busy. The session has one
// entry at most, which it must give back in the end, see release_entry.
bool enqueue_charge(const ChargeRequest* request);

// Takes back a request that is still pending and returns true. Afterwards no resident worker will
// make that charge, and the session has no entry.
bool withdraw_charge();

enum class Reply {
  kNone,  // not yet
  kComplete,
  kTurn  // a lock stands in the way, and it is this session's turn, until it releases the entry
};

// Copies the reply to the request and gives the entry back, if the reply is complete. A charge that
// a lock has been in the way of for too long is complete with the outcome kLocked.
Reply collect_reply(ChargeRequest* request);

// Puts off this session's turn: its request waits for the resident worker once more.
void postpone_turn();

// Takes a turn for this session, which has no entry; false if it has to wait for others.
bool take_turn(Oid role);

// Wakes the worker of this database, if the request is pending.
Service call_worker(WorkerPlace* place);

// Says that the worker for this place will not come, if it has not come already.
void cancel_place(WorkerPlace place);

// Gives this session's entry back, if it has one, whatever state the request is in.
void release_entry();

// ---- The resident worker --------------------------------------------------------------------

// Takes the place that was promised; false if it is not this worker's any more.
bool enter_place(WorkerPlace place);

// Takes all pending requests of the worker's database, and returns whether there are any. The
// worker may write to their replies until it answers them. Those that it shall try, in the order of
// their arrival, are listed: the others' roles have a turn.
bool take_charges(WorkerPlace place, ChargeRequest* requests[kQueueEntries], int* count);

// Hands the replies of requests taken over to the sessions. A request whose outcome is kLocked
// becomes pending again, for a while: most locks are short. Then it gets its turn, or is answered
// as it is if that does not come in time. Returns whether any session was answered.
bool answer_charges(WorkerPlace place);

// Gives the place up unless there are pending requests.
bool leave_if_idle(WorkerPlace place);

// Gives the place up whatever is the case: sessions whose request was taken get the reply as it is,
// the others are woken to look for another worker.
void leave_place(WorkerPlace place);

}  // namespace dpquantile
