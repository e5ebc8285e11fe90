#pragma once

#include <span>

#include "pg/charge/charge.hpp"
#include "pg/release/error_notice.hpp"
#include "pg/release/release_call.hpp"
#include "pg/release/sorted_answers.hpp"
#include "pg/reuse/answer_key.hpp"

extern "C" {
#include "nodes/execnodes.h"
}

// An execution of a release node:
//   1. It evaluates and checks the parameters, which has been done for all nodes of the statement
//      before its first charge (statement_calls.hpp). The installed check may refuse the execution,
//      or allow to show the answers of an earlier one again. Then nothing else is done.
//   2. It charges for all private aggregates in one transaction.
//   3. It runs the child, which reads the rows and groups them. From the check to the last row no
//      function of a user runs over protected rows, so none can undo what the check has found.
//   4. It draws the answers of each group.
//   5. It sorts the groups by their keys.
// The child is not asked for a row before the charge. Nothing is drawn before its charge is
// durable. Nothing is shown before all groups are drawn. The calls that are charged for each group
// are charged for one group in step 2, and for all others between steps 3 and 4: their number is
// known only then. The charge of step 2 is kept if the other groups cannot be charged
// (docs/privacy.md, "When it is charged").
namespace dpquantile {

// The node's state. It is zero before it is set up.
struct ReleaseNode {
  CustomScanState scan;
  PlanState* child;
  ReleasePlan plan;
  ReleaseCall* calls;
  int call_count;
  List* decisions;  // of integers: the columns of dp_keep_group without which no group is shown
  RandomStream* random;
  TupleTableSlot* output;  // for the first columns of an answer; null if the node returns all
  Datum* outer_copies;     // of the check: values of the query around that were stored elsewhere
  const List* tables;      // OIDs of the protected tables whose budgets are charged, too
  bool released;           // whether the answers are those of the present execution
  int memory;              // in kilobytes, for the answers and for groups that wait for a charge
  TupleTableSlot* drawn;   // an answer of a group: the columns of the scan tuple, and errors
  SortedAnswers answers;   // with the columns of `drawn`
  ErrorNotes notes;        // of what it has shown
};

// Executes the node: makes its answers. ereports if the query is refused, and in a parallel worker.
// Then nothing was released.
void execute_release(ReleaseNode* node);

// What an installed check finds.
struct ReleaseTerms {
  bool is_quiet;    // no message may tell of the rows, and no scan other queries how far it is
  int64 reuse;      // how long the answers may be shown again, in microseconds; 0: not at all
  bool is_fresh;    // whether the session asks for new answers all the same
  AnswerKey key;    // under which they are kept, if they may
  List* relations;  // OIDs of the protected relations that they come from
  const List* charged_tables;  // OIDs of the protected tables whose budgets are charged, too
  void (*finish)(const ReleaseNode* node) = nullptr;  // called when all rows have been read
};

// What may refuse an execution: called with the charges of step 2, before they are made. The calls
// of the node are prepared. ereports to refuse.
using ReleaseCheck = ReleaseTerms (*)(ReleaseNode* node, std::span<const Charge> charges);

// What may refuse an execution for its charges alone, before any other node of the statement is
// charged. ereports to refuse.
using PriceCheck = void (*)(const ReleaseNode* node, std::span<const Charge> charges);

// Installs the checks. Call it once, when the library is loaded.
void install_release_check(ReleaseCheck check, PriceCheck prices);

// Prepares the calls of a node, and has the installed check look at their charges. Charges nothing.
// ereports as prepare_call() and the check do.
void check_prices(ReleaseNode* node);

}  // namespace dpquantile
