#include "pg/ledger/budget_statements.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "utils/builtins.h"
}

namespace dpquantile {

namespace {

// The columns that the statements of check_budget() return.
enum CheckColumn { kVerdict = 1, kBudgetId, kAccountant };

// The columns that the statement of read_amounts() returns.
enum AmountColumn {
  kEpsilonAsked = 1,
  kEpsilonLeft,
  kDeltaAsked,
  kDeltaLeft,
  kRhoAsked,
  kRhoLeft,
  kAccountantOfRole,
};

// Both read a column of the row that the last statement returned.
char* column(int number) {
  return SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, number);
}

Datum column_datum(int number) {
  bool is_null;
  return SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, number, &is_null);
}

// A statement whose plan this worker keeps. PostgreSQL plans it once for any values, and again when
// an object that it refers to is changed or replaced.
struct Statement {
  const char* text;
  int arguments;
  const Oid* types;
  SPIPlanPtr plan;
};

int execute(Statement* statement, Datum* values, const char* nulls) {
  if (statement->plan == nullptr) {
    SPIPlanPtr plan =
        SPI_prepare(statement->text, statement->arguments, const_cast<Oid*>(statement->types));
    if (plan == nullptr || SPI_keepplan(plan) != 0) {
      ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("the charge cannot be prepared")));
    }
    statement->plan = plan;
  }
  return SPI_execute_plan(statement->plan, values, nulls, false, 0);
}

// $1 the role, $2 epsilon, $3 delta, $4 rho and $5 the number of grouping sets. Epsilon or rho is
// NULL for a charge that has none.
constexpr Oid kBudgetTypes[] = {OIDOID, TEXTOID, TEXTOID, TEXTOID, INT4OID};

Statement on_budget(const char* text) {
  return {text, lengthof(kBudgetTypes), kBudgetTypes, nullptr};
}

int execute_on_budget(Statement* statement, const ChargeRequest* request) {
  Datum values[] = {ObjectIdGetDatum(request->role), CStringGetTextDatum(request->epsilon),
                    CStringGetTextDatum(request->delta), CStringGetTextDatum(request->rho),
                    Int32GetDatum(request->grouping_sets)};
  char nulls[] = "     ";
  if (!has_epsilon(request)) nulls[1] = 'n';
  if (!has_rho(request)) nulls[3] = 'n';
  return execute(statement, values, nulls);
}

#define DPQ_BUDGET_AND_CHARGE                                              \
  "  FROM dpquantile.budget b,"                                            \
  "       (SELECT $2::numeric * $5 AS epsilon, $3::numeric * $5 AS delta," \
  "               $4::numeric * $5 AS rho) c"                              \
  " WHERE b.role = $1 AND NOT b.revoked"

#define DPQ_CHECK_BUDGET                                                            \
  "SELECT CASE b.accountant"                                                        \
  "       WHEN 'pure' THEN"                                                         \
  "         CASE WHEN c.epsilon IS NULL THEN 'rho alone'"                           \
  "              WHEN b.epsilon_spent + c.epsilon > b.epsilon_limit THEN 'epsilon'" \
  "              WHEN b.delta_spent + c.delta <= b.delta_limit THEN 'fits'"         \
  "              WHEN b.delta_limit > 0 THEN 'delta'"                               \
  "              ELSE 'no delta' END"                                               \
  "       WHEN 'zcdp' THEN"                                                         \
  "         CASE WHEN c.rho IS NULL OR c.delta > 0 THEN 'no rho'"                   \
  "              WHEN b.rho_spent + c.rho <= b.rho_limit THEN 'fits'"               \
  "              ELSE 'rho' END"                                                    \
  "       END,"                                                                     \
  "       b.budget_id, b.accountant" DPQ_BUDGET_AND_CHARGE "   FOR UPDATE OF b"

Statement check_and_wait = on_budget(DPQ_CHECK_BUDGET);
Statement check_skip_locked = on_budget(DPQ_CHECK_BUDGET " SKIP LOCKED");
Statement any_budget = on_budget("SELECT 1" DPQ_BUDGET_AND_CHARGE);

