#include "pg/restricted/message_level.hpp"

#include <string_view>

#include "pg/restricted/restricted_session.hpp"
#include "pg/server/client_messages.hpp"

extern "C" {
#include "access/xact.h"
}

namespace dpquantile {

namespace {

constexpr char kSetting[] = "client_min_messages";
constexpr char kHint[] = "SET client_min_messages = notice;";
constexpr char kTold[] = "plans, sizes and numbers of rows, printed at lower levels";
constexpr char kPlanLevel[] = "auto_explain.log_level";
constexpr std::string_view kShownLevels[] = {"info", "notice", "warning"};

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

// Null if no library or setting defines it.
const char* setting_or_null(const char* name) {
  return GetConfigOption(name, true, false);
}

bool prints_plans() {
  const char* duration = setting_or_null("auto_explain.log_min_duration");
  return duration != nullptr && strcmp(duration, "-1") != 0;
}

}  // namespace

void guard_message_level() {
  previous_check = separate_message_level(check_message_level);
}

void refuse_low_message_level() {
  if (message_level_setting() >= NOTICE) return;
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                  errmsg("%s must be at least notice, got %s", kSetting,
                         GetConfigOption(kSetting, false, false)),
                  errdetail_restricted(kTold), errhint("%s", kHint)));
}

void refuse_printed_plans() {
  if (!prints_plans()) return;
  const char* level = setting_or_null(kPlanLevel);
  for (const std::string_view shown : kShownLevels) {
    if (level == nullptr || shown != level) continue;
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("%s must be log or a debug level, got %s", kPlanLevel, level),
                    errdetail_restricted("plans and numbers of rows, printed to the client"),
                    errhint("Ask an administrator to set %s = log.", kPlanLevel)));
  }
}

}  // namespace dpquantile
