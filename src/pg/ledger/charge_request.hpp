#pragma once

#include <span>

#include "pg/server/postgres.hpp"

namespace dpquantile {

// What the worker did with a charge.
enum class ChargeOutcome : uint32 {
  kPending = 0,  // not decided yet
  kCharged = 1,  // the charge, or the note, is committed
  kRefused = 2,  // nothing was charged; the reply says why
  kLocked = 3,   // nothing was charged, because somebody else held a lock
};

// What a charge does if somebody else has locked the budget's row.
enum class LockWait {
  kUntilTimeout,  // it waits, and fails after lock_timeout (force_charge_settings)
  kNever,         // it does not wait; its outcome is kLocked
};

// The most bytes of the query's text in a request, without the zero at its end. A longer text is
// cut at a character boundary.
inline constexpr int kQueryBytes = 2048;

// The most charges in a request.
inline constexpr int kMaxCharges = 100;

// The most protected tables of a request.
inline constexpr int kMaxTables = 8;

// What a budget protects: the data for which its limits are promised.
enum class BudgetNeighbours {
  kAddOrRemove,  // each call is charged for its own neighbours, such as "add or remove one row"
  kReplace,      // each call is charged for replacing the value of one row
};

// Amounts for one time, as decimals, so that the budget adds up exactly what the user wrote. A rho
// that is computed from epsilon is rounded up: the decimal is above the double.
struct ChargeAmounts {
  char epsilon[32];  // empty for a query stated in rho alone
  char delta[32];
  char rho[32];
};

// The charge of one private aggregate. All texts end with a zero. Both amounts have an epsilon and
// a delta above 0, or both lack it.
struct ChargeItem {
  NameData function;
  char mechanism[64];
  char neighbours[64];      // of `own`
  ChargeAmounts own;        // for the budget's neighbours kAddOrRemove
  ChargeAmounts replacing;  // for kReplace
  int32 times;              // the charge is one of the amounts times this
  int32 grouping_sets;
  int32 groups;  // the number of groups; -1: not public
};

// Why a query of protected tables ended while it read their rows.
struct FailedRead {
  int32 sqlstate;  // 0: the session ended
  bool closes;     // an error that perhaps only a row can raise; else a cancel or the like
};

enum class RequestKind : uint32 {
  kCharges,
  kFailedRead,  // to note a failure for the role and the tables; there are no items
  // To note what is published of a table. There is one item, with the column in the place of the
  // mechanism, and the name of the table in the place of the query's text.
  kPublished,
};

// The charges that a session asks a worker for, all or none, and the worker's reply, in shared
// memory. The role pays for all of them.
struct ChargeRequest {
  RequestKind kind;
  FailedRead failure;  // of kFailedRead
  Oid role;
  NameData role_name;
  NameData session_role_name;
  bool after_first_group;  // the query's first group has been charged by another request
  int32 table_count;
  Oid tables[kMaxTables];  // of protected tables whose budgets pay, too, in the order of their OIDs

  // The reply, which the worker writes. The fields after first_number are set if the charge is
  // refused.
  ChargeOutcome outcome;
  int64 first_number;  // the number of the first charge in the ledger of the budget
  int32 sqlstate;
  char message[512];
  char detail[512];
  char hint[512];

  int32 item_count;
  int32 query_bytes;
  ChargeItem items[FLEXIBLE_ARRAY_MEMBER];  // then the query's text: query_bytes bytes and a zero
};

// In bytes.
constexpr Size request_size(int item_count, int query_bytes) {
  return offsetof(ChargeRequest, items) + static_cast<Size>(item_count) * sizeof(ChargeItem) +
         static_cast<Size>(query_bytes) + 1;
}
inline constexpr Size kLargestRequest = request_size(kMaxCharges, kQueryBytes);

// Room for the largest request in shared memory.
struct RequestStorage {
  alignas(ChargeRequest) char bytes[kLargestRequest];

  ChargeRequest* get() { return reinterpret_cast<ChargeRequest*>(bytes); }
};

// In bytes, from the request's item_count and query_bytes.
inline Size request_size(const ChargeRequest* request) {
  return request_size(request->item_count, request->query_bytes);
}

inline std::span<const Oid> tables_of(const ChargeRequest* request) {
  return {request->tables, static_cast<std::size_t>(request->table_count)};
}

inline std::span<const ChargeItem> items_of(const ChargeRequest* request) {
  return {request->items, static_cast<std::size_t>(request->item_count)};
}

// The query's text, which follows the items.
inline char* query_of(ChargeRequest* request) {
  return reinterpret_cast<char*>(request->items + request->item_count);
}
inline const char* query_of(const ChargeRequest* request) {
  return reinterpret_cast<const char*>(request->items + request->item_count);
}

inline bool has_epsilon(const ChargeItem& item) {
  return item.own.epsilon[0] != '\0';
}
inline bool has_delta(const ChargeItem& item) {
  return strcmp(item.own.delta, "0") != 0;
}

// What the charge costs a budget with these neighbours.
inline const ChargeAmounts& charged_amounts(const ChargeItem& item, BudgetNeighbours neighbours) {
  return neighbours == BudgetNeighbours::kReplace ? item.replacing : item.own;
}

// Copies the fields of the reply, and no others.
void copy_reply(ChargeRequest* to, const ChargeRequest* from);

// Sets the outcome to kPending and empties the other fields of the reply.
void clear_reply(ChargeRequest* request);

}  // namespace dpquantile
