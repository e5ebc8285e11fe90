#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/privacy/mechanism.hpp"
#include "exhaustive/law.hpp"

namespace dpquantile::exhaustive {

// What refutes the cost for two neighbours, in either order, or nothing. No event of either law has
// more probability than cost.epsilon and cost.delta allow, and no Renyi divergence of some orders
// is above what cost.rho allows, of the laws that the best use of cost.delta leaves. Lost
// probability is counted in favour of the claim, so that a finding is a proof, up to the rounding
// of doubles.
std::string refutation(const Law& one, const Law& other, const PrivacyCost& cost);

// Numbers of records in a few cells.
using Counts = std::vector<std::uint64_t>;

// All numbers of at most `most` records in `cells` cells, `each` times as many in each cell.
std::vector<Counts> all_counts(std::size_t cells, std::uint64_t most, std::uint64_t each = 1);

// Where a check puts what it finds.
class Report {
 public:
  explicit Report(int effort) : effort_(effort) {}

  // 1 in make test. Universes grow with it.
  int effort() const { return effort_; }
  // For universes that depend on it.
  template <class Value>
  Value by_effort(Value small, Value large) const {
    return effort_ > 1 ? large : small;
  }

  void finding(std::string text);
  void laws(std::size_t number) { laws_ += number; }
  void pairs(std::size_t number) { pairs_ += number; }
  void lost(double lost) { most_lost_ = std::max(most_lost_, lost); }

  std::size_t laws() const { return laws_; }
  std::size_t pairs() const { return pairs_; }
  double most_lost() const { return most_lost_; }
  // The first ones, and how many there are.
  const std::vector<std::string>& findings() const { return findings_; }
  std::size_t number_of_findings() const { return number_; }

 private:
  int effort_;
  std::size_t laws_ = 0;
  std::size_t pairs_ = 0;
  double most_lost_ = 0;
  std::vector<std::string> findings_;
  std::size_t number_ = 0;
};

// Computes the law for each of the data sets, and compares all pairs of neighbours: of counts that
// differ by one record more, and of counts that differ by a record in another cell.
void compare_counts(Report& report, const std::string& name, const std::vector<Counts>& data,
                    const ReleaseCosts& costs, const Following& following,
                    const std::function<Answer(const Counts&)>& mechanism);

// The same for data of any kind: neighbours[i] are pairs of indices of data, and what they cost.
struct Neighbours {
  std::size_t one;
  std::size_t other;
  PrivacyCost cost;
};
void compare_pairs(Report& report, const std::string& name, const std::vector<Law>& laws,
                   const std::vector<Neighbours>& neighbours,
                   const std::function<std::string(std::size_t)>& describe);

std::string describe(const Counts& counts);

// printf into a string.
[[gnu::format(printf, 1, 2)]] std::string text(const char* format, ...);

}  // namespace dpquantile::exhaustive
