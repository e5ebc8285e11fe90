#pragma once

#include "pg/borrowed/borrowed_plan.hpp"

extern "C" {
#include "nodes/params.h"
#include "nodes/parsenodes.h"
}

// The values of early expressions. An execution has each as a query parameter, after the parameters
// of the query itself. So what is computed for a row cannot fail later than before the first row,
// for example because another session has dropped what an early expression names.
namespace dpquantile {

// The largest number of a parameter ($1, ...) that the query has.
int largest_parameter(Query* query);

// While a part of a query that is asked in stages is planned (pg/staged): which of its parameters
// are answers of the parts before it, List of int, allocated by the caller. When they have values,
// somebody has been charged, so what is computed of them alone is not to fail, and what they alone
// can make fail is refused. Returns those before.
List* begin_with_answers(List* parameters);

// Those of the parts that are being planned now, one in another.
const List* parameters_of_answers();

// While a part of such a query is planned, with rows in VALUES that came, or of which some are made
// up for a trial. Returns what they were before. In the parts of a part with made-up rows such rows
// stand, too.
enum class StageRows { kNone, kKnown, kMadeUp };
StageRows begin_in_stages(StageRows rows);
StageRows rows_in_stages();

// Whether the statement is such a part.
bool is_in_stages();

// Whether keys that are computed of such rows have these rows as their list where groups can be
// chosen privately. A trial decides it for the whole statement, because fewer rows may come than it
// has made up: a list that it could not take is not taken later.
enum class RowLists {
  kTaken,
  kTooLong,  // a list was not taken, because with as many rows as may come it is too long
  kNotTaken,
};
// Returns what it was before.
RowLists begin_with_row_lists(RowLists lists);
RowLists row_lists();
void note_long_row_list();

// While the later parts of such a query are planned and run: the first have been charged. Returns
// whether it was so before.
bool begin_after_charge(bool is_charged);

// What a hint says first of the charge of the call that is refused.
const char* charge_of_refused_call();

// Whether parts of the statement have been charged.
bool is_after_charge();

// Whether an expression has one of them.
bool has_earlier_answer(const Node* expression);

// The query's parameters, and after them the values of the plan's early expressions, in the current
// memory context. ereports what the expressions report, and if a value is too large; after a charge
// such a value is NULL, with a warning.
ParamListInfo with_early_values(const BorrowedPlan& plan, ParamListInfo parameters);

// ereports unless the parameters of an execution of the plan have its early values.
void require_early_values(const BorrowedPlan& plan, ParamListInfo parameters);

// ereports if protected rows must not be compared with a parameter or an early value, because that
// would take a time that can be measured.
void check_value_size(Datum value, Oid type);

// ereports if a value has more than so many bytes, and a query searches rows for it or computes
// with it for each row.
void check_short_value(Size bytes, int most);

// ereports if it is a number of more digits than the functions of numeric take.
void check_short_number(Datum value, Oid type);

// ereports if rows may not be compared with this value as a regular expression, because that may
// take long (regex_weight.hpp) or PostgreSQL knows no such pattern. Compiles it.
void check_pattern_value(Datum value, Oid collation);

// A copy of a value that no row needs to be read for: a value may be stored elsewhere, where it may
// be gone or locked when the first row needs it.
Datum value_in_memory(Datum value, Oid type);

// How many elements a list, and how many bytes a list or another value may have that protected rows
// are compared with, in the text of the query or in a parameter. Limits that depend on the query
// bound how long that takes (row_work.hpp); these bound what is done before.
constexpr int kMaxElements = 1000;
constexpr Size kMaxValueBytes = 64 * 1024;

// How many bytes a value may have in the rows of private answers that protected rows are joined
// with. NULL stands for answers that are not there yet, and counts as so long.
constexpr int kMostAnswerBytes = 1000;

// How many values a public list of keys may have, and how many rows a list in FROM that is written
// as arrays; how many bytes the values have together. A row is found in it by a hash.
constexpr int kMostListed = 100000;
constexpr Size kMostListedBytes = 8 * 1024 * 1024;

// Whether a value has more than kMaxElements, or than so many bytes.
bool is_too_large(Datum value, Oid type, Size most_bytes = kMaxValueBytes);

// Says how else to select.
constexpr char kSizeHint[] =
    "Use a shorter list or value, or join a table with a unique key that you may read.";

}  // namespace dpquantile
