#include "core/cdf/cdf_json.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/cdf_testing.hpp"

namespace dpquantile {
namespace {

using test::cdf_curve;
using test::cdf_plan;
using test::Cumulative;
using test::heap;

std::string json_of(const CdfCurve& curve) {
  return std::string(cdf_to_json(curve, nullptr, heap()));
}

TEST(CdfJson, OmitsTheGranularityOfAContinuousCurve) {
  CdfPlan plan = cdf_plan(3, {2, 2}, {0.25, 0.75});
  plan.method = CdfMethod::kBinary;
  EXPECT_EQ(json_of(cdf_curve({-0.5, 1e300, 0, 3}, plan, {0, 12, 9007199254740992})),
            R"({"lower": -0.5, "upper": 1e+300, "bins": 3, "method": "binary", "epsilon": 1, )"
            R"("branching": [2, 2], "level_epsilon": [0.25, 0.75], "rows": 9007199254740992, )"
            R"("cumulative": [0, 12, 9007199254740992]})");
}

TEST(CdfJson, GivesTheGranularityOfADiscreteCurve) {
  EXPECT_EQ(json_of(cdf_curve({0, 0.2, 0.1, 3}, cdf_plan(3, {3}, {0.1}), {1, 2, 3})),
            R"({"lower": 0, "upper": 0.2, "granularity": 0.1, "bins": 3, "method": "tree", )"
            R"("epsilon": 0.1, "branching": [3], "level_epsilon": [0.1], "rows": 3, )"
            R"("cumulative": [1, 2, 3]})");
}

TEST(CdfJson, GivesRhoInsteadOfEpsilonUnderZcdp) {
  const CdfPlan plan = cdf_plan(3, {2, 2}, {0.25, 0.5}, PrivacyMeasure::kZcdp);
  EXPECT_EQ(json_of(cdf_curve({0, 1, 0, 3}, plan, {1, 2, 3})),
            R"({"lower": 0, "upper": 1, "bins": 3, "method": "tree", "rho": 0.75, )"
            R"("branching": [2, 2], "level_rho": [0.25, 0.5], "rows": 3, )"
            R"("cumulative": [1, 2, 3]})");
}

TEST(CdfJson, HasNoLevelsWithoutATree) {
  const CdfPlan plan = choose_cdf_plan(CdfMethod::kFactorization, 3, zcdp(0.5));
  EXPECT_EQ(json_of(cdf_curve({0, 1, 0, 3}, plan, {1, 2, 3})),
            R"({"lower": 0, "upper": 1, "bins": 3, "method": "factorization", "rho": 0.5, )"
            R"("rows": 3, "cumulative": [1, 2, 3]})");
}

TEST(CdfJson, GivesTheTypeAndTheTextsOfOtherValuesThanNumbers) {
  const CdfPlan plan = cdf_plan(3, {3}, {0.5});
  const CdfTypeText text{"date", "2024-01-01", "2024-01-03", "1 day"};
  EXPECT_EQ(
      std::string(cdf_to_json(cdf_curve({8766, 8768, 1, 3, 5}, plan, {1, 2, 3}), &text, heap())),
      R"({"type": "date", "lower": "2024-01-01", "upper": "2024-01-03", )"
      R"("granularity": "1 day", "bins": 3, "method": "tree", "epsilon": 0.5, )"
      R"("branching": [3], "level_epsilon": [0.5], "rows": 3, "cumulative": [1, 2, 3]})");
  EXPECT_EQ(
      std::string(cdf_to_json(cdf_curve({8766, 8769, 0, 3, 5}, plan, {1, 2, 3}), &text, heap()))
          .find("granularity"),
      std::string::npos);
}

TEST(CdfJson, HasListsOfOneElementForOneBin) {
  CdfPlan plan = cdf_plan(1, {1}, {1e-6});
  plan.method = CdfMethod::kHistogram;
  EXPECT_EQ(json_of(cdf_curve({0, 1, 0, 1}, plan, {0})),
            R"({"lower": 0, "upper": 1, "bins": 1, "method": "histogram", "epsilon": 1e-06, )"
            R"("branching": [1], "level_epsilon": [1e-06], "rows": 0, "cumulative": [0]})");
}

TEST(CdfJson, KeepsEveryDigit) {
  const CdfPlan plan = choose_cdf_plan(CdfMethod::kTree, 100, pure(1.0 / 3));
  const std::string json = json_of(cdf_curve({0.1, 0.7, 0, 100}, plan, Cumulative(100)));
  const auto number_after = [&](const std::string& text) {
    return std::stod(json.substr(json.find(text) + text.size()));
  };
  EXPECT_EQ(number_after("\"epsilon\": "), 1.0 / 3);
  EXPECT_EQ(number_after("\"lower\": "), 0.1);
  EXPECT_EQ(number_after("\"level_epsilon\": ["), plan.level_budget()[0]);
}

}  // namespace
}  // namespace dpquantile
