#include "pg/release/answering_method.hpp"

#include "pg/charge/session_terms.hpp"

namespace dpquantile {

Method answering_method(const AggregateParameters* parameters) {
  if (!leaves_method_to_budget(parameters)) return parameters->method;
  // One quantile has one method under all terms. Such a query need not wait for the budget here.
  if (quantiles_of(parameters).size() == 1) return method_for_budget(parameters, BudgetTerms{});
  return method_for_budget(parameters, session_terms());
}

}  // namespace dpquantile
