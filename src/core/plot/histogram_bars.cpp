#include "core/plot/histogram_bars.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

#include "core/plot/axis_scale.hpp"

namespace dpquantile {

namespace {

// 1, 2 and 5 times a power of ten.
bool is_round(std::size_t number) {
  while (number % 10 == 0) number /= 10;
  return number == 1 || number == 2 || number == 5;
}

// From 0 to `last` in the least steps, round or without a remainder, that make at most `most` (>=
// 2) numbers. The last step may be up to twice as wide.
std::vector<std::size_t> evenly_chosen(std::size_t last, std::size_t most) {
  std::size_t step = last / most + 1;
  while (last / step >= most || !(is_round(step) || last % step == 0)) ++step;
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i + step <= last || i == 0; i += step) chosen.push_back(i);
  chosen.push_back(last);
  return chosen;
}

}  // namespace

std::vector<HistogramBar> histogram_bars(const HistogramPlot& plot, std::size_t most) {
  const std::size_t bins = plot.counts.size();
  const std::size_t bars = std::min(bins, most);
  const auto first_bin = [&](std::size_t bar) {
    return static_cast<std::size_t>(std::uint64_t{bar} * bins / bars);
  };
  const auto error = static_cast<double>(plot.error.value_or(0));
  std::vector<HistogramBar> all;
  all.reserve(bars);
  for (std::size_t bar = 0; bar < bars; ++bar) {
    const std::size_t first = first_bin(bar);
    const auto own = plot.counts.subspan(first, first_bin(bar + 1) - first);
    const auto count = static_cast<double>(*std::ranges::max_element(own));
    const auto place = [&](std::size_t end) {
      return static_cast<double>(end) / static_cast<double>(bars);
    };
    all.push_back({place(bar), place(bar + 1), count, std::max(count - error, 0.0), count + error});
  }
  return all;
}

TickMaker bound_ticks(const HistogramPlot& plot) {
  return [plot](int most) {
    const std::vector<std::size_t> shown =
        evenly_chosen(plot.counts.size(), static_cast<std::size_t>(most));
    std::vector<double> values;
    for (const std::size_t bound : shown) values.push_back(plot.bounds[bound]);
    const std::vector<std::string> labels = scale_labels(plot.scale, values);
    std::vector<PlacedTick> ticks;
    for (std::size_t i = 0; i < shown.size(); ++i) {
      ticks.push_back(
          {static_cast<double>(shown[i]) / static_cast<double>(plot.counts.size()), labels[i]});
    }
    return ticks;
  };
}

double histogram_top(const std::vector<HistogramBar>& bars) {
  double top = 1;
  for (const HistogramBar& bar : bars) top = std::max(top, bar.high);
  return top;
}

}  // namespace dpquantile
