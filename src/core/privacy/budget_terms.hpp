#pragma once

namespace dpquantile {

// The terms by which a budget counts what a release costs. They are public. The default is a budget
// in epsilon under the neighbour relation of each mechanism.
struct BudgetTerms {
  bool in_rho = false;    // accountant zcdp
  bool replaces = false;  // for replacing the value of one row

  bool operator==(const BudgetTerms&) const = default;
};

}  // namespace dpquantile
