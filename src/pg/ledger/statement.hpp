#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "executor/spi.h"
}

// SQL statements of a worker, which name what they are given and what they return. SPI must be
// connected. Every function ereports the errors of its statement.
namespace dpquantile {

// A value that may be NULL.
struct Amount {
  Datum value = 0;
  bool is_null = true;
};

// The row `charge`, which a statement reads as a table of one row. Its columns have the same order
// and types each time that a statement is executed.
class ChargeRow {
 public:
  void add(const char* column, Oid type, Datum value, bool is_null = false);
  void add(const char* column, Oid type, const Amount& value) {
    add(column, type, value.value, value.is_null);
  }
  void make_null();

 private:
  friend int execute(struct Statement* statement, const ChargeRow& charge);

  static constexpr int kMost = 32;
  const char* columns_[kMost];
  Oid types_[kMost];
  Datum values_[kMost];
  char nulls_[kMost];
  int count_ = 0;
};

// A statement whose plan this worker keeps. PostgreSQL plans it once for any values, and again when
// an object that it refers to is changed or replaced. The parts of its text begin after
// WITH charge AS (...).
struct Statement {
  const char* parts[5];
  SPIPlanPtr plan = nullptr;
};

// Returns what SPI returns.
int execute(Statement* statement, const ChargeRow& charge);

// A column of a row, from 0, that the last statement returned. The text is null for NULL.
const char* result_text(const char* column, uint64 row = 0);
Datum result(const char* column, uint64 row = 0);
bool result_is_true(const char* column, uint64 row = 0);

}  // namespace dpquantile
