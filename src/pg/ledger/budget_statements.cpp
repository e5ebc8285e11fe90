#include "pg/ledger/budget_statements.hpp"

#include <algorithm>

#include "pg/ledger/charge_totals.hpp"
#include "pg/ledger/statement.hpp"
#include "pg/server/table_name.hpp"

extern "C" {
#include "catalog/pg_type.h"
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

// ---- Statements --------------------------------------------------------------------------------

// No subquery stands between the row and the verdict: where the statement has waited for the row,
// PostgreSQL computes the verdict anew from its latest version, but not what a subquery has given.
constexpr char kWithAmountsLeft[] = R"(
SELECT b.budget_id, b.revoked, b.accountant, b.neighbours,
       dpquantile.verdict(
         b.accountant, b.smallest_charge, dpquantile.delta_to_charge(b.accountant, b.delta_limit, b.charged_delta),
         epsilon_left => b.epsilon_limit - dpquantile.spent_at(charge.at, b.every, b.period_start, b.epsilon_spent, b.epsilon_before),
         delta_left => dpquantile.delta_to_charge(b.accountant, b.delta_limit, b.charged_delta)
                       - dpquantile.spent_at(charge.at, b.every, b.period_start, b.delta_spent, b.delta_before),
         rho_left => b.rho_limit - dpquantile.spent_at(charge.at, b.every, b.period_start, b.rho_spent, b.rho_before),)";

constexpr char kOfRole[] = R"(
         epsilon => CASE b.neighbours WHEN 'replace' THEN charge.epsilon_replacing ELSE charge.epsilon END,
         delta => CASE b.neighbours WHEN 'replace' THEN charge.delta_replacing ELSE charge.delta END,
         rho => CASE b.neighbours WHEN 'replace' THEN charge.rho_replacing ELSE charge.rho END,
         least_epsilon => CASE b.neighbours WHEN 'replace' THEN charge.least_epsilon_replacing ELSE charge.least_epsilon END,
         least_rho => CASE b.neighbours WHEN 'replace' THEN charge.least_rho_replacing ELSE charge.least_rho END) AS verdict
  FROM charge JOIN dpquantile.budget b ON b.role = charge.role AND b.table_id IS NULL
   FOR UPDATE OF b)";

// The neighbours are known by then.
constexpr char kOfTables[] = R"(
         epsilon => charge.epsilon, delta => charge.delta, rho => charge.rho,
         least_epsilon => charge.least_epsilon, least_rho => charge.least_rho) AS verdict,
       i.relation, EXISTS (SELECT FROM dpquantile.table_name n
                            WHERE n.table_id = i.table_id AND n.name = charge.table_names[array_position(charge.tables, i.relation)]) AS is_named
  FROM charge
  JOIN dpquantile.table_identity i ON i.relation = ANY (charge.tables)
  JOIN dpquantile.budget b ON b.role = charge.role AND b.table_id = i.table_id
 ORDER BY i.relation
   FOR UPDATE OF b)";

Statement check_and_wait = {{kWithAmountsLeft, kOfRole}};
Statement check_if_free = {{kWithAmountsLeft, kOfRole, " SKIP LOCKED"}};
Statement check_tables = {{kWithAmountsLeft, kOfTables}};

