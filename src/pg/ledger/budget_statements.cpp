#include "pg/ledger/budget_statements.hpp"

#include "pg/ledger/charge_totals.hpp"
#include "pg/server/table_name.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"
}

namespace dpquantile {

namespace {

// In the ledger, for a budget with BudgetNeighbours::kReplace. dpquantile.earlier_spending() finds
// such charges by it.
constexpr char kReplaceOneRow[] = "replace the value of one row";

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
  kRenewedAt,
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

// The arguments of statements: values of these types, any of which may be NULL.
class Arguments {
 public:
  void add(Datum value, bool is_null = false) {
    Assert(count_ < kMost);
    values_[count_] = value;
    nulls_[count_++] = is_null ? 'n' : ' ';
  }
  void add(const Amount& amount) { add(amount.value, amount.is_null); }

  Datum* values() { return values_; }
  const char* nulls() const { return nulls_; }

 private:
  static constexpr int kMost = 23;
  Datum values_[kMost];
  char nulls_[kMost];
  int count_ = 0;
};

// $1 the role; of the charges together: $2 epsilon, $3 delta, $4 rho, $5 whether one has rho alone,
// $6 the number of the first one without a rho or 0, $7 the least epsilon, $8 the least rho. $9 the
// time of the request.
#define DPQ_BUDGET_TYPES                                                                \
  OIDOID, NUMERICOID, NUMERICOID, NUMERICOID, BOOLOID, INT4OID, NUMERICOID, NUMERICOID, \
      TIMESTAMPTZOID
constexpr Oid kBudgetTypes[] = {DPQ_BUDGET_TYPES};
// $10 a protected table.
constexpr Oid kTableTypes[] = {DPQ_BUDGET_TYPES, OIDOID};
// These are for a budget with neighbours kAddOrRemove. For kReplace $10 epsilon, $11 delta, $12
// rho, $13 the least epsilon, $14 the least rho; $5 and $6 are the same.
constexpr Oid kCheckTypes[] = {DPQ_BUDGET_TYPES, NUMERICOID, NUMERICOID,
                               NUMERICOID,       NUMERICOID, NUMERICOID};

Statement on_budget(const char* text) {
  return {text, lengthof(kBudgetTypes), kBudgetTypes, nullptr};
}

Statement on_table_budget(const char* text) {
  return {text, lengthof(kTableTypes), kTableTypes, nullptr};
}

Statement check_of_budget(const char* text) {
  return {text, lengthof(kCheckTypes), kCheckTypes, nullptr};
}

Arguments budget_arguments(const ChargeRequest* request, TimestampTz now,
                           BudgetNeighbours neighbours) {
  const ChargeTotals totals = totals_of(request, neighbours);
  Arguments arguments;
  arguments.add(ObjectIdGetDatum(request->role));
  arguments.add(totals.epsilon);
  arguments.add(totals.delta);
  arguments.add(totals.rho);
  arguments.add(BoolGetDatum(totals.has_rho_alone));
  arguments.add(Int32GetDatum(totals.item_without_rho));
  arguments.add(totals.least_epsilon);
  arguments.add(totals.least_rho);
  arguments.add(TimestampTzGetDatum(now));
  return arguments;
}

Arguments check_arguments(const ChargeRequest* request, TimestampTz now) {
  Arguments arguments = budget_arguments(request, now, BudgetNeighbours::kAddOrRemove);
  const ChargeTotals replacing = totals_of(request, BudgetNeighbours::kReplace);
  arguments.add(replacing.epsilon);
  arguments.add(replacing.delta);
  arguments.add(replacing.rho);
  arguments.add(replacing.least_epsilon);
  arguments.add(replacing.least_rho);
  return arguments;
}

// A text of every charge, as text[]. A text that a charge lacks is NULL.
template <class Member>
Datum texts_of(const ChargeRequest* request, Member member) {
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

using Number = int32 ChargeItem::*;

// A number of every charge, as int4[].
Datum numbers_of(const ChargeRequest* request, Number member) {
  Datum numbers[kMaxCharges];
  int count = 0;
  for (const ChargeItem& item : items_of(request)) numbers[count++] = Int32GetDatum(item.*member);
  return PointerGetDatum(
      construct_array(numbers, count, INT4OID, sizeof(int32), true, TYPALIGN_INT));
}

// An amount of every charge, as numeric[].
Datum amounts_of(const ChargeRequest* request, BudgetNeighbours neighbours,
                 Amount (*amount_of)(const ChargeItem& item, BudgetNeighbours neighbours)) {
  Datum amounts[kMaxCharges];
  bool nulls[kMaxCharges];
  int count = 0;
  for (const ChargeItem& item : items_of(request)) {
    const Amount amount = amount_of(item, neighbours);
    amounts[count] = amount.value;
    nulls[count++] = amount.is_null;
  }
  int lower_bound = 1;
  return PointerGetDatum(construct_md_array(amounts, nulls, 1, &count, &lower_bound, NUMERICOID, -1,
                                            false, TYPALIGN_INT));
}

// What is spent in the period of the request. A period of the calendar begins once, with the first
// charge in it; the row never goes back to an earlier one. Without a period everything counts.
#define DPQ_BEGINS_PERIOD "dpquantile.period_start(b.every, $9) > b.period_start"
#define DPQ_SPENT(amount)                                                                       \
  "b." amount "_spent - CASE WHEN " DPQ_BEGINS_PERIOD " THEN b." amount "_spent ELSE b." amount \
  "_before END"

// Each "fits" follows from comparisons that must be true. A NULL refuses the charge.
#define DPQ_VERDICT \
  "CASE b.accountant"                                                                            \
  " WHEN 'pure' THEN"                                                                            \
  "   CASE WHEN $5 THEN 'rho alone'"                                                             \
  "        WHEN " DPQ_SPENT("epsilon") " + asked.epsilon > b.epsilon_limit THEN 'epsilon'"       \
  "        WHEN " DPQ_SPENT("delta") " + asked.delta <= b.delta_limit THEN"                      \
  "          CASE WHEN asked.least_epsilon >= b.smallest_charge THEN 'fits'"                     \
  "               WHEN asked.least_epsilon < b.smallest_charge THEN 'too small' END"             \
  "        WHEN " DPQ_SPENT("delta") " > b.delta_limit THEN 'overspent delta'"                   \
  "        WHEN b.delta_limit > 0 THEN 'delta'"                                                  \
  "        ELSE 'no delta' END"                                                                  \
  " WHEN 'zcdp' THEN"                                                                            \
  "   CASE WHEN $6 > 0 THEN 'no rho'"                                                            \
  "        WHEN " DPQ_SPENT("rho") " + asked.rho <= b.rho_limit THEN"                            \
  "          CASE WHEN asked.least_rho >= b.smallest_charge THEN 'fits'"                         \
  "               WHEN asked.least_rho < b.smallest_charge THEN 'too small' END"                 \
  "        ELSE 'rho' END"                                                                       \
  " END"

#define DPQ_BY_NEIGHBOURS(own, replacing) \
  "CASE b.neighbours WHEN 'add or remove' THEN " own " WHEN 'replace' THEN " replacing " END"

#define DPQ_CHECK_BUDGET \
  "SELECT " DPQ_VERDICT ", b.revoked, b.neighbours"                                              \
  "  FROM dpquantile.budget b"                                                                   \
  " CROSS JOIN LATERAL (SELECT " DPQ_BY_NEIGHBOURS("$2", "$10") " AS epsilon, "                  \
                                 DPQ_BY_NEIGHBOURS("$3", "$11") " AS delta, "                    \
                                 DPQ_BY_NEIGHBOURS("$4", "$12") " AS rho, "                      \
                                 DPQ_BY_NEIGHBOURS("$7", "$13") " AS least_epsilon, "            \
                                 DPQ_BY_NEIGHBOURS("$8", "$14") " AS least_rho) asked"           \
  " WHERE b.role = $1 FOR UPDATE OF b"

Statement check_and_wait = check_of_budget(DPQ_CHECK_BUDGET);
Statement check_skip_locked = check_of_budget(DPQ_CHECK_BUDGET " SKIP LOCKED");
Statement any_budget = on_budget("SELECT 1 FROM dpquantile.budget b WHERE b.role = $1");

#define DPQ_FROM_TABLE_BUDGET "  FROM dpquantile.table_budget b"
#define DPQ_OF_TABLE " WHERE b.role = $1 AND b.relation = $10"

Statement check_of_table = on_table_budget(
    "SELECT " DPQ_VERDICT ", b.revoked, b.accountant" DPQ_FROM_TABLE_BUDGET
    " CROSS JOIN LATERAL (SELECT $2 AS epsilon, $3 AS delta, $4 AS rho, $7 AS least_epsilon,"
    "                            $8 AS least_rho) asked" DPQ_OF_TABLE " FOR UPDATE OF b");

// A charged rho may lie slightly above the rho that was asked for (ChargeRequest). The factor
// undoes this before six_digits rounds up, so that the message shows what was asked for.
#define DPQ_AMOUNTS \
  "SELECT trim_scale($2), trim_scale(greatest(b.epsilon_limit - (" DPQ_SPENT("epsilon") "), 0)),"     \
  "       $3::float8, greatest(b.delta_limit - (" DPQ_SPENT("delta") "), 0)::float8,"                 \
  "       dpquantile.six_digits($4 * 0.999999999, true),"                                             \
  "       dpquantile.six_digits(greatest(b.rho_limit - (" DPQ_SPENT("rho") "), 0), false),"           \
  "       b.accountant, $6,"                                                                          \
  "       CASE b.accountant"                                                                          \
  "       WHEN 'zcdp' THEN dpquantile.six_digits($8 * 0.999999999, true)"                             \
  "       ELSE trim_scale($7) END,"                                                                   \
  "       CASE b.accountant"                                                                          \
  "       WHEN 'zcdp' THEN dpquantile.six_digits(b.smallest_charge, true)"                            \
  "       ELSE trim_scale(b.smallest_charge) END,"                                                    \
  "       to_char(dpquantile.period_end(b.every, greatest(b.period_start, $9)) AT TIME ZONE 'UTC',"   \
  "               'YYYY-MM-DD')"

Statement amounts_of_budget = on_budget(DPQ_AMOUNTS "  FROM dpquantile.budget b WHERE b.role = $1");
Statement amounts_of_table = on_table_budget(DPQ_AMOUNTS DPQ_FROM_TABLE_BUDGET DPQ_OF_TABLE);

#define DPQ_DEDUCT                                                        \
  " SET epsilon_spent = b.epsilon_spent + coalesce($2, 0),"               \
  "     delta_spent = b.delta_spent + $3,"                                \
  "     rho_spent = b.rho_spent + coalesce($4, 0),"                       \
  "     has_rho_alone = b.has_rho_alone OR $5,"                           \
  "     epsilon_before = CASE WHEN " DPQ_BEGINS_PERIOD                    \
  "                      THEN b.epsilon_spent ELSE b.epsilon_before END," \
  "     delta_before = CASE WHEN " DPQ_BEGINS_PERIOD                      \
  "                    THEN b.delta_spent ELSE b.delta_before END,"       \
  "     rho_before = CASE WHEN " DPQ_BEGINS_PERIOD                        \
  "                  THEN b.rho_spent ELSE b.rho_before END,"             \
  "     period_start = greatest(b.period_start, dpquantile.period_start(b.every, $9))"

Statement deduct_of_table =
    on_table_budget("UPDATE dpquantile.table_budget b" DPQ_DEDUCT DPQ_OF_TABLE);

constexpr Oid kNameTypes[] = {OIDOID, TEXTOID};
Statement note_name = {
    "INSERT INTO dpquantile.table_name (table_id, name)"
    " SELECT i.table_id, $2 FROM dpquantile.table_identity i WHERE i.relation = $1"
    " ON CONFLICT DO NOTHING",
    lengthof(kNameTypes), kNameTypes, nullptr};

// The arguments of kBudgetTypes; $10 the role's name and $11 the session role's; arrays with an
// element for each charge: $12 function, $13 mechanism, $14 neighbours, $15 epsilon, $16 delta, $17
// rho, $18 grouping sets and $19 groups, below 0 if their number is not public; $20 the query's
// text and $21 its bytes, both NULL if it is unknown; $22 the names of the protected tables and $23
// the accountant of the budget of one of them, or NULL.
constexpr Oid kChargeTypes[] = {DPQ_BUDGET_TYPES, NAMEOID,      NAMEOID,         TEXTARRAYOID,
                                TEXTARRAYOID,     TEXTARRAYOID, NUMERICARRAYOID, NUMERICARRAYOID,
                                NUMERICARRAYOID,  INT4ARRAYOID, INT4ARRAYOID,    TEXTOID,
                                BYTEAOID,         TEXTARRAYOID, TEXTOID};

// The budget is locked, so that no other transaction adds the same text, or removes it. A revoked
// budget has no accountant of its own; then a budget of a table pays.
Statement charge = {
    "WITH charged AS ("
    "  UPDATE dpquantile.budget b" DPQ_DEDUCT
    ","
    "         charges = b.charges + array_length($12, 1)"
    "   WHERE b.role = $1"
    "  RETURNING b.budget_id, CASE WHEN b.revoked THEN coalesce($23, b.accountant) ELSE "
    "b.accountant END AS accountant,"
    "            b.charges - array_length($12, 1) AS charges_before, sha256($21) AS query_hash),"
    " texts AS ("
    "  INSERT INTO dpquantile.query_text (budget_id, query_hash, query)"
    "  SELECT budget_id, query_hash, $20 FROM charged WHERE $20 IS NOT NULL"
    "  ON CONFLICT DO NOTHING)"
    "INSERT INTO dpquantile.ledger (budget_id, number, role_name, session_role_name, function,"
    "                               mechanism, neighbours, epsilon, delta, rho, accountant,"
    "                               grouping_sets, groups, query_hash, tables)"
    " SELECT c.budget_id, c.charges_before + n, $10, $11, ($12)[n]::name, ($13)[n], ($14)[n],"
    "        ($15)[n], ($16)[n], ($17)[n], c.accountant, ($18)[n],"
    "        CASE WHEN ($19)[n] >= 0 THEN ($19)[n] END, c.query_hash, $22"
    "   FROM charged c, generate_subscripts($12, 1) n"
    " RETURNING number",
    lengthof(kChargeTypes), kChargeTypes, nullptr};

// Has a new worker plan the statement before it locks a budget: other charges of the role wait
// while the budget is locked. For role NULL the statement changes nothing.
void plan_charge() {
  if (charge.plan != nullptr) return;
  Arguments arguments;
  for (int i = 0; i < charge.arguments; ++i) arguments.add(0, true);
  execute(&charge, arguments.values(), arguments.nulls());
}

bool selects_one_row(Statement* statement, Arguments arguments) {
  return execute(statement, arguments.values(), arguments.nulls()) == SPI_OK_SELECT &&
         SPI_processed == 1;
}

BudgetNeighbours neighbours_of(const char* name) {
  if (name != nullptr && strcmp(name, "add or remove") == 0) return BudgetNeighbours::kAddOrRemove;
  if (name != nullptr && strcmp(name, "replace") == 0) return BudgetNeighbours::kReplace;
  ereport(ERROR,
          (errcode(ERRCODE_INTERNAL_ERROR), errmsg("the role's budget has unknown neighbours")));
}

Arguments table_arguments(const ChargeRequest* request, Oid table, TimestampTz now,
                          BudgetNeighbours neighbours) {
  Arguments arguments = budget_arguments(request, now, neighbours);
  arguments.add(ObjectIdGetDatum(table));
  return arguments;
}

Datum name_of_table(Oid table) {
  const char* name = name_with_schema(table);
  if (name == nullptr) {
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE),
                    errmsg("a table of the query has been dropped meanwhile")));
  }
  return CStringGetTextDatum(name);
}

