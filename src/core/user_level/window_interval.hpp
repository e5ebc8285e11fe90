#pragma once

#include <cstdint>
#include <span>

#include "core/privacy/mechanism.hpp"
#include "core/privacy/privacy_parameter.hpp"
#include "core/user_level/clipping_interval.hpp"
#include "core/user_level/user_query.hpp"

// The private interval of the methods 'quantile': both ends are near quantiles of the array means
// (Smith 2011), and one draw gives both. It is drawn from public windows of many widths.
namespace dpquantile {

// Windows have widths of 2^(-j / kWidthsPerOctave) and begin at multiples of a kStartsPerWidth-th
// of their width.
inline constexpr unsigned kWidthsPerOctave = 4;
inline constexpr unsigned kStartsPerWidth = 8;

// What a draw does, decided by public figures.
struct WindowPlan {
  unsigned parts;         // of kBudgetParts; 0: the interval is all of [lower, upper], for nothing
  std::uint64_t clipped;  // T: how many array means should lie on either side of the window
  unsigned finest;        // J: the narrowest windows are 2^-J of the range wide
  double narrow_preference;  // theta: windows of width w are preferred by w^-theta
};

// How many array means the method would like to clip on either side, T before it is bounded. With T
// array means clipped on a side, shrinking the interval by d moves the mean by at most T d / K, and
// makes the noise n (b - a) / K smaller by n d / K, n = expected_noise(). So no data want more than
// T = n ('quantile-adaptive'; Amin et al. 2019). For 'quantile' T = 5 n: what is clipped on the two
// sides mostly cancels.
double clipped_target(UserMethod method, const PrivacyParameter& privacy);

// The plan for so many arrays, of which about `clipped` are to be clipped on either side; at most a
// tenth of them are. `privacy` is the budget of the whole mean. Requires arrays >= 1, clipped >= 0.
//
// Wrong windows, which miss all array means, have a total weight of at most e^need times that of a
// right one, where
//
//   need = J (1 + theta) ln 2 + ln(8 / (1 - 2^(-(1 + theta) / 4))) - lambda (arrays - T),
//
// and lambda = epsilon' / 2 for the epsilon' of the interval. A miss is off by a third of the range
// on average. So the plan wants need <= -3 - ln(arrays / n), n the expected_noise() of the budget:
// misses then add less than 1/60 of the noise of the whole range. J is 10, or less where this takes
// more than kMostIntervalParts for theta = 1; if windows of a quarter of the range are too narrow
// to be found, the interval is public.
//
// Each number of parts allows a largest theta, in steps of a quarter from 1 to 5. Most of the
// windows that are drawn hold the arrays, and there are equally many of each width: their widths
// have about the density w^(-theta - 1), cut at the range, and so a mean of
//
//   theta / (theta - 1) (1 - v^(theta - 1)) / (1 - v^theta)
//
// times the narrowest, v (for theta = 1, ln(1 / v) / (1 - v)). The plan has the parts for which
// this times the expected_noise() of the rest is least, for v = 2^(-J/2), the middle of all widths:
// which v the data have is not public.
WindowPlan plan_windows(std::uint64_t arrays, double clipped, const PrivacyParameter& privacy);

// An interval drawn by the exponential mechanism from all windows of the plan: for
// j = 0, 1, .., 4 J those of width w = 2^(-j/4) kOne, rounded to a multiple of 2^-13 kOne, that
// begin at a multiple of w / 8 or end at kOne. The probability of a window is proportional to
//
//   w^-theta exp(-lambda max(|l - T|, |r - T|, |l + r - 2 T|)),
//   lambda = epsilon (1 - 2^-10) / 2,
//
// where l and r array means lie below and above the window. The time depends on public figures only
// (and, in random draws, on the windows' weights). Requires parts >= 1 and arrays.size() < 2^32.
// Privacy: epsilon-bounded-range for replacing one array's sum (docs/privacy.md, Lemma 17).
// Throws RandomnessUnavailable, Cancelled, std::bad_alloc.
ClippingInterval draw_window_interval(std::span<const FilledArray> arrays, const WindowPlan& plan,
                                      double epsilon, const MechanismContext& context);

}  // namespace dpquantile
