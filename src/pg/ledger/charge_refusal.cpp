#include "pg/ledger/charge_refusal.hpp"

#include <algorithm>

extern "C" {
#include "utils/builtins.h"
}

namespace dpquantile {

namespace {

void refuse(ChargeRequest* request, int sqlstate, const char* message, const char* hint) {
  request->sqlstate = sqlstate;
  strlcpy(request->message, message, sizeof request->message);
  strlcpy(request->hint, hint, sizeof request->hint);
  request->outcome = ChargeOutcome::kRefused;
}

// Example arguments of dp_grant_budget, after the role, that allow charges of this kind.
const char* example_arguments(const ChargeRequest* request) {
  const std::span<const ChargeItem> items = items_of(request);
  if (!std::all_of(items.begin(), items.end(), has_epsilon)) return "1, 1e-6, 'zcdp'";
  return std::any_of(items.begin(), items.end(), has_delta) ? "1, 1e-5" : "1";
}

// What follows an amount that is asked for: it may be another one than the user wrote.
const char* for_neighbours(const BudgetAmounts& amounts) {
  return amounts.neighbours == BudgetNeighbours::kReplace ? " for replacing the value of one row"
                                                          : "";
}

// Names the budget, where it is not the general one.
const char* for_table(const BudgetAmounts& amounts) {
  return amounts.table == nullptr ? "" : psprintf(" for table %s", amounts.table);
}

// The argument of dp_grant_budget that names the budget, where it is not the general one.
const char* on_table(const char* table) {
  return table == nullptr
             ? ""
             : psprintf(", on_table => %s", quote_literal_cstr(quote_identifier(table)));
}

// The call that raises the limit of epsilon.
const char* raising_call(const BudgetAmounts& amounts) {
  return amounts.table == nullptr
             ? "dp_grant_budget"
             : psprintf("dp_grant_budget(role, epsilon%s)", on_table(amounts.table));
}

// The end of the hint for an exhausted budget.
const char* when_renewed(const BudgetAmounts& amounts) {
  if (amounts.renewed_at == nullptr) return "";
  return psprintf(" The budget begins anew on %s (UTC).", amounts.renewed_at);
}

// Who asks plain SQL states none.
constexpr char kSmallerEpsilon[] = "epsilon, in plain SQL by SET dpquantile.epsilon";

void refuse_exhausted_epsilon(ChargeRequest* request, const BudgetAmounts& amounts) {
  refuse(
      request, ERRCODE_CONFIGURATION_LIMIT_EXCEEDED,
      psprintf("privacy budget%s exhausted: requested epsilon %s%s, remaining %s",
               for_table(amounts), amounts.epsilon_asked, for_neighbours(amounts),
               amounts.epsilon_left),
      psprintf(
          "%s Ask for a smaller %s, or have the owner of the extension raise the limit with %s.%s",
          not_charged(request), kSmallerEpsilon, raising_call(amounts), when_renewed(amounts)));
}

bool chooses_groups(const ChargeItem& item) {
  return strcmp(NameStr(item.function), "dp_keep_group") == 0;
}

bool tests_first(const ChargeItem& item) {
  return strcmp(item.mechanism, "propose-test-release") == 0;
}

// How to ask for the same without a delta. Plain SQL chooses groups by itself where a key has no
// public list: its user asked for no delta.
const char* without_delta(const ChargeRequest* request) {
  const std::span<const ChargeItem> items = items_of(request);
  const bool of_groups = std::any_of(items.begin(), items.end(), chooses_groups);
  const bool of_test = std::any_of(items.begin(), items.end(), tests_first);
  return psprintf("%s%s",
                  of_groups ? " Plain SQL needs no delta for keys with a public list, which the "
                              "owner of the table states with dp_set_domain or finds with "
                              "dp_learn_keys."
                            : "",
                  of_test ? " Method quantiles of dp_iqr spends no delta." : "");
}

// The call that grants charges more delta. Accountant zcdp needs the rest of the role's delta to
// convert rho.
const char* call_for_delta(const BudgetAmounts& amounts) {
  const bool converts = strcmp(amounts.accountant, "zcdp") == 0;
  return psprintf("dp_grant_budget(role, epsilon, delta%s%s)",
                  converts ? ", charged_delta => ..." : "", on_table(amounts.table));
}

void refuse_exhausted_delta(ChargeRequest* request, const BudgetAmounts& amounts) {
  refuse(
      request, ERRCODE_CONFIGURATION_LIMIT_EXCEEDED,
      psprintf("privacy budget%s exhausted: requested delta %s%s, remaining %s", for_table(amounts),
               amounts.delta_asked, for_neighbours(amounts), amounts.delta_left),
      psprintf("%s Ask for a smaller delta, or have the owner of the extension raise the limit: "
               "%s.%s%s",
               not_charged(request), call_for_delta(amounts), without_delta(request),
               when_renewed(amounts)));
}

void refuse_without_delta(ChargeRequest* request, const BudgetAmounts& amounts) {
  refuse(request, ERRCODE_CONFIGURATION_LIMIT_EXCEEDED,
         psprintf("role \"%s\" has no delta budget%s: requested delta %s%s",
                  NameStr(request->role_name), for_table(amounts), amounts.delta_asked,
                  for_neighbours(amounts)),
         psprintf("%s The owner of the extension can grant one: %s.%s", not_charged(request),
                  call_for_delta(amounts), without_delta(request)));
}

// The limit was granted below what was spent: no query fits, also without a delta.
void refuse_overspent_delta(ChargeRequest* request, const BudgetAmounts& amounts) {
  refuse(request, ERRCODE_CONFIGURATION_LIMIT_EXCEEDED,
         psprintf("privacy budget%s exhausted: more delta is spent than its limit",
                  for_table(amounts)),
         psprintf("%s The owner of the extension can raise the limit: %s.%s", not_charged(request),
                  call_for_delta(amounts), when_renewed(amounts)));
}

void refuse_exhausted_rho(ChargeRequest* request, const BudgetAmounts& amounts) {
  const bool in_epsilon = amounts.epsilon_asked != nullptr;
  refuse(request, ERRCODE_CONFIGURATION_LIMIT_EXCEEDED,
         psprintf("privacy budget%s exhausted: requested rho %s%s%s, remaining rho %s",
                  for_table(amounts), amounts.rho_asked,
                  in_epsilon ? psprintf(" (epsilon %s)", amounts.epsilon_asked) : "",
                  for_neighbours(amounts), amounts.rho_left),
         psprintf(
             "%s Ask for a smaller %s, or have the owner of the extension raise the limit with %s. "
             "%s%s",
             not_charged(request), in_epsilon ? kSmallerEpsilon : "rho", raising_call(amounts),
             in_epsilon ? "dp_budget_fits shows what fits." : "dp_budget shows what is left.",
             when_renewed(amounts)));
}

// Accountant pure adds epsilons, and a query stated in rho alone has no epsilon.
void refuse_rho_alone(ChargeRequest* request, const BudgetAmounts& amounts) {
  refuse(
      request, ERRCODE_FEATURE_NOT_SUPPORTED,
      psprintf("a query stated in rho cannot be charged to role \"%s\", whose accountant%s is %s",
               NameStr(request->role_name), for_table(amounts), amounts.accountant),
      psprintf("%s State epsilon, or have the owner of the extension change the accountant: "
               "dp_grant_budget(role, epsilon, delta, 'zcdp'%s).",
               not_charged(request), on_table(amounts.table)));
}

void refuse_too_small(ChargeRequest* request, const BudgetAmounts& amounts) {
  const char* unit = strcmp(amounts.accountant, "zcdp") == 0 ? "rho" : "epsilon";
  refuse(request, ERRCODE_INVALID_PARAMETER_VALUE,
         psprintf("%s %s%s is below the smallest charge of role \"%s\"%s (%s)", unit,
                  amounts.least_asked, for_neighbours(amounts), NameStr(request->role_name),
                  for_table(amounts), amounts.smallest_charge),
         psprintf("%s Ask for more, or have the owner of the extension lower the smallest charge: "
                  "dp_grant_budget(role, epsilon, smallest_charge => ...%s).",
                  not_charged(request), on_table(amounts.table)));
}

struct Refusal {
  const char* verdict;
  void (*refuse)(ChargeRequest* request, const BudgetAmounts& amounts);
};
constexpr Refusal kRefusals[] = {
    {"epsilon", refuse_exhausted_epsilon},
    {"delta", refuse_exhausted_delta},
    {"overspent delta", refuse_overspent_delta},
    {"no delta", refuse_without_delta},
    {"rho", refuse_exhausted_rho},
    {"rho alone", refuse_rho_alone},
    {"too small", refuse_too_small},
};

}  // namespace

const char* not_charged(const ChargeRequest* request) {
  return request->after_first_group ? "The first group was charged before the rows were read. The "
                                      "other groups were not charged."
                                    : "This call was not charged.";
}

char* locked_hint(const ChargeRequest* request) {
  return psprintf(
      "%s Another session, or this transaction, has locked the budget; end it or try again.",
      not_charged(request));
}

void refuse_without_budget(ChargeRequest* request, const char* table) {
  const char* role = quote_literal_cstr(quote_identifier(NameStr(request->role_name)));
  refuse(request, ERRCODE_INSUFFICIENT_PRIVILEGE,
         psprintf("role \"%s\" has no privacy budget%s", NameStr(request->role_name),
                  table == nullptr ? "" : psprintf(" for table %s", table)),
         psprintf("The owner of the extension can grant one: SELECT dp_grant_budget(%s, %s%s).",
                  role, example_arguments(request), on_table(table)));
}

bool refuse_by_verdict(ChargeRequest* request, const char* verdict, const BudgetAmounts& amounts) {
  for (const Refusal& refusal : kRefusals) {
    if (verdict == nullptr || strcmp(verdict, refusal.verdict) != 0) continue;
    refusal.refuse(request, amounts);
    return true;
  }
  return false;
}

void refuse_with_error(ChargeRequest* request, const ErrorData* error) {
  refuse(request, error->sqlerrcode,
         psprintf("the privacy budget cannot be charged: %s", error->message),
         error->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE ? locked_hint(request)
                                                         : not_charged(request));
  if (error->detail != nullptr) strlcpy(request->detail, error->detail, sizeof request->detail);
}

}  // namespace dpquantile
