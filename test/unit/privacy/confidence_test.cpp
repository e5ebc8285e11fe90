#include "core/privacy/privacy_parameter.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "support/parameter_error.hpp"

namespace dpquantile {
namespace {

using test::expect_parameter_error;

TEST(CheckConfidence, AcceptsOneHalfTo999Thousandths) {
  for (const double confidence : {0.5, 0.95, 0.999}) EXPECT_NO_THROW(check_confidence(confidence));
}

TEST(CheckConfidence, RefusesOthers) {
  const auto expect_refused = [](double confidence, const std::string& printed) {
    expect_parameter_error(
        "confidence must be from 0.5 to 0.999, got " + printed,
        "It is the probability with which the error or band holds; 0.95 is usual.",
        [&] { check_confidence(confidence); });
  };
  expect_refused(0.49, "0.49");
  expect_refused(0.9991, "0.9991");
  expect_refused(1, "1");
  expect_refused(95, "95");
  expect_refused(-0.95, "-0.95");
  expect_refused(INFINITY, "Infinity");
  expect_refused(NAN, "NaN");
}

}  // namespace
}  // namespace dpquantile
