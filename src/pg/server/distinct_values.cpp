#include "pg/server/distinct_values.hpp"

#include <algorithm>
#include <numeric>

extern "C" {
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/builtins.h"
#include "utils/typcache.h"
}

namespace dpquantile {

namespace {

struct Order {
  FmgrInfo* compare;
  Oid collation;
};

struct RowOrder {
  const Order* columns;
  size_t count;
};

Order order_of(const ComparedColumn& column) {
  TypeCacheEntry* entry = lookup_type_cache(column.type, TYPECACHE_CMP_PROC_FINFO);
  if (!OidIsValid(entry->cmp_proc_finfo.fn_oid)) {
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_FUNCTION),
                    errmsg("values of type %s cannot be compared", format_type_be(column.type))));
  }
  return {&entry->cmp_proc_finfo, column.collation};
}

// For qsort_arg(). `order` is a RowOrder*.
int compare_rows(const void* left, const void* right, void* order) {
  const auto* by = static_cast<const RowOrder*>(order);
  const Datum* left_row = *static_cast<Datum* const*>(left);
  const Datum* right_row = *static_cast<Datum* const*>(right);
  for (size_t i = 0; i < by->count; ++i) {
    const int compared = DatumGetInt32(FunctionCall2Coll(
        by->columns[i].compare, by->columns[i].collation, left_row[i], right_row[i]));
    if (compared != 0) return compared;
  }
  return 0;
}

}  // namespace

Oid equality_family(Oid type) {
  return lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY)->btree_opf;
}

namespace {

// The hashes of a column, or null if its type has none.
uint32* hashes_of_column(Datum* const* rows, int count, size_t number,
                         const ComparedColumn& column) {
  TypeCacheEntry* entry = lookup_type_cache(column.type, TYPECACHE_HASH_PROC_FINFO);
  if (!OidIsValid(entry->hash_proc_finfo.fn_oid)) return nullptr;
  auto* hashes = static_cast<uint32*>(palloc((static_cast<Size>(count) + 1) * sizeof(uint32)));
  for (int i = 0; i < count; ++i) {
    hashes[i] = DatumGetUInt32(
        FunctionCall1Coll(&entry->hash_proc_finfo, column.collation, rows[i][number]));
  }
  return hashes;
}

struct HashedRow {
  uint32 hash;
  Datum* row;
};

// The rows with a hash of all columns that have one, in the order of these.
HashedRow* sorted_by_hash(Datum* const* rows, int count, std::span<const ComparedColumn> columns) {
  auto* hashed =
      static_cast<HashedRow*>(palloc((static_cast<Size>(count) + 1) * sizeof(HashedRow)));
  for (int i = 0; i < count; ++i) hashed[i] = {0, rows[i]};
  for (size_t column = 0; column < columns.size(); ++column) {
    const uint32* hashes = hashes_of_column(rows, count, column, columns[column]);
    for (int i = 0; hashes != nullptr && i < count; ++i) {
      hashed[i].hash = pg_rotate_left32(hashed[i].hash, 1) ^ hashes[i];
    }
  }
  std::sort(hashed, hashed + count,
            [](const HashedRow& left, const HashedRow& right) { return left.hash < right.hash; });
  return hashed;
}

bool are_different(Datum** rows, int count, RowOrder* order) {
  qsort_arg(rows, static_cast<size_t>(count), sizeof(Datum*), compare_rows, order);
  for (int i = 1; i < count; ++i) {
    if (compare_rows(&rows[i - 1], &rows[i], order) == 0) return false;
  }
  return true;
}

}  // namespace

// Comparing by a collation takes long, and only rows with one hash may be equal.
bool are_distinct_rows(Datum* const* rows, int count, std::span<const ComparedColumn> columns) {
  auto* orders = static_cast<Order*>(palloc((columns.size() + 1) * sizeof(Order)));
  for (size_t i = 0; i < columns.size(); ++i) orders[i] = order_of(columns[i]);
  RowOrder order = {orders, columns.size()};
  const HashedRow* hashed = sorted_by_hash(rows, count, columns);
  auto** alike = static_cast<Datum**>(palloc((static_cast<Size>(count) + 1) * sizeof(Datum*)));
  int alike_count = 0;
  for (int i = 0; i < count; ++i) {
    if (i > 0 && hashed[i].hash != hashed[i - 1].hash) {
      if (!are_different(alike, alike_count, &order)) return false;
      alike_count = 0;
    }
    alike[alike_count++] = hashed[i].row;
  }
  return are_different(alike, alike_count, &order);
}

namespace {

Datum** rows_of(Datum* values, int count) {
  auto** rows = static_cast<Datum**>(palloc((static_cast<Size>(count) + 1) * sizeof(Datum*)));
  for (int i = 0; i < count; ++i) rows[i] = &values[i];
  return rows;
}

}  // namespace

bool are_distinct(Datum* values, int count, Oid type, Oid collation) {
  const ComparedColumn column = {type, collation};
  return are_distinct_rows(rows_of(values, count), count, {&column, 1});
}

namespace {

constexpr size_t kMostOrdered = 4;

// The values of a bucket, of which PostgreSQL's hash tables have 1024 or more
constexpr uint32 kBuckets = 1024;
constexpr int kMostInBucket = 1000;

bool is_spread(uint32* hashes, int count) {
  std::sort(hashes, hashes + count);
  for (int i = 2; i < count; ++i) {
    if (hashes[i] == hashes[i - 2]) return false;
  }
  int in_bucket[kBuckets] = {};
  return std::none_of(hashes, hashes + count,
                      [&](uint32 hash) { return ++in_bucket[hash % kBuckets] > kMostInBucket; });
}

}  // namespace

bool are_spread_by_hash(Datum* const* rows, int count, std::span<const ComparedColumn> columns) {
  const size_t width = columns.size();
  if (width > kMostOrdered) return false;
  auto** hashes = static_cast<uint32**>(palloc((width + 1) * sizeof(uint32*)));
  auto* order = static_cast<size_t*>(palloc((width + 1) * sizeof(size_t)));
  for (size_t i = 0; i < width; ++i) {
    hashes[i] = hashes_of_column(rows, count, i, columns[i]);
    if (hashes[i] == nullptr) return width == 1 && count <= kMostInBucket;
  }
  auto* combined = static_cast<uint32*>(palloc((static_cast<Size>(count) + 1) * sizeof(uint32)));
  std::iota(order, order + width, size_t{0});
  do {
    CHECK_FOR_INTERRUPTS();
    std::fill_n(combined, count, 0);
    for (size_t i = 0; i < width; ++i) {
      for (int row = 0; row < count; ++row) {
        combined[row] = pg_rotate_left32(combined[row], 1) ^ hashes[order[i]][row];
      }
    }
    if (!is_spread(combined, count)) return false;
  } while (std::next_permutation(order, order + width));
  return true;
}

bool are_spread_by_hash(Datum* values, int count, Oid type, Oid collation) {
  const ComparedColumn column = {type, collation};
  return are_spread_by_hash(rows_of(values, count), count, {&column, 1});
}

}  // namespace dpquantile
