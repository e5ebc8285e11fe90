#include "pg/distributed/lost_connections.hpp"

#include "pg/server/postgres.hpp"

extern "C" {
#include "utils/guc.h"
}

namespace dpquantile {

namespace {

constexpr int kLevelOfCitus = DEBUG1;

emit_log_hook_type previous_hook = nullptr;
bool has_lost = false;
int pairs = 0;
int level_of_server = WARNING;  // log_min_messages before the outermost pair

// As PostgreSQL decides it. LOG is above all errors but FATAL and PANIC there.
bool is_for_log(int level) {
  if (level == LOG || level == LOG_SERVER_ONLY) return level_of_server <= ERROR;
  if (level_of_server == LOG) return level >= FATAL;
  return level >= level_of_server;
}

// Without rows of the server there is nothing to count twice: that is so where no connection could
// be made, which libpq says in these words. In another language the query is refused.
bool tells_lost_connection(const ErrorData* message) {
  return message->sqlerrcode == ERRCODE_CONNECTION_FAILURE && message->elevel < ERROR &&
         (message->message == nullptr ||
          strstr(message->message, "connection to server ") == nullptr);
}

void see_message(ErrorData* message) {
  if (pairs > 0) {
    if (tells_lost_connection(message)) has_lost = true;
    if (!is_for_log(message->elevel)) {
      message->output_to_server = false;
      return;
    }
  }
  if (previous_hook != nullptr) previous_hook(message);
}

}  // namespace

void watch_lost_connections() {
  previous_hook = emit_log_hook;
  emit_log_hook = see_message;
}

ConnectionWatch begin_connection_watch() {
  const ConnectionWatch before = {DPQ_LOG_MIN_MESSAGES, has_lost};
  if (pairs++ == 0) level_of_server = DPQ_LOG_MIN_MESSAGES;
  DPQ_LOG_MIN_MESSAGES = Min(DPQ_LOG_MIN_MESSAGES, kLevelOfCitus);
  has_lost = false;
  return before;
}

bool end_connection_watch(const ConnectionWatch& watch) {
  const bool lost = has_lost;
  has_lost = watch.has_lost;
  DPQ_LOG_MIN_MESSAGES = watch.log_level;
  --pairs;
  return lost;
}

}  // namespace dpquantile
