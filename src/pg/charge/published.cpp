#include "pg/charge/published.hpp"

#include "pg/charge/resident_charge.hpp"
#include "pg/charge/session_charge.hpp"
#include "pg/ledger/charge_request.hpp"
#include "pg/server/decimal.hpp"
#include "pg/server/table_name.hpp"

extern "C" {
#include "access/xlog.h"
#include "miscadmin.h"
#include "utils/builtins.h"
}

namespace dpquantile {

namespace {

ChargeRequest* write_request(const Publication& publication) {
  const char* table = name_with_schema(publication.table);
  const int bytes = static_cast<int>(strlen(table));
  auto* request = static_cast<ChargeRequest*>(palloc0(request_size(1, bytes)));
  request->kind = RequestKind::kPublished;
  request->role = GetOuterUserId();
  namestrcpy(&request->role_name, GetUserNameFromId(GetOuterUserId(), false));
  request->item_count = 1;
  request->query_bytes = bytes;
  ChargeItem* item = &request->items[0];
  namestrcpy(&item->function, publication.function);
  strlcpy(item->mechanism, publication.column, sizeof item->mechanism);
  strlcpy(item->own.epsilon, decimal_text(publication.epsilon), sizeof item->own.epsilon);
  strlcpy(item->own.delta, decimal_text(publication.delta), sizeof item->own.delta);
  memcpy(query_of(request), table, static_cast<Size>(bytes) + 1);
  return request;
}

}  // namespace

void note_publication_by_worker(const Publication& publication) {
  if (RecoveryInProgress()) {
    ereport(ERROR, (errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
                    errmsg("nothing can be published on a standby server"),
                    errhint("Call the function on the primary.")));
  }
  ChargeRequest* request = write_request(publication);
  if (!charge_by_resident_worker(request)) charge_by_session_worker(request);
  if (request->outcome != ChargeOutcome::kCharged) {
    ereport(ERROR, (errcode(ERRCODE_SYSTEM_ERROR),
                    errmsg("the worker could not note what is to be published%s%s",
                           request->message[0] == '\0' ? "" : ": ", request->message),
                    errhint("Nothing was drawn. The server log says more.")));
  }
  pfree(request);
}

}  // namespace dpquantile
