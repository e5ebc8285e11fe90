#pragma once

#include <cstdint>

#include "core/privacy/mechanism.hpp"
#include "core/privacy/privacy_parameter.hpp"

// The privacy of several rows at once, by group privacy: of all rows of a person who has at most
// `rows` of them. Statement and proof: docs/privacy.md, "Rows of a person".
namespace dpquantile {

// The guarantee for one row with which all rows of a person have the guarantee `stated`: epsilon
// divided by the number of rows, rho by its square, rounded down. Requires rows >= 1. Throws
// ParameterError as check_privacy_parameter() does for the result.
PrivacyParameter guarantee_of_row(const PrivacyParameter& stated, std::uint32_t rows);

// What a mechanism with these costs for one row costs for adding or removing all rows of a person,
// and for replacing the value of one row; at least `stated`. For replacing, it is more than needed:
// as if all rows were replaced. Throws ParameterError if the mechanism has a delta, which grows
// with e^epsilon.
ReleaseCosts costs_of_person(const ReleaseCosts& of_row, const PrivacyParameter& stated,
                             std::uint32_t rows);

}  // namespace dpquantile
