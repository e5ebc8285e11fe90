#include "pg/charge/role_names.hpp"

#include "pg/ledger/budget_tables.hpp"
#include "pg/server/nodes.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/pg_proc.h"
#include "executor/spi.h"
#include "nodes/parsenodes.h"
#include "parser/parse_func.h"
#include "tcop/utility.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
}

namespace dpquantile {

namespace {

ProcessUtility_hook_type previous_utility = nullptr;

constexpr const char* kSchema = "dpquantile";
constexpr const char* kFunction = "note_role_names";

// Invalid without the extension, or with its objects of an earlier version.
Oid find_function() {
  List* name = list_make2(makeString(pstrdup(kSchema)), makeString(pstrdup(kFunction)));
  return LookupFuncName(name, 0, nullptr, true);
}

Oid owner_of_function(Oid function) {
  HeapTuple row = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
  if (!HeapTupleIsValid(row)) return InvalidOid;
  const Oid owner = reinterpret_cast<Form_pg_proc>(GETSTRUCT(row))->proowner;
  ReleaseSysCache(row);
  return owner;
}

void note_names() {
  const Oid function = find_function();
  const Oid owner = OidIsValid(function) ? owner_of_function(function) : InvalidOid;
  if (!OidIsValid(owner)) return;
  const SavedUser before = switch_to_user(owner);
  SPI_connect();
  PushActiveSnapshot(GetTransactionSnapshot());
  (void)SPI_execute("SELECT dpquantile.note_role_names()", false, 0);
  PopActiveSnapshot();
  SPI_finish();
  restore_user(before);
}

bool renames_role(const Node* statement) {
  return IsA(statement, RenameStmt) && as<RenameStmt>(statement)->renameType == OBJECT_ROLE;
}

void note_around(PlannedStmt* statement, const char* text, bool read_only_tree,
                 ProcessUtilityContext context, ParamListInfo params, QueryEnvironment* env,
                 DestReceiver* receiver, QueryCompletion* completion) {
  const bool renames = renames_role(statement->utilityStmt);
  if (renames || IsA(statement->utilityStmt, DropRoleStmt)) note_names();
  (previous_utility != nullptr ? previous_utility : standard_ProcessUtility)(
      statement, text, read_only_tree, context, params, env, receiver, completion);
  if (!renames) return;
  CommandCounterIncrement();
  note_names();
}

}  // namespace

void install_role_names() {
  previous_utility = ProcessUtility_hook;
  ProcessUtility_hook = note_around;
}

void note_role_names_now() {
  MemoryContext context = CurrentMemoryContext;
  PG_TRY();
  {
    SetCurrentStatementStartTimestamp();
    StartTransactionCommand();
    note_names();
    CommitTransactionCommand();
  }
  PG_CATCH();
  {
    EmitErrorReport();
    FlushErrorState();
    AbortCurrentTransaction();
  }
  PG_END_TRY();
  MemoryContextSwitchTo(context);
}

}  // namespace dpquantile