Statement any_budget = {{R"(
SELECT FROM charge JOIN dpquantile.budget b ON b.role = charge.role AND b.table_id IS NULL)"}};

// A charged rho may lie slightly above the rho that was asked for (ChargeRequest). The factor
// undoes this before six_digits rounds up, so that the message shows what was asked for.
Statement amounts = {{R"(
SELECT trim_scale(charge.epsilon) AS epsilon_asked,
       trim_scale(greatest(b.epsilon_limit - dpquantile.spent_at(charge.at, b.every, b.period_start, b.epsilon_spent, b.epsilon_before), 0)) AS epsilon_left,
       charge.delta::float8 AS delta_asked,
       greatest(dpquantile.delta_to_charge(b.accountant, b.delta_limit, b.charged_delta)
                - dpquantile.spent_at(charge.at, b.every, b.period_start, b.delta_spent, b.delta_before), 0)::float8 AS delta_left,
       dpquantile.six_digits(charge.rho * 0.999999999, true) AS rho_asked,
       dpquantile.six_digits(greatest(b.rho_limit - dpquantile.spent_at(charge.at, b.every, b.period_start, b.rho_spent, b.rho_before), 0), false) AS rho_left,
       b.accountant,
       CASE b.accountant WHEN 'zcdp' THEN dpquantile.six_digits(charge.least_rho * 0.999999999, true)
                         ELSE trim_scale(charge.least_epsilon) END AS least_asked,
       CASE b.accountant WHEN 'zcdp' THEN dpquantile.six_digits(b.smallest_charge, true)
                         ELSE trim_scale(b.smallest_charge) END AS smallest_charge,
       to_char(dpquantile.period_end(b.every, greatest(b.period_start, charge.at)) AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS renewed_at
  FROM charge JOIN dpquantile.budget b ON b.budget_id = charge.budget_id)"}};

// Moves a budget to its period.
constexpr char kDeduct[] = R"(
  UPDATE dpquantile.budget b
     SET epsilon_spent = b.epsilon_spent + coalesce(charge.epsilon, 0),
         delta_spent = b.delta_spent + charge.delta,
         converted_delta = b.converted_delta + charge.delta,
         rho_spent = b.rho_spent + charge.rho,
         has_rho_alone = b.has_rho_alone OR charge.has_rho_alone,
         epsilon_before = dpquantile.before_at(charge.at, b.every, b.period_start, b.epsilon_spent, b.epsilon_before),
         delta_before = dpquantile.before_at(charge.at, b.every, b.period_start, b.delta_spent, b.delta_before),
         rho_before = dpquantile.before_at(charge.at, b.every, b.period_start, b.rho_spent, b.rho_before),
         period_start = greatest(b.period_start, dpquantile.period_start(b.every, charge.at)),
         charges = b.charges + charge.items
    FROM charge)";

// The ledger has names. Which names are those of one table must be known after it is dropped.
Statement note_names = {{R"(
INSERT INTO dpquantile.table_name (table_id, name)
SELECT i.table_id, n.name
  FROM charge CROSS JOIN unnest(charge.tables, charge.table_names) AS n (relation, name)
  JOIN dpquantile.table_identity i ON i.relation = n.relation
    ON CONFLICT DO NOTHING)"}};

// The budgets are locked, so that no other transaction adds the same text, or removes it. A revoked
// budget has no accountant of its own; then a budget of a table pays.
constexpr char kEnter[] = R"(
  RETURNING b.budget_id, b.table_id, b.charges - charge.items AS charges_before, sha256(charge.query_bytes) AS query_hash,
            CASE WHEN b.revoked THEN coalesce(charge.accountant_of_table, b.accountant) ELSE b.accountant END AS accountant),
texts AS (
  INSERT INTO dpquantile.query_text (budget_id, query_hash, query)
  SELECT c.budget_id, c.query_hash, charge.query FROM charge CROSS JOIN charged c WHERE charge.query IS NOT NULL AND c.table_id IS NULL
  ON CONFLICT DO NOTHING)
INSERT INTO dpquantile.ledger (budget_id, number, role_name, session_role_name, function, mechanism, neighbours, epsilon, delta, rho,
                               accountant, grouping_sets, groups, query_hash, tables, table_ids)
SELECT c.budget_id, c.charges_before + i, charge.role_name, charge.session_role_name, charge.functions[i]::name, charge.mechanisms[i],
       charge.neighbours[i], charge.epsilons[i], charge.deltas[i], charge.rhos[i], c.accountant, charge.grouping_sets[i],
       CASE WHEN charge.groups[i] >= 0 THEN charge.groups[i] END, c.query_hash, charge.table_names,)";

// The tables of budgets for tables may have another owner where no protected table is asked.
constexpr char kWithoutTables[] = R"(
       NULL
  FROM charge CROSS JOIN charged c CROSS JOIN generate_series(1, charge.items) i WHERE c.table_id IS NULL
RETURNING number)";

