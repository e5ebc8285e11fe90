#include "pg/release/trip_wire.hpp"

#include "pg/charge/failed_read.hpp"

extern "C" {
#include "access/xloginsert.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/condition_variable.h"
#include "storage/fd.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/pmsignal.h"
#include "storage/proc.h"
#include "storage/procsignal.h"
#include "tcop/tcopprot.h"
#include "utils/pidfile.h"
#include "utils/wait_event.h"
}

namespace dpquantile {

namespace {

constexpr char kNotAnswered[] = "the query could not be answered";

// The innermost read of the session, which is on the stack.
WatchedRead* watched = nullptr;
// What the session notes for them when it ends, and tells the client when that is done.
FailedRead last_failure = {0, false};
CommandDest output_of_session = DestNone;
bool notes_at_exit = false;

std::span<const Oid> relations_of(const WatchedRead* read) {
  return {read->relations, static_cast<size_t>(read->relation_count)};
}

constexpr int kTriesOfWorkers = 20;
constexpr long kPauseMicroseconds = 500'000;

// What the failed call held, as the abort of a transaction releases it first. The rest of an abort
// waits for PostgreSQL's own.
void release_what_was_held() {
  LWLockReleaseAll();
  pgstat_report_wait_end();
  DPQ_RELEASE_BUFFERS();
  XLogResetInsertion();
  ConditionVariableCancelSleep();
  LockErrorCleanup();
}

// ---- While the session goes on -------------------------------------------------------------

bool is_in_class(int sqlstate, int class_of) {
  return ERRCODE_TO_CATEGORY(sqlstate) == ERRCODE_TO_CATEGORY(class_of);
}

// A cancel, a timeout, a shutdown, a conflict with other sessions, or memory and disk that run out.
bool comes_from_outside(int sqlstate) {
  return is_in_class(sqlstate, ERRCODE_OPERATOR_INTERVENTION) ||
         is_in_class(sqlstate, ERRCODE_INSUFFICIENT_RESOURCES) ||
         is_in_class(sqlstate, ERRCODE_TRANSACTION_ROLLBACK) ||
         is_in_class(sqlstate, ERRCODE_CONNECTION_EXCEPTION) ||
         sqlstate == ERRCODE_LOCK_NOT_AVAILABLE;
}

// The charge for the groups after the first refuses before it looks at what is read: the budget is
// spent, or locked, or no worker is free.
bool refuses_charge(int sqlstate) {
  return !comes_from_outside(sqlstate) || sqlstate == ERRCODE_CONFIGURATION_LIMIT_EXCEEDED ||
         sqlstate == ERRCODE_LOCK_NOT_AVAILABLE || sqlstate == ERRCODE_INSUFFICIENT_RESOURCES;
}

ErrorData* take_error(const WatchedRead* read) {
  MemoryContextSwitchTo(read->memory);
  ErrorData* error = CopyErrorData();
  FlushErrorState();
  CurrentResourceOwner = read->owner;
  release_what_was_held();
  return error;
}

void log_error(const char* what, const ErrorData* error) {
  const char* detail = error->detail_log != nullptr ? error->detail_log : error->detail;
  // Its context has what is around the read, too.
  ErrorContextCallback* const callers = error_context_stack;
  error_context_stack = nullptr;
  ereport(LOG_SERVER_ONLY, (errcode(error->sqlerrcode), errmsg("%s: %s", what, error->message),
                            detail == nullptr ? 0 : errdetail_log("%s", detail),
                            error->hint == nullptr ? 0 : errhint("%s", error->hint),
                            error->context == nullptr ? 0 : (errcontext("%s", error->context))));
  error_context_stack = callers;
}

// A cancel that arrives now is one of the query, which fails anyway. A termination ends the
// session.
bool try_to_note(const WatchedRead* read, const FailedRead& failure) {
  volatile bool is_noted = false;
  PG_TRY();
  {
    HOLD_CANCEL_INTERRUPTS();
    note_failure_by_worker(read->role, relations_of(read), failure);
    RESUME_CANCEL_INTERRUPTS();
    is_noted = true;
  }
  PG_CATCH();
  {
    MemoryContextSwitchTo(read->memory);
    FlushErrorState();
    release_what_was_held();
  }
  PG_END_TRY();
  return is_noted;
}

// The user sees nothing meanwhile.
bool note(const WatchedRead* read, const FailedRead& failure) {
  for (int i = 0; i < kTriesOfWorkers && !ProcDiePending; ++i) {
    if (try_to_note(read, failure)) return true;
    pg_usleep(kPauseMicroseconds);
  }
  return false;
}

// PostgreSQL's texts of a cancel and of a timeout, which say which timeout it was. Another text
// with their SQLSTATEs may be about a row.
constexpr const char* kTextsForUser[] = {"canceling statement due to user request",
                                         "canceling statement due to statement timeout",
                                         "canceling statement due to lock timeout"};

const char* text_for_user(const ErrorData* error) {
  if (error->sqlerrcode != ERRCODE_QUERY_CANCELED &&
      error->sqlerrcode != ERRCODE_LOCK_NOT_AVAILABLE) {
    return kNotAnswered;
  }
  for (const char* text : kTextsForUser) {
    if (error->message != nullptr && strcmp(error->message, _(text)) == 0) return _(text);
  }
  return kNotAnswered;
}

[[noreturn]] void show(int level, const FailedRead& failure, const char* text) {
  if (failure.closes) {
    ereport(level, (errcode(ERRCODE_SYSTEM_ERROR), errmsg(kNotAnswered),
                    errhint("Private access to its tables is closed until their owner opens it "
                            "again (dp_open_private_access). The server log says why.")));
  }
  const bool is_constant = text != kNotAnswered;
  ereport(level, (errcode(failure.sqlstate), errmsg("%s", text),
                  is_constant ? 0
                              : errhint("The server ran out of memory, disk or another resource, "
                                        "or ended the query; its log says which. The query was "
                                        "charged, and counts for most_cancels.")));
  pg_unreachable();
}

// The error was made while nothing was sent to the client.
[[noreturn]] void pass_error(const WatchedRead* read) {
  end_read(read);
  MemoryContextSwitchTo(read->memory);
  ErrorData* error = CopyErrorData();
  FlushErrorState();
  error->output_to_client = whereToSendOutput == DestRemote;
  ReThrowError(error);
}

constexpr int kTriesWhileServerStops = 60;

// ---- When the session ends -----------------------------------------------------------------

// The postmaster writes it to its file first.
bool server_stops() {
  if (!PostmasterIsAlive()) return true;
  FILE* file = AllocateFile("postmaster.pid", "r");
  if (file == nullptr) return false;
  char line[2 * MAXPGPATH];
  bool stops = false;
  for (int i = 1; fgets(line, sizeof line, file) != nullptr; ++i) {
    if (i == LOCK_FILE_LINE_PM_STATUS) {
      stops = strncmp(line, PM_STATUS_STOPPING, strlen(PM_STATUS_STOPPING)) == 0;
    }
  }
  FreeFile(file);
  return stops;
}

bool has_told_of_delay = false;

// The server log has the error, too.
void tell_of_delay() {
  if (has_told_of_delay) return;
  has_told_of_delay = true;
  EmitErrorReport();
  ereport(LOG, (errmsg("a private query that ended early cannot be noted yet"),
                errhint("This session stays until it can. Look for sessions that hold many locks "
                        "(pg_locks), and at memory and disk.")));
}

// Returns whether all is noted. An error comes back here: while a process exits, PostgreSQL would
// end it with the error.
bool try_at_exit(volatile bool* stops) {
  volatile bool is_noted = false;
  proc_exit_inprogress = false;
  ExitOnAnyError = false;
  PG_TRY();
  {
    *stops = server_stops();
    // Others may wait until all processes have seen it, such as DROP DATABASE.
    if (ProcSignalBarrierPending) ProcessProcSignalBarrier();
    while (watched != nullptr) {
      note_failure_at_exit(watched->role, relations_of(watched), last_failure);
      watched = watched->around;
    }
    is_noted = true;
  }
  PG_CATCH();
  {
    // From here on an error would go back to the session, which has ended.
    proc_exit_inprogress = true;
    HOLD_INTERRUPTS();
    MemoryContextSwitchTo(TopMemoryContext);
    tell_of_delay();
    FlushErrorState();
    release_what_was_held();
  }
  PG_END_TRY();
  proc_exit_inprogress = true;
  return is_noted;
}

int tries_while_server_stops = 0;

// What a note needs may be used up, also by this role on purpose: locks, memory, worker slots. So
// the session stays, and keeps trying until the server is stopped: a server must be able to stop. A
// role cannot have it stopped.
void note_at_exit(int, Datum) {
  if (watched == nullptr) return;
  // An error that PostgreSQL makes FATAL ends this call, and comes back here.
  before_shmem_exit(note_at_exit, Datum{0});
  whereToSendOutput = DestNone;
  volatile bool stops = false;
  while (!try_at_exit(&stops)) {
    if (stops && ++tries_while_server_stops > kTriesWhileServerStops) {
      watched = nullptr;
      ereport(LOG, (errmsg("a private query that ended early could not be noted")));
      cancel_before_shmem_exit(note_at_exit, Datum{0});
      return;
    }
    pg_usleep(kPauseMicroseconds);
  }
  cancel_before_shmem_exit(note_at_exit, Datum{0});
  // PostgreSQL calls what is still registered.
  whereToSendOutput = output_of_session;
  if (last_failure.sqlstate == 0) last_failure.sqlstate = ERRCODE_ADMIN_SHUTDOWN;
  show(FATAL, last_failure, kNotAnswered);
}

}  // namespace

void watch_read(WatchedRead* read, const List* relations) {
  *read = {};
  read->role = GetSessionUserId();
  read->relation_count = Min(list_length(relations), WatchedRead::kMostRelations);
  for (int i = 0; i < read->relation_count; ++i) {
    read->relations[i] = list_nth_oid(relations, i);
  }
  read->memory = CurrentMemoryContext;
  read->owner = CurrentResourceOwner;
  read->exits_on_error = ExitOnAnyError;
  read->output = whereToSendOutput;
  read->around = watched;
  if (read->relation_count == 0) return;
  if (watched == nullptr) output_of_session = whereToSendOutput;
  whereToSendOutput = DestNone;
  // A FATAL in the place of an ERROR would show its text, and end the session before it is noted.
  ExitOnAnyError = false;
  if (!notes_at_exit) before_shmem_exit(note_at_exit, Datum{0});
  notes_at_exit = true;
  watched = read;
}

void begin_charge_while_reading() {
  if (watched != nullptr) watched->is_charging = true;
}

void end_charge_while_reading() {
  if (watched != nullptr) watched->is_charging = false;
}

void fail_read(WatchedRead* read) {
  if (read->relation_count == 0) PG_RE_THROW();
  const int sqlstate = geterrcode();
  const FailedRead failure = {sqlstate, !comes_from_outside(sqlstate)};
  watched = read;
  if (read->is_charging && refuses_charge(sqlstate)) pass_error(read);
  // If the session ends from now on, it notes this.
  last_failure = failure;
  const char* volatile text = kNotAnswered;
  volatile int level = FATAL;
  PG_TRY();
  {
    const ErrorData* error = take_error(read);
    const char* shown = text_for_user(error);
    if (shown == kNotAnswered) log_error("a private query failed while it read rows", error);
    if (note(read, failure)) {
      text = shown;
      level = ERROR;
      last_failure = {0, false};
      end_read(read);
    }
  }
  PG_CATCH();
  {
    // Perhaps memory has run out.
    FlushErrorState();
  }
  PG_END_TRY();
  show(level, failure, text);
}

void fail_planning(WatchedRead* read) {
  if (read->relation_count == 0) PG_RE_THROW();
  const int sqlstate = geterrcode();
  if (sqlstate == ERRCODE_DATA_CORRUPTED || sqlstate == ERRCODE_INDEX_CORRUPTED ||
      is_in_class(sqlstate, ERRCODE_SYSTEM_ERROR)) {
    fail_read(read);
  }
  pass_error(read);
}

void end_read(const WatchedRead* read) {
  if (read->relation_count == 0) return;
  watched = read->around;
  ExitOnAnyError = read->exits_on_error;
  whereToSendOutput = read->output;
}

}  // namespace dpquantile
