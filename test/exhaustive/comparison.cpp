#include "exhaustive/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>

namespace dpquantile::exhaustive {

namespace {

// Far above the rounding errors of the sums, and below what a fault changes. Costs have margins of
// their own (privacy.md, "Floating point"), which are not needed here.
constexpr double kRounding = 1e-9;

// Exponential mechanisms leave out answers that have a smaller probability in all.
constexpr double kLeftOut = 0x1p-70;

double chance_of(const Law& law, const Answer& answer) {
  const auto found = law.chances.find(answer);
  return found == law.chances.end() ? 0 : found->second;
}

std::string numbers(const Answer& answer) {
  std::string all;
  for (const std::int64_t number : answer) all += text(" %lld", static_cast<long long>(number));
  return all;
}

// More probability than epsilon and delta allow, in one order.
std::string refute_epsilon(const Law& law, const Law& other, double epsilon, double delta) {
  const double factor = std::exp(epsilon);
  double excess = 0;
  const Answer* worst = nullptr;
  double largest = 0;
  for (const auto& [answer, chance] : law.chances) {
    const double allowed = factor * chance_of(other, answer);
    // Without a delta each answer counts, however small its probability.
    if (delta == 0 && chance > (allowed + factor * (other.lost + kLeftOut)) * (1 + kRounding)) {
      return text("answer%s has probability %.9g on one and %.9g on the other, a factor of e^%.9g",
                  numbers(answer).c_str(), chance, allowed / factor,
                  std::log(chance / allowed * factor));
    }
    const double own = chance - allowed;
    if (own <= 0) continue;
    excess += own;
    if (own <= largest) continue;
    largest = own;
    worst = &answer;
  }
  if (excess <= delta * (1 + kRounding) + factor * (other.lost + kLeftOut) + kRounding) return "";
  return text(
      "an event has %.9g more than e^epsilon times its probability on the other, delta is "
      "%.9g; most of it is answer%s, with probability %.9g and %.9g",
      excess - factor * other.lost, delta, numbers(*worst).c_str(), chance_of(law, *worst),
      chance_of(other, *worst));
}

// A Renyi divergence above rho times its order, in one order.
std::string refute_rho(const Law& law, const Law& other, double rho) {
  for (const double order : {1.0625, 1.5, 2.0, 4.0, 16.0, 64.0}) {
    std::vector<double> logarithms;
    for (const auto& [answer, chance] : law.chances) {
      const double there = chance_of(other, answer) + other.lost + kLeftOut;
      if (chance == 0) continue;
      logarithms.push_back(order * std::log(chance) - (order - 1) * std::log(there));
    }
    if (logarithms.empty()) continue;
    const double largest = *std::ranges::max_element(logarithms);
    double sum = 0;
    for (const double logarithm : logarithms) sum += std::exp(logarithm - largest);
    const double divergence = (largest + std::log(sum)) / (order - 1);
    if (divergence > rho * order * (1 + kRounding) + kRounding / (order - 1)) {
      return text("the Renyi divergence of order %g is at least %.9g, rho allows %.9g", order,
                  divergence, rho * order);
    }
  }
  return "";
}

// The measure that is left of a law if answers that are more than `factor` times as likely as on
// the other are lowered to that: what is taken away has the probability delta.
Law lowered(const Law& law, const Law& other, double delta) {
  const auto bound = [&](const Answer& answer, double factor) {
    return factor * (chance_of(other, answer) + other.lost + kLeftOut);
  };
  const auto taken_by = [&](double factor) {
    double taken = 0;
    for (const auto& [answer, chance] : law.chances) {
      taken += std::max(0.0, chance - bound(answer, factor));
    }
    return taken;
  };
  double low = 0;
  double high = 700;
  constexpr int kSteps = 60;
  for (int step = 0; step < kSteps; ++step) {
    const double middle = (low + high) / 2;
    (taken_by(std::exp(middle)) > delta ? low : high) = middle;
  }
  Law left = law;
  for (auto& [answer, chance] : left.chances) {
    chance = std::min(chance, bound(answer, std::exp(low)));
  }
  return left;
}

// delta-approximate zCDP, in one order: laws P and Q must have measures p <= P and q <= Q of mass
// 1 - delta with divergences as rho allows once both are divided by 1 - delta. The sum of
// p^a q^(1 - a) is least, for all orders a at once, if p lowers the largest quotients P/Q to one
// bound and q the smallest to another: its derivatives by p and by -q grow with p/q. Where delta
// pays for all that differs, there is nothing to refute.
std::string refute_rho(const Law& law, const Law& other, double rho, double delta) {
  if (delta == 0) return refute_rho(law, other, rho);
  double distance = 0;
  for (const auto& [answer, chance] : law.chances) {
    distance += std::max(0.0, chance - chance_of(other, answer) - other.lost);
  }
  if (distance <= delta * (1 + kRounding)) return "";
  Law left = lowered(law, other, delta);
  Law there = lowered(other, law, delta);
  for (auto& [answer, chance] : left.chances) chance /= 1 - delta;
  for (auto& [answer, chance] : there.chances) chance /= 1 - delta;
  const std::string found = refute_rho(left, there, rho);
  return found.empty() ? "" : found + text(", beside delta %.9g", delta);
}

}  // namespace

std::string refutation(const Law& one, const Law& other, const PrivacyCost& cost) {
  std::string found;
  for (const auto& [law, there] : {std::pair(&one, &other), std::pair(&other, &one)}) {
    if (found.empty() && cost.epsilon) {
      found = refute_epsilon(*law, *there, *cost.epsilon, cost.delta);
    }
    if (found.empty() && cost.rho) found = refute_rho(*law, *there, *cost.rho, cost.delta);
  }
  return found;
}

std::vector<Counts> all_counts(std::size_t cells, std::uint64_t most, std::uint64_t each) {
  std::vector<Counts> all;
  Counts counts(cells, 0);
  const auto fill = [&](auto&& self, std::size_t cell, std::uint64_t left) -> void {
    if (cell == cells) {
      all.push_back(counts);
      return;
    }
    for (std::uint64_t own = 0; own <= left; ++own) {
      counts[cell] = own * each;
      self(self, cell + 1, left - own);
    }
    counts[cell] = 0;
  };
  fill(fill, 0, most);
  return all;
}

void Report::finding(std::string text) {
  constexpr std::size_t kMostShown = 3;
  if (++number_ <= kMostShown) findings_.push_back(std::move(text));
}

void compare_pairs(Report& report, const std::string& name, const std::vector<Law>& laws,
                   const std::vector<Neighbours>& neighbours,
                   const std::function<std::string(std::size_t)>& describe) {
  report.laws(laws.size());
  report.pairs(neighbours.size());
  for (const Law& law : laws) report.lost(law.lost);
  for (const auto& [one, other, cost] : neighbours) {
    const std::string found = refutation(laws[one], laws[other], cost);
    if (found.empty()) continue;
    report.finding(name + ", " + describe(one) + " and " + describe(other) + ": " + found);
  }
}

void compare_counts(Report& report, const std::string& name, const std::vector<Counts>& data,
                    const ReleaseCosts& costs, const Following& following,
                    const std::function<Answer(const Counts&)>& mechanism) {
  std::map<Counts, std::size_t> index;
  std::vector<Law> laws;
  for (const Counts& counts : data) {
    index[counts] = laws.size();
    laws.push_back(law_of([&] { return mechanism(counts); }, following));
  }
  std::vector<Neighbours> neighbours;
  const auto add = [&](std::size_t one, const Counts& other, const PrivacyCost& cost) {
    const auto found = index.find(other);
    if (found != index.end()) neighbours.push_back({one, found->second, cost});
  };
  for (std::size_t i = 0; i < data.size(); ++i) {
    Counts other = data[i];
    for (std::size_t cell = 0; cell < other.size(); ++cell) {
      ++other[cell];
      add(i, other, costs.own);
      for (std::size_t from = 0; from < cell; ++from) {
        if (other[from] == 0) continue;
        --other[from];
        add(i, other, costs.replacing);
        ++other[from];
      }
      --other[cell];
    }
  }
  compare_pairs(report, name, laws, neighbours,
                [&](std::size_t i) { return exhaustive::describe(data[i]); });
}

std::string describe(const Counts& counts) {
  std::string all = "{";
  for (const std::uint64_t count : counts) {
    all += text(all.size() > 1 ? ", %llu" : "%llu", static_cast<unsigned long long>(count));
  }
  return all + "}";
}

std::string text(const char* format, ...) {
  char buffer[2000];
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(buffer, sizeof buffer, format, arguments);
  va_end(arguments);
  return buffer;
}

}  // namespace dpquantile::exhaustive