constexpr char kWithTables[] = R"(
       (SELECT array_agg(t.table_id) FROM dpquantile.table_identity t WHERE t.relation = ANY (charge.tables))
  FROM charge CROSS JOIN charged c CROSS JOIN generate_series(1, charge.items) i WHERE c.table_id IS NULL
RETURNING number, (SELECT count(*) FROM charged) AS budgets_charged)";

Statement enter = {
    {", charged AS (", kDeduct, " WHERE b.budget_id = charge.budget_id", kEnter, kWithoutTables}};
Statement enter_with_tables = {
    {", charged AS (", kDeduct, " WHERE b.budget_id = ANY (charge.budgets)", kEnter, kWithTables}};

Statement publish = {{R"(
INSERT INTO dpquantile.published (table_name, column_name, function, epsilon, delta, role_name, published_at)
SELECT charge.table_name, charge.column_name, charge.function, charge.epsilon::numeric, charge.delta::numeric, charge.role_name, charge.at
  FROM charge)"}};

// ---- What they are given -----------------------------------------------------------------------

void add_request(ChargeRow& charge, const ChargeRequest* request, TimestampTz now) {
  charge.add("role", OIDOID, ObjectIdGetDatum(request->role));
  charge.add("at", TIMESTAMPTZOID, TimestampTzGetDatum(now));
}

void add_totals(ChargeRow& charge, const ChargeTotals& totals) {
  charge.add("epsilon", NUMERICOID, totals.epsilon);
  charge.add("delta", NUMERICOID, totals.delta);
  charge.add("rho", NUMERICOID, totals.rho);
}

// The verdict has no total of epsilon if one of the charges has none.
ChargeTotals of_all(ChargeTotals totals) {
  if (totals.has_rho_alone) totals.epsilon = {};
  return totals;
}

ChargeRow check_row(const ChargeRequest* request, BudgetNeighbours neighbours, TimestampTz now) {
  const ChargeTotals totals = of_all(totals_of(request, neighbours));
  ChargeRow charge;
  add_request(charge, request, now);
  add_totals(charge, totals);
  charge.add("least_epsilon", NUMERICOID, totals.least_epsilon);
  charge.add("least_rho", NUMERICOID, totals.least_rho);
  return charge;
}

// The same for a budget whose neighbours are not known yet.
ChargeRow check_row(const ChargeRequest* request, TimestampTz now) {
  ChargeRow charge = check_row(request, BudgetNeighbours::kAddOrRemove, now);
  const ChargeTotals replacing = of_all(totals_of(request, BudgetNeighbours::kReplace));
  charge.add("epsilon_replacing", NUMERICOID, replacing.epsilon);
  charge.add("delta_replacing", NUMERICOID, replacing.delta);
  charge.add("rho_replacing", NUMERICOID, replacing.rho);
  charge.add("least_epsilon_replacing", NUMERICOID, replacing.least_epsilon);
  charge.add("least_rho_replacing", NUMERICOID, replacing.least_rho);
  return charge;
}

// A value of each element, as an array of this type: oid, int4, text or numeric. Values may be
// NULL.
template <class Elements, class ValueOf>
Amount array_of(const Elements& elements, Oid type, ValueOf value_of) {
  Datum values[kMaxCharges];
  bool nulls[kMaxCharges];
  int count = 0;
  for (const auto& element : elements) {
    const Amount value = value_of(element);
    values[count] = value.value;
    nulls[count++] = value.is_null;
  }
  const bool is_word = type == OIDOID || type == INT4OID;
  int lower_bound = 1;
  return {PointerGetDatum(construct_md_array(values, nulls, 1, &count, &lower_bound, type,
                                             is_word ? 4 : -1, is_word, TYPALIGN_INT)),
          false};
}

// A text that a charge lacks is NULL.
Amount text_or_null(const char* text) {
  if (text[0] == '\0') return {};
  return {CStringGetTextDatum(text), false};
}

Datum name_of_table(Oid table) {
  const char* name = name_with_schema(table);
  if (name == nullptr) {
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE),
                    errmsg("a table of the query has been dropped meanwhile")));
  }
  return CStringGetTextDatum(name);
}