// Null without tables.
Amount names_of_tables(const ChargeRequest* request) {
  if (request->table_count == 0) return {};
  Datum names[kMaxTables];
  int count = 0;
  for (const Oid table : tables_of(request)) names[count++] = name_of_table(table);
  return {PointerGetDatum(construct_array(names, count, TEXTOID, -1, false, TYPALIGN_INT)), false};
}

bool is_true(int number) {
  return DatumGetBool(column_datum(number));
}

// The amounts in the row that the last statement returned.
BudgetAmounts selected_amounts(Oid table, BudgetNeighbours neighbours) {
  return {OidIsValid(table) ? get_rel_name(table) : nullptr,
          neighbours,
          column(kEpsilonAsked),
          column(kEpsilonLeft),
          column(kDeltaAsked),
          column(kDeltaLeft),
          column(kRhoAsked),
          column(kRhoLeft),
          column(kAccountantOfRole),
          DatumGetInt32(column_datum(kItemWithoutRho)),
          column(kLeastAsked),
          column(kSmallestCharge),
          column(kRenewedAt)};
}

bool deduct_from_table(const ChargeRequest* request, Oid table, TimestampTz now,
                       BudgetNeighbours neighbours) {
  Arguments arguments = table_arguments(request, table, now, neighbours);
  return execute(&deduct_of_table, arguments.values(), arguments.nulls()) == SPI_OK_UPDATE &&
         SPI_processed == 1;
}

