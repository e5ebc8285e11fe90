#include "pg/ledger/statement.hpp"

extern "C" {
#include "lib/stringinfo.h"
}

namespace dpquantile {

namespace {

int number_of(const char* column) {
  const int number = SPI_fnumber(SPI_tuptable->tupdesc, column);
  if (number <= 0) {
    ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR),
                    errmsg("a statement of the charge returns no column %s", column)));
  }
  return number;
}

}  // namespace

void ChargeRow::add(const char* column, Oid type, Datum value, bool is_null) {
  Assert(count_ < kMost);
  columns_[count_] = column;
  types_[count_] = type;
  values_[count_] = value;
  nulls_[count_++] = is_null ? 'n' : ' ';
}

void ChargeRow::make_null() {
  memset(nulls_, 'n', static_cast<std::size_t>(count_));
}

// NOT MATERIALIZED: the plan has the values in the place of the columns, as the keys of its index
// scans.
int execute(Statement* statement, const ChargeRow& charge) {
  if (statement->plan == nullptr) {
    StringInfoData text;
    initStringInfo(&text);
    appendStringInfoString(&text, "WITH charge AS NOT MATERIALIZED (SELECT ");
    for (int i = 0; i < charge.count_; ++i) {
      appendStringInfo(&text, "%s$%d AS %s", i == 0 ? "" : ", ", i + 1, charge.columns_[i]);
    }
    appendStringInfoChar(&text, ')');
    for (const char* part : statement->parts) {
      if (part != nullptr) appendStringInfoString(&text, part);
    }
    SPIPlanPtr plan = SPI_prepare(text.data, charge.count_, const_cast<Oid*>(charge.types_));
    if (plan == nullptr || SPI_keepplan(plan) != 0) {
      ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("the charge cannot be prepared")));
    }
    statement->plan = plan;
  }
  return SPI_execute_plan(statement->plan, const_cast<Datum*>(charge.values_), charge.nulls_, false,
                          0);
}

const char* result_text(const char* column, uint64 row) {
  return SPI_getvalue(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, number_of(column));
}

Datum result(const char* column, uint64 row) {
  bool is_null;
  return SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, number_of(column), &is_null);
}

bool result_is_true(const char* column, uint64 row) {
  return DatumGetBool(result(column, row));
}

}  // namespace dpquantile
