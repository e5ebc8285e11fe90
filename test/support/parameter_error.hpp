#pragma once

#include <gtest/gtest.h>

#include <string>

#include "core/base/error.hpp"

namespace dpquantile::test {

// Expects the call to throw a ParameterError with exactly this message and hint.
template <class Call>
void expect_parameter_error(const std::string& message, const std::string& hint, Call call) {
  try {
    call();
    ADD_FAILURE() << "no ParameterError: " << message;
  } catch (const ParameterError& error) {
    EXPECT_EQ(error.what(), message);
    EXPECT_EQ(error.hint(), hint);
  }
}

}  // namespace dpquantile::test
