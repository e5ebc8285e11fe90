#include "pg/server/client_messages.hpp"

extern "C" {
#include "utils/guc_tables.h"
}

namespace dpquantile {

namespace {

constexpr char kSetting[] = "client_min_messages";

GucEnumAssignHook previous_assign = nullptr;
int setting = NOTICE;
bool are_kept_back = false;
int pairs[] = {0, 0};  // by what they withhold

int least_level() {
  if (pairs[static_cast<int>(Withheld::kAllBelowError)] > 0) return ERROR;
  const bool withholds = are_kept_back || pairs[static_cast<int>(Withheld::kBelowNotice)] > 0;
  return withholds ? NOTICE : DEBUG5;
}

void set_level(int level) {
  client_min_messages = Max(level, least_level());
}

// PostgreSQL calls it for every new value. It must not fail.
void assign_level(int level, void* extra) {
  if (previous_assign != nullptr) previous_assign(level, extra);
  set_level(level);
}

config_enum* find_setting() {
  int count = 0;
  config_generic** settings = DPQ_SETTINGS(&count);
  for (int i = 0; i < count; ++i) {
    if (strcmp(settings[i]->name, kSetting) == 0) {
      return DPQ_ENUM_SETTING(settings[i]);
    }
  }
  ereport(ERROR,
          (errcode(ERRCODE_INTERNAL_ERROR), errmsg("PostgreSQL has no setting %s", kSetting)));
}

}  // namespace

GucEnumCheckHook separate_message_level(GucEnumCheckHook check) {
  config_enum* found = find_setting();
  const GucEnumCheckHook previous_check = found->check_hook;
  found->check_hook = check;
  previous_assign = found->assign_hook;
  found->assign_hook = assign_level;
  setting = *found->variable;
  found->variable = &setting;
  return previous_check;
}

int message_level_setting() {
  return setting;
}

void keep_low_messages_back(bool keeps) {
  are_kept_back = keeps;
  set_level(setting);
}

void begin_without_messages(Withheld withheld) {
  ++pairs[static_cast<int>(withheld)];
  set_level(setting);
}

void end_without_messages(Withheld withheld) {
  --pairs[static_cast<int>(withheld)];
  set_level(setting);
}

}  // namespace dpquantile
