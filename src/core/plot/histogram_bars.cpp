#include "core/plot/histogram_bars.hpp"

#include <algorithm>
#include <cstdint>

namespace dpquantile {

std::vector<HistogramBar> histogram_bars(const HistogramPlot& plot, std::size_t most) {
  const std::size_t bins = plot.counts.size();
  const std::size_t bars = std::min(bins, most);
  const auto first_bin = [&](std::size_t bar) {
    return static_cast<std::size_t>(std::uint64_t{bar} * bins / bars);
  };
  const auto error = static_cast<double>(plot.error);
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

double histogram_top(const std::vector<HistogramBar>& bars) {
  double top = 1;
  for (const HistogramBar& bar : bars) top = std::max(top, bar.high);
  return top;
}

}  // namespace dpquantile
