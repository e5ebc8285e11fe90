#pragma once

#include "pg/release/release_execution.hpp"

// All release nodes of one execution of a statement. What a call cannot be charged for is found for
// all of them before the first of them charges: the answers of a statement that is refused would be
// lost.
namespace dpquantile {

// Adds a node when PostgreSQL starts it.
void add_to_statement(ReleaseNode* node);

// Prepares the calls of all nodes of an execution (prepare_call), once, as far as the statement
// alone decides their parameters, and has the installed check look at their prices. Those with
// values of a query around wait for these. Charges nothing. ereports as prepare_call() and the
// check do.
void check_statement(const EState* state);

// Tells once which of the answers that the nodes have shown are smaller than their errors
// (error_notice.hpp).
void tell_of_statement(const EState* state);

}  // namespace dpquantile
