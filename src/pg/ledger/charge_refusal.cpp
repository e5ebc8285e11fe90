#include "pg/ledger/charge_refusal.hpp"

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

// The arguments that dp_grant_budget needs after the role for a charge of this kind, as an example.
const char* example_terms(const ChargeRequest* request) {
  if (!states_epsilon(request)) return "1, 1e-6, 'zcdp'";
  return has_rho(request) ? "1" : "1, 1e-5";
}

// What was not charged.
const char* not_charged(const ChargeRequest* request) {
  return request->for_one_group
             ? "This group was not charged, those before it were: the query is charged for each "
               "group."
             : "This call was not charged.";
}

void refuse_exhausted_epsilon(ChargeRequest* request, const BudgetAmounts& amounts) {
  refuse(request, ERRCODE_CONFIGURATION_LIMIT_EXCEEDED,
         psprintf("privacy budget exhausted: requested epsilon %s, remaining %s",
                  amounts.epsilon_asked, amounts.epsilon_left),
         psprintf("%s Ask for a smaller epsilon, or have the data owner raise the limit with "
                  "dp_grant_budget.",
                  not_charged(request)));
}

void refuse_exhausted_delta(ChargeRequest* request, const BudgetAmounts& amounts) {
  refuse(request, ERRCODE_CONFIGURATION_LIMIT_EXCEEDED,
         psprintf("privacy budget exhausted: requested delta %s, remaining %s", amounts.delta_asked,
                  amounts.delta_left),
         psprintf("%s Ask for a smaller delta, or have the data owner raise the limit: "
                  "dp_grant_budget(role, epsilon, delta).",
                  not_charged(request)));
}

void refuse_without_delta(ChargeRequest* request, const BudgetAmounts& amounts) {
  refuse(request, ERRCODE_CONFIGURATION_LIMIT_EXCEEDED,
         psprintf("role \"%s\" has no budget of delta, requested %s", NameStr(request->role_name),
                  amounts.delta_asked),
         psprintf("%s The data owner can grant one: dp_grant_budget(role, epsilon, delta).",
                  not_charged(request)));
}

void refuse_exhausted_rho(ChargeRequest* request, const BudgetAmounts& amounts) {
  const bool in_epsilon = states_epsilon(request);
  refuse(
      request, ERRCODE_CONFIGURATION_LIMIT_EXCEEDED,
      psprintf("privacy budget exhausted: requested rho %s%s, remaining rho %s", amounts.rho_asked,
               in_epsilon ? psprintf(" (epsilon %s)", amounts.epsilon_asked) : "",
               amounts.rho_left),
      psprintf("%s Ask for a smaller %s, or have the data owner raise the limit with "
               "dp_grant_budget. %s",
               not_charged(request), in_epsilon ? "epsilon" : "rho",
               in_epsilon ? "dp_budget_fits tells what fits." : "dp_budget tells what is left."));
}

// A query stated in rho alone has no epsilon that could be added to the others.
void refuse_rho_alone(ChargeRequest* request, const BudgetAmounts& amounts) {
  refuse(request, ERRCODE_FEATURE_NOT_SUPPORTED,
         psprintf("a query stated in rho cannot be charged to role \"%s\", whose accountant is %s",
                  NameStr(request->role_name), amounts.accountant),
         psprintf("%s State epsilon, or have the data owner change the accountant: "
                  "dp_grant_budget(role, epsilon, delta, 'zcdp').",
                  not_charged(request)));
}

// A charge with a delta has no rho, and the role's delta is taken by the conversion of its rho.
void refuse_without_rho(ChargeRequest* request, const BudgetAmounts& amounts) {
  refuse(
      request, ERRCODE_FEATURE_NOT_SUPPORTED,
      psprintf("%s with method %s cannot be charged to role \"%s\", whose accountant is %s",
               NameStr(request->function), request->mechanism, NameStr(request->role_name),
               amounts.accountant),
      psprintf("%s It spends delta, which the accountant needs for itself. Give bounds and method "
               "quantiles, or ask as a role with accountant pure.",
               not_charged(request)));
}

struct Refusal {
  const char* verdict;
  void (*refuse)(ChargeRequest* request, const BudgetAmounts& amounts);
};
constexpr Refusal kRefusals[] = {
    {"epsilon", refuse_exhausted_epsilon}, {"delta", refuse_exhausted_delta},
    {"no delta", refuse_without_delta},    {"rho", refuse_exhausted_rho},
    {"rho alone", refuse_rho_alone},       {"no rho", refuse_without_rho},
};

}  // namespace

void refuse_without_budget(ChargeRequest* request) {
  refuse(request, ERRCODE_INSUFFICIENT_PRIVILEGE,
         psprintf("role \"%s\" has no privacy budget", NameStr(request->role_name)),
         psprintf("The data owner can grant one: SELECT dp_grant_budget(%s, %s).",
                  quote_literal_cstr(quote_identifier(NameStr(request->role_name))),
                  example_terms(request)));
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
  refuse(
      request, error->sqlerrcode,
      psprintf("the privacy budget cannot be charged: %s", error->message),
      error->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE ? kLockedHint : "This call was not charged.");
  if (error->detail != nullptr) strlcpy(request->detail, error->detail, sizeof request->detail);
}

}  // namespace dpquantile