void add_tables(ChargeRow& charge, const ChargeRequest* request) {
  const std::span<const Oid> tables = tables_of(request);
  charge.add("tables", OIDARRAYOID, array_of(tables, OIDOID, [](Oid table) {
               return Amount{ObjectIdGetDatum(table), false};
             }));
}

// Null without tables.
void add_table_names(ChargeRow& charge, const ChargeRequest* request) {
  Amount names;
  if (request->table_count > 0) {
    const auto name_of = [](Oid table) { return Amount{name_of_table(table), false}; };
    names = array_of(tables_of(request), TEXTOID, name_of);
  }
  charge.add("table_names", TEXTARRAYOID, names);
}

// The columns of the charges: an array with an element for each.
void add_items(ChargeRow& charge, const ChargeRequest* request, BudgetNeighbours neighbours) {
  const std::span<const ChargeItem> items = items_of(request);
  const bool replaces = neighbours == BudgetNeighbours::kReplace;
  const auto add_texts = [&](const char* column, auto text_of) {
    charge.add(column, TEXTARRAYOID, array_of(items, TEXTOID, [text_of](const ChargeItem& item) {
                 return text_or_null(text_of(item));
               }));
  };
  const auto add_amounts = [&](const char* column, auto amount_of) {
    charge.add(column, NUMERICARRAYOID,
               array_of(items, NUMERICOID, [amount_of, neighbours](const ChargeItem& item) {
                 return amount_of(item, neighbours);
               }));
  };
  const auto add_numbers = [&](const char* column, auto number) {
    charge.add(column, INT4ARRAYOID, array_of(items, INT4OID, [number](const ChargeItem& item) {
                 return Amount{Int32GetDatum(item.*number), false};
               }));
  };
  add_texts("functions", [](const ChargeItem& item) { return NameStr(item.function); });
  add_texts("mechanisms", [](const ChargeItem& item) { return item.mechanism; });
  add_texts("neighbours", [replaces](const ChargeItem& item) {
    return replaces ? kReplaceOneRow : item.neighbours;
  });
  add_amounts("epsilons", epsilon_of);
  add_amounts("deltas", delta_of);
  add_amounts("rhos", rho_of);
  add_numbers("grouping_sets", &ChargeItem::grouping_sets);
  add_numbers("groups", &ChargeItem::groups);  // below 0: their number is not public
}

// Both are NULL if the query's text is unknown.
void add_query(ChargeRow& charge, const ChargeRequest* request) {
  const Datum query = CStringGetTextDatum(query_of(request));
  const bool is_unknown = request->query_bytes == 0;
  charge.add("query", TEXTOID, query, is_unknown);
  charge.add("query_bytes", BYTEAOID, query, is_unknown);  // the two types have the same layout
}

// Adds the accountant of the budgets for tables, which all have the same; NULL without such a
// budget.
void add_accountant_of_table(ChargeRow& charge, std::span<const BudgetCheck> tables) {
  Amount accountant;
  for (const BudgetCheck& budget : tables) {
    if (budget.found) accountant = {CStringGetTextDatum(budget.accountant), false};
  }
  charge.add("accountant_of_table", TEXTOID, accountant);
}

