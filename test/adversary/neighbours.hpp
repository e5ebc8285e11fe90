#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "adversary/search.hpp"
#include "support/claim.hpp"
#include "support/confidence.hpp"

// Draws on neighbours, for mechanisms whose law is not known.
namespace dpquantile::adversary {

// What can be said of an answer: each of these is an event.
using Events = std::vector<std::string>;
// One answer of a mechanism on one of the data sets.
using DrawEvents = std::function<Events()>;

// How often each event happened.
class EventCounts {
 public:
  EventCounts(const DrawEvents& draw, int draws) : draws_(draws) {
    for (int i = 0; i < draws; ++i) {
      for (const std::string& event : draw()) ++counts_[event];
    }
  }

  double share(const std::string& event) const {
    return static_cast<double>(count(event)) / draws_;
  }
  std::uint64_t count(const std::string& event) const {
    const auto at = counts_.find(event);
    return at == counts_.end() ? 0 : at->second;
  }
  const std::map<std::string, std::uint64_t>& counts() const { return counts_; }

 private:
  int draws_;
  std::map<std::string, std::uint64_t> counts_;
};

// Draws on two neighbours in both orders. The event that looks worst on some draws is tested on new
// ones, by exact bounds. Returns what refutes the claim, or nothing.
inline std::string refute_claim(Search& search, const DrawEvents& one, const DrawEvents& other,
                                const test::Claim& claim, int draws, int draws_again) {
  const double factor = std::exp(claim.epsilon);
  const EventCounts counts_of_one(one, draws);
  const EventCounts counts_of_other(other, draws);
  double worst = 2.5;
  std::string event;
  bool is_of_one = true;
  const auto look = [&](const EventCounts& more, const EventCounts& less, bool more_is_one) {
    for (const auto& [name, count] : more.counts()) {
      const double here = static_cast<double>(count) - claim.delta * draws;
      const double there = factor * static_cast<double>(less.count(name));
      const double excess = (here - there) / std::sqrt(here + factor * (there + 1) + 1);
      if (excess <= worst) continue;
      worst = excess;
      event = name;
      is_of_one = more_is_one;
    }
  };
  look(counts_of_one, counts_of_other, true);
  look(counts_of_other, counts_of_one, false);
  // A large factor hides an event that is rare on one of the two: it is tested all the same.
  if (event.empty()) {
    for (const auto& [name, count] : counts_of_one.counts()) {
      if (4 * count > 3 * static_cast<std::uint64_t>(draws) && counts_of_other.count(name) == 0) {
        event = name;
      }
    }
  }
  if (event.empty()) return "";
  const EventCounts more(is_of_one ? one : other, draws_again);
  const EventCounts less(is_of_one ? other : one, draws_again);
  const auto trials = static_cast<std::uint64_t>(draws_again);
  const double false_alarm = search.next_false_alarm() / 2;
  const double least = test::lower_confidence_bound(more.count(event), trials, false_alarm);
  const double most = test::upper_confidence_bound(less.count(event), trials, false_alarm);
  if (least <= factor * most + claim.delta) return "";
  return text(
      "event %s happens %llu times on one and %llu times on the other, of %d, where epsilon "
      "%.6g and delta %.3g are claimed",
      event.c_str(), static_cast<unsigned long long>(more.count(event)),
      static_cast<unsigned long long>(less.count(event)), draws_again, claim.epsilon, claim.delta);
}

// Data sets 0 .. last, of which each is the neighbour of the next. Finds two neighbours between
// which the event that changes most from the first to the last changes most: a mechanism whose law
// has a step there is refuted, however few data sets have it.
inline std::uint64_t find_step(std::uint64_t last,
                               const std::function<DrawEvents(std::uint64_t)>& draw_of, int draws) {
  const EventCounts at_first(draw_of(0), draws);
  const EventCounts at_last(draw_of(last), draws);
  std::string event;
  double change = 0;
  const auto look = [&](const std::string& name) {
    const double here = std::abs(at_first.share(name) - at_last.share(name));
    if (here > change) {
      change = here;
      event = name;
    }
  };
  for (const auto& [name, count] : at_first.counts()) look(name);
  for (const auto& [name, count] : at_last.counts()) look(name);
  if (change == 0) return 0;
  const double middle_share = (at_first.share(event) + at_last.share(event)) / 2;
  const bool falls = at_first.share(event) > at_last.share(event);
  std::uint64_t low = 0;
  std::uint64_t high = last;
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    const bool is_above = EventCounts(draw_of(middle), draws).share(event) > middle_share;
    (is_above == falls ? low : high) = middle;
  }
  return low;
}

}  // namespace dpquantile::adversary
