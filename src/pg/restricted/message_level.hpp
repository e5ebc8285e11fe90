#pragma once

// Messages of PostgreSQL and of other extensions about a running query: plans, estimates, sizes of
// sorts, row counts (debug_print_plan, trace_sort, auto_explain, log_executor_stats). They are LOG
// and DEBUG messages, and reach a client whose client_min_messages is below notice.
namespace dpquantile {

// Makes a restricted session unable to lower client_min_messages below notice by SET, set_config()
// or the SET clause of a function, even while a query runs. What lowers it all the same has no
// effect (pg/server/client_messages.hpp). Call it once, when the library is loaded.
void guard_message_level();

// ereports if client_min_messages is below notice. It may be so in a restricted session: from the
// start, by the client's options or the role's settings, and after RESET or ROLLBACK. The error
// tells the user that the messages do not come.
void refuse_low_message_level();

// ereports if auto_explain prints plans as messages that no client_min_messages hides from the
// client. Only a superuser can set that.
void refuse_printed_plans();

}  // namespace dpquantile