ChargeRow row_to_enter(const ChargeRequest* request, const BudgetCheck& general,
                       std::span<const BudgetCheck> tables, TimestampTz now) {
  ChargeRow charge;
  add_request(charge, request, now);
  const ChargeTotals totals = totals_of(request, general.neighbours);
  add_totals(charge, totals);
  charge.add("has_rho_alone", BOOLOID, BoolGetDatum(totals.has_rho_alone));
  charge.add("items", INT4OID, Int32GetDatum(request->item_count));
  charge.add("budget_id", UUIDOID, UUIDPGetDatum(&general.id));
  charge.add("role_name", NAMEOID, NameGetDatum(&request->role_name));
  charge.add("session_role_name", NAMEOID, NameGetDatum(&request->session_role_name));
  add_items(charge, request, general.neighbours);
  add_query(charge, request);
  add_tables(charge, request);
  add_table_names(charge, request);
  add_accountant_of_table(charge, tables);
  return charge;
}

// Has a new worker plan the statement before it locks a budget: other charges of the role wait
// while the budget is locked. With NULLs the statement changes nothing.
void plan_to_enter(const ChargeRequest* request, TimestampTz now) {
  if (enter.plan != nullptr) return;
  ChargeRow charge = row_to_enter(request, {}, {}, now);
  charge.make_null();
  execute(&enter, charge);
}

// ---- What they return --------------------------------------------------------------------------

bool selects_one_row(Statement* statement, const ChargeRow& charge) {
  return execute(statement, charge) == SPI_OK_SELECT && SPI_processed == 1;
}

BudgetNeighbours neighbours_of(const char* name) {
  if (name != nullptr && strcmp(name, "add or remove") == 0) return BudgetNeighbours::kAddOrRemove;
  if (name != nullptr && strcmp(name, "replace") == 0) return BudgetNeighbours::kReplace;
  ereport(ERROR,
          (errcode(ERRCODE_INTERNAL_ERROR), errmsg("the role's budget has unknown neighbours")));
}

BudgetCheck found_budget(uint64 row) {
  return {true,
          result_is_true("revoked", row),
          result_text("verdict", row),
          result_text("accountant", row),
          neighbours_of(result_text("neighbours", row)),
          *DatumGetUUIDP(result("budget_id", row)),
          false};
}

// Nearly always the names of all tables have been noted.
void note_new_names(const ChargeRequest* request, std::span<const BudgetCheck> tables) {
  if (std::all_of(tables.begin(), tables.end(),
                  [](const BudgetCheck& budget) { return budget.is_named; })) {
    return;
  }
  ChargeRow charge;
  add_tables(charge, request);
  add_table_names(charge, request);
  execute(&note_names, charge);
}

bool enters_all(const ChargeRequest* request, Statement* statement, const ChargeRow& charge) {
  return execute(statement, charge) == SPI_OK_INSERT_RETURNING &&
         SPI_processed == items_of(request).size();
}

// Whether the general budget and all those for tables that were found have taken the charges.
bool deduct_from_all(const ChargeRequest* request, const BudgetCheck& general,
                     std::span<const BudgetCheck> tables, TimestampTz now) {
  Datum ids[kMaxTables + 1] = {UUIDPGetDatum(&general.id)};
  int count = 1;
  for (const BudgetCheck& budget : tables) {
    if (budget.found) ids[count++] = UUIDPGetDatum(&budget.id);
  }
  ChargeRow charge = row_to_enter(request, general, tables, now);
  charge.add("budgets", UUIDARRAYOID,
             PointerGetDatum(construct_array(ids, count, UUIDOID, UUID_LEN, false, TYPALIGN_CHAR)));
  return enters_all(request, &enter_with_tables, charge) &&
         DatumGetInt64(result("budgets_charged")) == count;
}

}  // namespace

