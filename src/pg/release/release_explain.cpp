#include "pg/release/release_explain.hpp"

#include "pg/release/call_cost.hpp"
#include "pg/server/decimal.hpp"

extern "C" {
#include DPQ_EXPLAIN_FORMAT_HEADER
}

namespace dpquantile {

namespace {

const char* amounts(const PrivacyCost* cost) {
  if (cost == nullptr) return "unknown before execution";
  if (!cost->epsilon) return psprintf("rho %s", decimal_text(*cost->rho));
  const char* epsilon = psprintf("epsilon %s", decimal_text(*cost->epsilon));
  return cost->delta > 0 ? psprintf("%s and delta %s", epsilon, decimal_text(cost->delta))
                         : epsilon;
}

const char* times(const ReleasePlan& plan, const ReleaseCall& call) {
  if (is_charged_by_group(call) && plan.has_keys) return " for each group";
  if (plan.grouping_sets == 1) return "";
  return psprintf(" for each of %d grouping sets", plan.grouping_sets);
}

}  // namespace

void explain_prices(ReleaseNode* node, ExplainState* explain) {
  List* prices = NIL;
  for (int i = 0; i < node->call_count; ++i) {
    ReleaseCall* call = &node->calls[i];
    prices = lappend(prices, psprintf("%s: %s%s", call->name, amounts(known_cost(node, call)),
                                      times(node->plan, *call)));
  }
  ExplainPropertyList("Price", prices, explain);
}

}  // namespace dpquantile
