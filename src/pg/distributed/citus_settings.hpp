#pragma once

// Settings of Citus that any user may change. Some of them make Citus count rows more than once, or
// fail when there are too many, or change the settings of sessions on workers.
namespace dpquantile {

enum class Charged { kNo, kYes };

// Requires that the settings of Citus have the server's values and had no others in this
// transaction, except those which are known to change nothing but the way of an answer. A value is
// the server's unless it comes from the role, the client or the session. ereports otherwise, and
// says whether the query is charged. It reads no data.
//
// Functions that a query calls for its rows may change settings. So it must be called before the
// query is planned, before the charge, and when the rows are read.
void require_settings_of_server(Charged charged);

}  // namespace dpquantile
