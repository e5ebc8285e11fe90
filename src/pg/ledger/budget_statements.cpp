#include "pg/ledger/budget_statements.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "utils/array.h"
#include "utils/builtins.h"
}

namespace dpquantile {

namespace {

// The columns that the statement of read_amounts() returns.
enum AmountColumn {
  kEpsilonAsked = 1,
  kEpsilonLeft,
  kDeltaAsked,
  kDeltaLeft,
  kRhoAsked,
  kRhoLeft,
  kAccountantOfRole,
  kItemWithoutRho,
  kLeastAsked,
  kSmallestCharge,
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

// $1 the role; then arrays with an element for each charge: $2 epsilon, $3 delta, $4 rho and $5
// times. Epsilon or rho is NULL for a charge that has none.
constexpr Oid kBudgetTypes[] = {OIDOID, TEXTARRAYOID, TEXTARRAYOID, TEXTARRAYOID, INT4ARRAYOID};

Statement on_budget(const char* text) {
  return {text, lengthof(kBudgetTypes), kBudgetTypes, nullptr};
}

// A text of every charge, as text[]. A text that a charge lacks is NULL.
Datum texts_of(const ChargeRequest* request, const char* (*member)(const ChargeItem& item)) {
  Datum texts[kMaxCharges];
  bool nulls[kMaxCharges];
  int count = 0;
  for (const ChargeItem& item : items_of(request)) {
    const char* text = member(item);
    nulls[count] = text[0] == '\0';
    texts[count] = CStringGetTextDatum(text);
    ++count;
  }
  int lower_bound = 1;
  return PointerGetDatum(
      construct_md_array(texts, nulls, 1, &count, &lower_bound, TEXTOID, -1, false, TYPALIGN_INT));
}

// A number of every charge, as int4[].
Datum numbers_of(const ChargeRequest* request, int32 ChargeItem::*member) {
  Datum numbers[kMaxCharges];
  int count = 0;
  for (const ChargeItem& item : items_of(request)) numbers[count++] = Int32GetDatum(item.*member);
  return PointerGetDatum(
      construct_array(numbers, count, INT4OID, sizeof(int32), true, TYPALIGN_INT));
}

// The arguments of kBudgetTypes.
struct BudgetArguments {
  explicit BudgetArguments(const ChargeRequest* request)
      : role(ObjectIdGetDatum(request->role)),
        epsilon(texts_of(request, [](const ChargeItem& item) { return item.epsilon; })),
        delta(texts_of(request, [](const ChargeItem& item) { return item.delta; })),
        rho(texts_of(request, [](const ChargeItem& item) { return item.rho; })),
        times(numbers_of(request, &ChargeItem::times)) {}
  Datum role, epsilon, delta, rho, times;
};

int execute_on_budget(Statement* statement, const ChargeRequest* request) {
  const BudgetArguments budget(request);
  Datum values[] = {budget.role, budget.epsilon, budget.delta, budget.rho, budget.times};
  return execute(statement, values, nullptr);
}

// The totals of the charges and the least of them. (unnest() of several arrays would be slower.)
// Epsilon or rho is NULL if no charge has one. without_rho is the number of the first charge
// without a rho that accountant zcdp could add.
#define DPQ_TOTALS                                                                     \
  "(SELECT sum(i.epsilon::numeric * i.times) AS epsilon,"                              \
  "        sum(i.delta::numeric * i.times) AS delta,"                                  \
  "        sum(i.rho::numeric * i.times) AS rho,"                                      \
  "        bool_or(i.epsilon IS NULL) AS has_rho_alone,"                               \
  "        count(*) AS charges,"                                                       \
  "        min(i.epsilon::numeric * i.times) AS least_epsilon,"                        \
  "        min(i.rho::numeric * i.times) AS least_rho,"                                \
  "        min(i.number) FILTER (WHERE i.rho IS NULL OR i.delta::numeric > 0)"         \
  "          AS without_rho"                                                           \
  "   FROM (SELECT n AS number, ($2)[n] AS epsilon, ($3)[n] AS delta, ($4)[n] AS rho," \
  "                ($5)[n] AS times FROM generate_subscripts($2, 1) n) i) c"

#define DPQ_BUDGET_AND_TOTALS \
  "  FROM dpquantile.budget b, " DPQ_TOTALS " WHERE b.role = $1 AND NOT b.revoked"

// Each "fits" follows from comparisons that must be true. A NULL refuses the charge.
#define DPQ_CHECK_BUDGET                                                            \
  "SELECT CASE b.accountant"                                                        \
  "       WHEN 'pure' THEN"                                                         \
  "         CASE WHEN c.has_rho_alone THEN 'rho alone'"                             \
  "              WHEN b.epsilon_spent + c.epsilon > b.epsilon_limit THEN 'epsilon'" \
  "              WHEN b.delta_spent + c.delta <= b.delta_limit THEN"                \
  "                CASE WHEN c.least_epsilon >= b.smallest_charge THEN 'fits'"      \
  "                     ELSE 'too small' END"                                       \
  "              WHEN b.delta_limit > 0 THEN 'delta'"                               \
  "              ELSE 'no delta' END"                                               \
  "       WHEN 'zcdp' THEN"                                                         \
  "         CASE WHEN c.without_rho IS NOT NULL THEN 'no rho'"                      \
  "              WHEN b.rho_spent + c.rho <= b.rho_limit THEN"                      \
  "                CASE WHEN c.least_rho >= b.smallest_charge THEN 'fits'"          \
  "                     ELSE 'too small' END"                                       \
  "              ELSE 'rho' END"                                                    \
  "       END" DPQ_BUDGET_AND_TOTALS "   FOR UPDATE OF b"

Statement check_and_wait = on_budget(DPQ_CHECK_BUDGET);
Statement check_skip_locked = on_budget(DPQ_CHECK_BUDGET " SKIP LOCKED");
Statement any_budget = on_budget("SELECT 1" DPQ_BUDGET_AND_TOTALS);

// A charged rho may lie slightly above the rho that was asked for (ChargeRequest). The factor
// undoes this before six_digits rounds up, so that the message shows what was asked for.
Statement amounts_statement = on_budget(
    "SELECT trim_scale(c.epsilon), trim_scale(greatest(b.epsilon_limit - b.epsilon_spent, 0)),"
    "       c.delta::float8, greatest(b.delta_limit - b.delta_spent, 0)::float8,"
    "       dpquantile.six_digits(c.rho * 0.999999999, true),"
    "       dpquantile.six_digits(greatest(b.rho_limit - b.rho_spent, 0), false),"
    "       b.accountant, coalesce(c.without_rho, 0)::integer,"
    "       CASE b.accountant"
    "       WHEN 'zcdp' THEN dpquantile.six_digits(c.least_rho * 0.999999999, true)"
    "       ELSE trim_scale(c.least_epsilon) END,"
    "       CASE b.accountant"
    "       WHEN 'zcdp' THEN dpquantile.six_digits(b.smallest_charge, true)"
    "       ELSE trim_scale(b.smallest_charge) END" DPQ_BUDGET_AND_TOTALS);

// The arguments of kBudgetTypes; $6 the role's name and $7 the session role's; arrays: $8 function,
// $9 mechanism, $10 neighbours, $11 grouping sets and $12 groups, below 0 if their number is not
// public; $13 the query's text and $14 its bytes, both NULL if it is unknown.
constexpr Oid kChargeTypes[] = {
    OIDOID,       TEXTARRAYOID, TEXTARRAYOID, TEXTARRAYOID, INT4ARRAYOID, NAMEOID, NAMEOID,
    TEXTARRAYOID, TEXTARRAYOID, TEXTARRAYOID, INT4ARRAYOID, INT4ARRAYOID, TEXTOID, BYTEAOID};

// The budget is locked, so that no other transaction adds the same text, or removes it.
Statement charge = {
    "WITH charged AS ("
    "  UPDATE dpquantile.budget b"
    "     SET epsilon_spent = b.epsilon_spent + coalesce(c.epsilon, 0),"
    "         delta_spent = b.delta_spent + c.delta,"
    "         rho_spent = b.rho_spent + coalesce(c.rho, 0),"
    "         has_rho_alone = b.has_rho_alone OR c.has_rho_alone,"
    "         charges = b.charges + c.charges"
    "    FROM " DPQ_TOTALS
    "   WHERE b.role = $1"
    "  RETURNING b.budget_id, b.accountant, b.charges - c.charges AS charges_before,"
    "            sha256($14) AS query_hash),"
    " texts AS ("
    "  INSERT INTO dpquantile.query_text (budget_id, query_hash, query)"
    "  SELECT budget_id, query_hash, $13 FROM charged WHERE $13 IS NOT NULL"
    "  ON CONFLICT DO NOTHING)"
    "INSERT INTO dpquantile.ledger (budget_id, number, role_name, session_role_name, function,"
    "                               mechanism, neighbours, epsilon, delta, rho, accountant,"
    "                               grouping_sets, groups, query_hash)"
    " SELECT c.budget_id, c.charges_before + n, $6, $7, ($8)[n]::name, ($9)[n], ($10)[n],"
    "        ($2)[n]::numeric * ($5)[n], ($3)[n]::numeric * ($5)[n], ($4)[n]::numeric * ($5)[n],"
    "        c.accountant, ($11)[n], CASE WHEN ($12)[n] >= 0 THEN ($12)[n] END, c.query_hash"
    "   FROM charged c, generate_subscripts($2, 1) n",
    lengthof(kChargeTypes), kChargeTypes, nullptr};

bool selects_one_row(Statement* statement, const ChargeRequest* request) {
  return execute_on_budget(statement, request) == SPI_OK_SELECT && SPI_processed == 1;
}

}  // namespace

BudgetCheck check_budget(const ChargeRequest* request, LockWait wait) {
  Statement* statement = wait == LockWait::kNever ? &check_skip_locked : &check_and_wait;
  if (!selects_one_row(statement, request)) return {};
  return {true, column(1)};
}

bool budget_exists(const ChargeRequest* request) {
  return selects_one_row(&any_budget, request);
}

BudgetAmounts read_amounts(const ChargeRequest* request) {
  if (!selects_one_row(&amounts_statement, request)) {
    ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("the locked budget has disappeared")));
  }
  return {column(kEpsilonAsked),     column(kEpsilonLeft),
          column(kDeltaAsked),       column(kDeltaLeft),
          column(kRhoAsked),         column(kRhoLeft),
          column(kAccountantOfRole), DatumGetInt32(column_datum(kItemWithoutRho)),
          column(kLeastAsked),       column(kSmallestCharge)};
}

bool deduct_and_enter(const ChargeRequest* request) {
  const BudgetArguments budget(request);
  const Datum query = CStringGetTextDatum(query_of(request));
  const Datum query_bytes = query;  // text and bytea have the same layout
  Datum values[] = {
      budget.role,
      budget.epsilon,
      budget.delta,
      budget.rho,
      budget.times,
      NameGetDatum(&request->role_name),
      NameGetDatum(&request->session_role_name),
      texts_of(request, [](const ChargeItem& item) { return NameStr(item.function); }),
      texts_of(request, [](const ChargeItem& item) { return item.mechanism; }),
      texts_of(request, [](const ChargeItem& item) { return item.neighbours; }),
      numbers_of(request, &ChargeItem::grouping_sets),
      numbers_of(request, &ChargeItem::groups),
      query,
      query_bytes,
  };
  char nulls[] = "              ";
  if (request->query_bytes == 0) nulls[12] = nulls[13] = 'n';
  return execute(&charge, values, nulls) == SPI_OK_INSERT &&
         SPI_processed == items_of(request).size();
}

}  // namespace dpquantile
