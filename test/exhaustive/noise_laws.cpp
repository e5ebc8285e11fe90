// The samplers that draws of noise come from: the real ones, under other names. Their exact law is
// compared with the one that they declare, which stands in for them in the other files.
#include <cmath>
#include <cstdlib>

#include "core/privacy/exp_coin.hpp"
#include "core/privacy/nested_laplace.hpp"
#include "exhaustive/checks.hpp"
#include "exhaustive/real_samplers.hpp"
#include "support/context_testing.hpp"

namespace dpquantile::exhaustive {

namespace {

// Every probability of the law is the declared one, up to what is lost.
void compare_with(Report& report, const std::string& name, const Law& law,
                  const std::function<double(std::int64_t)>& declared, double rounding = 1e-12) {
  report.laws(1);
  report.lost(law.lost);
  for (const auto& [answer, chance] : law.chances) {
    const double wanted = declared(answer[0]);
    if (chance <= wanted + rounding && chance + law.lost >= wanted - rounding) continue;
    report.finding(name + text(": %lld has probability %.12g to %.12g, %.12g is declared",
                               static_cast<long long>(answer[0]), chance, chance + law.lost,
                               wanted));
  }
}

double normalized(double weight, const std::function<double(double)>& weight_of) {
  double all = weight_of(0);
  for (double y = 1; weight_of(y) > 1e-18; ++y) all += 2 * weight_of(y);
  return weight / all;
}

void coins(Report& report) {
  for (const auto& [numerator, denominator] :
       {std::pair(0U, 1U), {1U, 3U}, {2U, 2U}, {7U, 5U}, {9U, 2U}}) {
    const Following following{.least_chance = report.by_effort(1e-6, 1e-8)};
    const double chance = std::exp(-static_cast<double>(numerator) / denominator);
    const auto declared = [&](std::int64_t side) { return side == 1 ? chance : 1 - chance; };
    const std::string name = text("a coin of e^-(%u/%u)", numerator, denominator);
    compare_with(report, name,
                 law_of(
                     [&]() -> Answer {
                       const test::TestContext context;
                       return {bernoulli_exp_of_any(context.random, uint128_t{numerator},
                                                    uint128_t{denominator})};
                     },
                     following),
                 declared);
    compare_with(
        report, name + ", wide",
        law_of(
            [&]() -> Answer {
              const test::TestContext context;
              return {bernoulli_exp_of_any(context.random, Wide(numerator), Wide(denominator))};
            },
            {.least_chance = report.by_effort(1e-4, 1e-7)}),
        declared);
  }
}

void laplace(Report& report) {
  for (const Rational scale : {Rational{1, 3}, {1, 1}, {2, 1}, {3, 2}, {6, 4}, {2, 5}}) {
    const double s = static_cast<double>(scale.numerator) / static_cast<double>(scale.denominator);
    const auto weight = [&](double y) { return std::exp(-std::abs(y) / s); };
    const Law law = law_of(
        [&]() -> Answer {
          const test::TestContext context;
          return {real_discrete_laplace(context.random, scale)};
        },
        {.least_chance = report.by_effort(1e-5, 1e-7)});
    compare_with(report, text("Laplace noise of scale %g", s), law, [&](std::int64_t y) {
      return normalized(weight(static_cast<double>(y)), weight);
    });
  }
}

void gaussian(Report& report) {
  for (const Rational variance : {Rational{1, 4}, {1, 1}, {5, 2}}) {
    const double v =
        static_cast<double>(variance.numerator) / static_cast<double>(variance.denominator);
    const auto weight = [&](double y) { return std::exp(-y * y / (2 * v)); };
    const Law law = law_of(
        [&]() -> Answer {
          const test::TestContext context;
          return {real_discrete_gaussian(context.random, variance)};
        },
        {.least_chance = report.by_effort(1e-5, 1e-7)});
    compare_with(report, text("Gaussian noise of variance %g", v), law, [&](std::int64_t y) {
      return normalized(weight(static_cast<double>(y)), weight);
    });
  }
}

// The samplers of weighted items. Their words are divided where the outcome changes.
void weighted_items(Report& report) {
  const std::vector<std::vector<double>> all = {{1},
                                                {0.5, 0.5},
                                                {0.25, 0, 0.75},
                                                {1e-9, 0.5, 0.5 - 1e-9},
                                                {0.1, 0.2, 0.3, 0.4, 1e-300},
                                                {1e-30, 1 - 1e-12, 1e-12}};
  for (const std::vector<double>& weights : all) {
    // Without a word that falls on no item, after which the sampler draws another one.
    const auto declared = [&](std::int64_t k) {
      return k < 0 ? 1 : weights[static_cast<std::size_t>(k)] / (1 + 0x1p-20);
    };
    const Law scan = law_of([&]() -> Answer {
      const test::TestContext context;
      return {real_scan(weights, context.random)};
    });
    Law items = scan;
    items.chances.erase({-1});
    compare_with(report, text("a scan of %zu items", weights.size()), items, declared);
    const Law index = law_of(
        [&]() -> Answer {
          const test::TestContext context;
          return {real_draw_index(weights, context.random)};
        },
        {.least_chance = 1e-6});
    // It takes more words where one does not decide, with a probability below 2^-28.
    compare_with(
        report, text("an index of %zu items", weights.size()), index,
        [&](std::int64_t k) { return weights[static_cast<std::size_t>(k)]; }, 0x1p-28);
  }
}

// Lemma N1: noise of the whole of epsilon, and more noise, are noise of a part.
void nested_noise(Report& report) {
  for (const double epsilon : {6.0, 12.0}) {
    constexpr int kParts = 4;
    const NestedScales scales = nested_laplace_scales(epsilon, kParts);
    const NoiseTable whole = NoiseTable::laplace(scales.whole);
    const NoiseTable part = NoiseTable::laplace(scales.part);
    const double q = std::exp(-1 / part.spread());
    compare_with(report, text("nested noise, epsilon %g", epsilon),
                 law_of(
                     [&]() -> Answer {
                       const test::TestContext context;
                       return {whole.draw(context.random) +
                               real_draw_more_laplace(part, kParts, context.random)};
                     },
                     {.least_chance = report.by_effort(1e-7, 1e-9)}),
                 [&](std::int64_t y) {
                   return (1 - q) / (1 + q) * std::pow(q, static_cast<double>(std::abs(y)));
                 });
  }
}

}  // namespace

std::vector<Check> noise_checks() {
  return {{"samplers, coins", coins},
          {"samplers, Laplace noise", laplace},
          {"samplers, Gaussian noise", gaussian},
          {"samplers, nested noise", nested_noise},
          {"samplers, weighted items", weighted_items}};
}

}  // namespace dpquantile::exhaustive
