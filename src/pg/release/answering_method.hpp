#pragma once

#include "pg/parameters/aggregate_parameters.hpp"

namespace dpquantile {

// The method that answers a call in this session: that of the parameters or, if the call names
// none, the one that goes with the terms of the budget that pays. States hold the method of
// the parameters, so that parallel workers need not know the budget.
Method answering_method(const AggregateParameters* parameters);

}  // namespace dpquantile