// The ledger has names. Which names are those of one table must be known after it is dropped.
void note_table_name(Oid table) {
  Arguments arguments;
  arguments.add(ObjectIdGetDatum(table));
  arguments.add(name_of_table(table));
  execute(&note_name, arguments.values(), arguments.nulls());
}

}  // namespace

BudgetCheck check_budget(const ChargeRequest* request, TimestampTz now, LockWait wait) {
  Statement* statement = wait == LockWait::kNever ? &check_skip_locked : &check_and_wait;
  plan_charge();
  if (!selects_one_row(statement, check_arguments(request, now))) return {};
  return {true, is_true(2), column(1), neighbours_of(column(3))};
}

bool budget_exists(const ChargeRequest* request, TimestampTz now) {
  return selects_one_row(&any_budget,
                         budget_arguments(request, now, BudgetNeighbours::kAddOrRemove));
}

TableBudgetCheck check_table_budget(const ChargeRequest* request, Oid table, TimestampTz now,
                                    BudgetNeighbours neighbours) {
  if (!selects_one_row(&check_of_table, table_arguments(request, table, now, neighbours))) {
    return {};
  }
  return {true, is_true(2), column(1), column(3)};
}

BudgetAmounts read_amounts(const ChargeRequest* request, Oid table, TimestampTz now,
                           BudgetNeighbours neighbours) {
  const bool found =
      OidIsValid(table)
          ? selects_one_row(&amounts_of_table, table_arguments(request, table, now, neighbours))
          : selects_one_row(&amounts_of_budget, budget_arguments(request, now, neighbours));
  if (!found) {
    ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("the locked budget has disappeared")));
  }
  return selected_amounts(table, neighbours);
}