void note_published(const ChargeRequest* request, TimestampTz now) {
  const ChargeItem& item = request->items[0];
  NameData column;
  namestrcpy(&column, item.mechanism);
  ChargeRow charge;
  charge.add("table_name", TEXTOID, CStringGetTextDatum(query_of(request)));
  charge.add("column_name", NAMEOID, NameGetDatum(&column));
  charge.add("function", NAMEOID, NameGetDatum(&item.function));
  charge.add("epsilon", TEXTOID, CStringGetTextDatum(item.own.epsilon));
  charge.add("delta", TEXTOID, CStringGetTextDatum(item.own.delta));
  charge.add("role_name", NAMEOID, NameGetDatum(&request->role_name));
  charge.add("at", TIMESTAMPTZOID, TimestampTzGetDatum(now));
  if (execute(&publish, charge) == SPI_OK_INSERT && SPI_processed == 1) return;
  ereport(ERROR, (errcode(ERRCODE_TRIGGERED_DATA_CHANGE_VIOLATION),
                  errmsg("the table dpquantile.published refused a row")));
}

BudgetCheck check_budget(const ChargeRequest* request, TimestampTz now, LockWait wait) {
  Statement* statement = wait == LockWait::kNever ? &check_if_free : &check_and_wait;
  plan_to_enter(request, now);
  if (!selects_one_row(statement, check_row(request, now))) return {};
  return found_budget(0);
}

bool budget_exists(const ChargeRequest* request, TimestampTz now) {
  ChargeRow charge;
  add_request(charge, request, now);
  return selects_one_row(&any_budget, charge);
}

void check_table_budgets(const ChargeRequest* request, TimestampTz now, BudgetNeighbours neighbours,
                         BudgetCheck* budgets) {
  if (request->table_count == 0) return;
  ChargeRow charge = check_row(request, neighbours, now);
  add_tables(charge, request);
  add_table_names(charge, request);
  execute(&check_tables, charge);
  const std::span<const Oid> tables = tables_of(request);
  for (uint64 row = 0; row < SPI_processed; ++row) {
    const Oid table = DatumGetObjectId(result("relation", row));
    BudgetCheck& budget = budgets[std::find(tables.begin(), tables.end(), table) - tables.begin()];
    budget = found_budget(row);
    budget.is_named = result_is_true("is_named", row);
    if (budget.neighbours == neighbours) continue;
    ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR),
                    errmsg("the role's budgets have different neighbours")));
  }
}

BudgetAmounts read_amounts(const ChargeRequest* request, const BudgetCheck& budget, Oid table,
                           TimestampTz now) {
  const ChargeTotals totals = totals_of(request, budget.neighbours);
  ChargeRow charge;
  add_request(charge, request, now);
  add_totals(charge, totals);
  charge.add("least_epsilon", NUMERICOID, totals.least_epsilon);
  charge.add("least_rho", NUMERICOID, totals.least_rho);
  charge.add("budget_id", UUIDOID, UUIDPGetDatum(&budget.id));
  if (!selects_one_row(&amounts, charge)) {
    ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("the locked budget has disappeared")));
  }
  return {OidIsValid(table) ? get_rel_name(table) : nullptr,
          budget.neighbours,
          result_text("epsilon_asked"),
          result_text("epsilon_left"),
          result_text("delta_asked"),
          result_text("delta_left"),
          result_text("rho_asked"),
          result_text("rho_left"),
          result_text("accountant"),
          result_text("least_asked"),
          result_text("smallest_charge"),
          result_text("renewed_at")};
}

bool deduct_and_enter(ChargeRequest* request, const BudgetCheck& general,
                      std::span<const BudgetCheck> tables, TimestampTz now) {
  note_new_names(request, tables);
  const bool entered = tables.empty()
                           ? enters_all(request, &enter, row_to_enter(request, general, {}, now))
                           : deduct_from_all(request, general, tables, now);
  if (entered) request->first_number = DatumGetInt64(result("number"));
  return entered;
}

}  // namespace dpquantile