// A charged rho may lie slightly above the rho that was asked for (ChargeRequest). The factor
// undoes this before six_digits rounds up, so that the message shows what was asked for.
Statement amounts_statement = on_budget(
    "SELECT trim_scale(c.epsilon), trim_scale(greatest(b.epsilon_limit - b.epsilon_spent, 0)),"
    "       c.delta::float8, greatest(b.delta_limit - b.delta_spent, 0)::float8,"
    "       dpquantile.six_digits(c.rho * 0.999999999, true),"
    "       dpquantile.six_digits(greatest(b.rho_limit - b.rho_spent, 0), false),"
    "       b.accountant" DPQ_BUDGET_AND_CHARGE);

Statement deduction = on_budget(
    "UPDATE dpquantile.budget"
    "   SET epsilon_spent = epsilon_spent + coalesce($2::numeric * $5, 0),"
    "       delta_spent = delta_spent + $3::numeric * $5,"
    "       rho_spent = rho_spent + coalesce($4::numeric * $5, 0),"
    "       has_rho_alone = has_rho_alone OR $2 IS NULL"
    " WHERE role = $1");

constexpr Oid kEntryTypes[] = {UUIDOID, NAMEOID, NAMEOID, NAMEOID, TEXTOID, TEXTOID, TEXTOID,
                               TEXTOID, TEXTOID, TEXTOID, INT4OID, INT4OID, TEXTOID};

Statement ledger_entry = {
    "INSERT INTO dpquantile.ledger (budget_id, role_name, session_role_name, function, mechanism,"
    "                               neighbours, epsilon, delta, rho, accountant, grouping_sets,"
    "                               groups, query)"
    " VALUES ($1, $2, $3, $4, $5, $6, $7::numeric * $11, $8::numeric * $11, $9::numeric * $11,"
    "         $10, $11, $12, $13)",
    lengthof(kEntryTypes), kEntryTypes, nullptr};

bool selects_one_row(Statement* statement, const ChargeRequest* request) {
  return execute_on_budget(statement, request) == SPI_OK_SELECT && SPI_processed == 1;
}

}  // namespace

BudgetCheck check_budget(const ChargeRequest* request, LockWait wait) {
  Statement* statement = wait == LockWait::kNever ? &check_skip_locked : &check_and_wait;
  if (!selects_one_row(statement, request)) return {};
  return {true, column(kVerdict), column_datum(kBudgetId), column_datum(kAccountant)};
}

bool budget_exists(const ChargeRequest* request) {
  return selects_one_row(&any_budget, request);
}

BudgetAmounts read_amounts(const ChargeRequest* request) {
  if (!selects_one_row(&amounts_statement, request)) {
    ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("the locked budget has disappeared")));
  }
  return {column(kEpsilonAsked), column(kEpsilonLeft), column(kDeltaAsked),      column(kDeltaLeft),
          column(kRhoAsked),     column(kRhoLeft),     column(kAccountantOfRole)};
}

bool deduct(const ChargeRequest* request) {
  return execute_on_budget(&deduction, request) == SPI_OK_UPDATE && SPI_processed == 1;
}

bool enter_in_ledger(const ChargeRequest* request, const BudgetCheck& budget) {
  Datum values[] = {budget.budget_id,
                    NameGetDatum(&request->role_name),
                    NameGetDatum(&request->session_role_name),
                    NameGetDatum(&request->function),
                    CStringGetTextDatum(request->mechanism),
                    CStringGetTextDatum(request->neighbours),
                    CStringGetTextDatum(request->epsilon),
                    CStringGetTextDatum(request->delta),
                    CStringGetTextDatum(request->rho),
                    budget.accountant,
                    Int32GetDatum(request->grouping_sets),
                    Int32GetDatum(request->groups),
                    CStringGetTextDatum(request->query)};
  char nulls[] = "             ";
  if (!has_epsilon(request)) nulls[6] = 'n';
  if (!has_rho(request)) nulls[8] = 'n';
  if (request->groups < 0) nulls[11] = 'n';
  if (request->query[0] == '\0') nulls[12] = 'n';
  return execute(&ledger_entry, values, nulls) == SPI_OK_INSERT && SPI_processed == 1;
}

}  // namespace dpquantile
