#pragma once

#include "pg/charge_request.hpp"

// What the workers that charge budgets have in common.
namespace dpquantile {

// What becomes of a charge if somebody else has locked the budget's row.
enum class Waiting {
  kForAWhile,  // waits, and fails after the lock_timeout
  kNever,      // the outcome is kLocked
};

// Forces what a database's settings may have changed and the charge depends on.
void force_charge_settings(Waiting waiting);

// Lets no cancel end the wait for a synchronous standby, after which nothing would be sure; only a
// lock_timeout still cancels. To be called when a worker starts.
void ignore_cancels();

// ereports unless the budget tables are those of the extension. The worker is a superuser: after
// DROP EXTENSION others may have made tables of these names, with triggers. They stay locked
// against that until the transaction ends; to be called in it before make_charge.
void lock_budget_tables();

// Makes the charge in the current transaction, within SPI. Returns whether it may be committed;
// else the request says why not. May ereport: then the whole transaction must be aborted.
bool make_charge(ChargeRequest* request, Waiting waiting);

// Refuses what was aborted because of an error.
void refuse_with_error(ChargeRequest* request, const ErrorData* error);

}  // namespace dpquantile