bool deduct_and_enter(ChargeRequest* request, std::span<const TableBudgetCheck> tables,
                      TimestampTz now, BudgetNeighbours neighbours) {
  const char* accountant = nullptr;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    note_table_name(request->tables[i]);
    if (!tables[i].found) continue;
    accountant = tables[i].accountant;
    if (!deduct_from_table(request, request->tables[i], now, neighbours)) return false;
  }
  const bool replaces = neighbours == BudgetNeighbours::kReplace;
  Arguments arguments = budget_arguments(request, now, neighbours);
  arguments.add(NameGetDatum(&request->role_name));
  arguments.add(NameGetDatum(&request->session_role_name));
  arguments.add(texts_of(request, [](const ChargeItem& item) { return NameStr(item.function); }));
  arguments.add(texts_of(request, [](const ChargeItem& item) { return item.mechanism; }));
  arguments.add(texts_of(request, [replaces](const ChargeItem& item) {
    return replaces ? kReplaceOneRow : item.neighbours;
  }));
  arguments.add(amounts_of(request, neighbours, epsilon_of));
  arguments.add(amounts_of(request, neighbours, delta_of));
  arguments.add(amounts_of(request, neighbours, rho_of));
  arguments.add(numbers_of(request, &ChargeItem::grouping_sets));
  arguments.add(numbers_of(request, &ChargeItem::groups));
  const Datum query = CStringGetTextDatum(query_of(request));
  const bool is_unknown = request->query_bytes == 0;
  arguments.add(query, is_unknown);
  arguments.add(query, is_unknown);  // text and bytea have the same layout
  arguments.add(names_of_tables(request));
  arguments.add(accountant == nullptr ? 0 : CStringGetTextDatum(accountant), accountant == nullptr);
  const int result = execute(&charge, arguments.values(), arguments.nulls());
  if (result != SPI_OK_INSERT_RETURNING || SPI_processed != items_of(request).size()) return false;
  request->first_number = DatumGetInt64(column_datum(1));
  return true;
}

}  // namespace dpquantile
