#pragma once

#include <span>

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/pg_list.h"
#include "tcop/dest.h"
#include "utils/resowner.h"
}

// The trip wire below a release node that reads protected rows. Everything that is known to fail
// for some rows only is refused before (pg/protect). Whatever fails all the same must tell little,
// and not often:
//   - The user sees that the query could not be answered, and no text that was made while rows were
//     read. The server log has the text.
//   - The failure is noted durably for the role and the tables, before the user sees anything. An
//     error that a row may have raised closes private access. A cancel, or a lack of resources,
//     counts.
// Nothing is written for a query that does not fail.
namespace dpquantile {

// A read that is watched. Plain data, in the caller's frame: an exit finds it there, too.
struct WatchedRead {
  static constexpr int kMostRelations = 64;

  Oid role;
  // OIDs; none: rows that are not protected, which nothing is watched for. A list would be in
  // memory of the query, which may be freed when an exit finds this.
  Oid relations[kMostRelations];
  int relation_count;
  MemoryContext memory;
  ResourceOwner owner;
  bool is_charging;     // an error may be that of a charge
  bool exits_on_error;  // the setting exit_on_error, which is off meanwhile
  CommandDest output;   // where messages went; nowhere meanwhile
  WatchedRead* around;
};

// Begins to watch. The node reads rows of these relations for the role of the session from now on:
// another role that it takes on is no second try. If the session ends before end_read(), this
// counts as a cancel. Of more than kMostRelations it watches the first ones. Nothing is sent to the
// client meanwhile: also no message of level INFO, and not why the session ends.
void watch_read(WatchedRead* read, const List* relations);

// The groups after the first are charged between two of these: errors of a charge pass.
void begin_charge_while_reading();
void end_charge_while_reading();

// The planner reads rows, too: the ends of indexes. Call this in PG_CATCH in the place of
// fail_read() while it plans: errors that are not those of damaged data or of the system pass. They
// may come from what the query computes of constants.
[[noreturn]] void fail_planning(WatchedRead* read);

// Call it in PG_CATCH: notes the failure and raises what the user may see. If the failure cannot be
// noted by a worker, the session ends, and notes it then.
[[noreturn]] void fail_read(WatchedRead* read);

void end_read(const WatchedRead* read);

}  // namespace dpquantile
