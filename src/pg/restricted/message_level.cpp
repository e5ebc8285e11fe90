#include "pg/restricted/message_level.hpp"

#include "pg/restricted/restricted_session.hpp"
#include "pg/server/postgres.hpp"

extern "C" {
#include "access/xact.h"
#include "utils/guc.h"
#include "utils/guc_tables.h"
}

namespace dpquantile {

namespace {

constexpr char kSetting[] = "client_min_messages";
constexpr char kHint[] = "SET client_min_messages = notice;";
constexpr char kTold[] = "plans, sizes and numbers of rows, printed at lower levels";

GucEnumCheckHook previous_check = nullptr;

// Before a transaction the setting comes from the client's options or from the role.
// refuse_low_message_level() then finds it.
bool check_message_level(int* level, void** extra, GucSource source) {
  if (previous_check != nullptr && !previous_check(level, extra, source)) return false;
  if (*level >= NOTICE || source != PGC_S_SESSION || !IsTransactionState()) return true;
  if (!session_is_restricted()) return true;
  GUC_check_errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE);
  GUC_check_errmsg("%s cannot be below notice in a restricted session", kSetting);
  GUC_check_errdetail("Messages of lower levels tell exact facts about data: %s.", kTold);
  GUC_check_errhint("%s", kHint);
  return false;
}

}  // namespace

void guard_message_level() {
  int count = 0;
  config_generic** settings = DPQ_SETTINGS(&count);
  for (int i = 0; i < count; ++i) {
    if (strcmp(settings[i]->name, kSetting) != 0) continue;
    auto* setting = reinterpret_cast<config_enum*>(settings[i]);
    previous_check = setting->check_hook;
    setting->check_hook = check_message_level;
    return;
  }
  ereport(ERROR,
          (errcode(ERRCODE_INTERNAL_ERROR), errmsg("PostgreSQL has no setting %s", kSetting)));
}

void refuse_low_message_level() {
  if (client_min_messages >= NOTICE) return;
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                  errmsg("%s must be at least notice, got %s", kSetting,
                         GetConfigOption(kSetting, false, false)),
                  errdetail_restricted(kTold), errhint("%s", kHint)));
}

}  // namespace dpquantile
