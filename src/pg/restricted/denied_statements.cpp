#include "pg/restricted/denied_statements.hpp"

#include <string_view>

#include "pg/restricted/message_level.hpp"
#include "pg/restricted/restricted_session.hpp"
#include "pg/server/nodes.hpp"

extern "C" {
#include "commands/defrem.h"
#include "nodes/parsenodes.h"
#include "utils/formatting.h"
}

namespace dpquantile {

namespace {

// The options of EXPLAIN that measure nothing. Options of other extensions are not among them.
constexpr std::string_view kExplainOptions[] = {"verbose", "costs",        "settings", "summary",
                                                "timing",  "generic_plan", "format"};

bool is_harmless(std::string_view option) {
  for (const std::string_view harmless : kExplainOptions) {
    if (option == harmless) return true;
  }
  return false;
}

// SERIALIZE is off with the value none or off. Its other values are text and binary.
bool is_off(DefElem* option) {
  if (option->arg != nullptr && std::string_view(option->defname) == "serialize") {
    const std::string_view value = defGetString(option);
    return value == "none" || value == "off";
  }
  return !defGetBoolean(option);
}

void refuse_explain(const ExplainStmt* statement) {
  for (auto* option : each<DefElem>(statement->options)) {
    if (is_harmless(option->defname) || is_off(option)) continue;
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("EXPLAIN (%s) is not supported",
                           asc_toupper(option->defname, strlen(option->defname))),
                    errdetail_restricted("what a query reads, and how much memory it takes"),
                    errhint("EXPLAIN without this option shows the price of a private query, "
                            "except over protected tables.")));
  }
}

// VERBOSE prints numbers of rows and pages as INFO, which always reaches the client. Without it
// they are DEBUG messages.
void refuse_maintenance(List* options) {
  refuse_low_message_level();
  for (auto* option : each<DefElem>(options)) {
    if (std::string_view(option->defname) != "verbose" || !defGetBoolean(option)) continue;
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("VERBOSE is not supported"),
                    errdetail_restricted("numbers of rows and pages"), errhint("Leave it out.")));
  }
}

// A trigger of a protected table may notify of each row, and a notification has the process that
// wrote it. PostgreSQL has no right for listening.
[[noreturn]] void refuse_listening() {
  ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("permission denied for LISTEN"),
                  errdetail_restricted("what other sessions write, and which process does"),
                  errhint("Ask a private query again to see what has changed.")));
}

// The error would tell whether there is such a large object.
void refuse_large_object(ObjectType type, const char* statement) {
  if (type != OBJECT_LARGEOBJECT) return;
  ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                  errmsg("permission denied for %s LARGE OBJECT", statement),
                  errdetail_restricted("whether there is a large object, to which rows may refer"),
                  errhint("Keep bytes in a table of your own, in a column of type bytea.")));
}

// A name that exists is an error of its own.
void refuse_prepared_transaction(TransactionStmtKind kind) {
  if (kind != TRANS_STMT_PREPARE && kind != TRANS_STMT_COMMIT_PREPARED &&
      kind != TRANS_STMT_ROLLBACK_PREPARED) {
    return;
  }
  ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                  errmsg("permission denied for prepared transactions"),
                  errdetail_restricted("which transactions other sessions have prepared"),
                  errhint("End the transaction by COMMIT.")));
}

DPQ_SINCE_19([[noreturn]] void refuse_waiting() {
  ereport(ERROR,
          (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("permission denied for WAIT FOR"),
           errdetail_restricted("positions in the write-ahead log, which changes of data advance"),
           errhint("Ask private queries of the primary, which has all changes.")));
})

}  // namespace

void refuse_statement(const Node* statement) {
  switch (nodeTag(statement)) {
    case T_ExplainStmt:
      refuse_explain(as<ExplainStmt>(statement));
      break;
    case T_VacuumStmt:
      refuse_maintenance(as<VacuumStmt>(statement)->options);
      break;
    case DPQ_CLUSTER_TAG:
      refuse_maintenance(reinterpret_cast<const DPQ_CLUSTER_STATEMENT*>(statement)->params);
      break;
    case T_ReindexStmt:
      refuse_maintenance(as<ReindexStmt>(statement)->params);
      break;
    case T_GrantStmt:
      refuse_large_object(as<GrantStmt>(statement)->objtype, "GRANT ON");
      break;
    case T_AlterOwnerStmt:
      refuse_large_object(as<AlterOwnerStmt>(statement)->objectType, "ALTER");
      break;
    case T_CommentStmt:
      refuse_large_object(as<CommentStmt>(statement)->objtype, "COMMENT ON");
      break;
    case T_SecLabelStmt:
      refuse_large_object(as<SecLabelStmt>(statement)->objtype, "SECURITY LABEL ON");
      break;
    case T_TransactionStmt:
      refuse_prepared_transaction(as<TransactionStmt>(statement)->kind);
      break;
    case T_ListenStmt:
      refuse_listening();
      DPQ_SINCE_19(case T_WaitStmt : refuse_waiting();)
    default:
      break;
  }
}

}  // namespace dpquantile
