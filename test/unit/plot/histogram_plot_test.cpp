#include "core/plot/histogram_plot.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/plot/histogram_bars.hpp"

namespace dpquantile {
namespace {

using Counts = std::vector<std::int64_t>;
using Bounds = std::vector<double>;
using Lines = std::vector<std::string>;

constexpr double kInfinite = std::numeric_limits<double>::infinity();

struct Histogram {
  Counts counts;
  Bounds bounds;
  std::optional<std::uint64_t> error;
  AxisScale scale = AxisScale::kNumber;

  HistogramPlot plot() const { return {counts, bounds, scale, error}; }
};

// Bins of width 10 from 0.
Histogram tens(const Counts& counts, std::optional<std::uint64_t> error = 2) {
  Histogram histogram{counts, {}, error};
  for (std::size_t i = 0; i <= counts.size(); ++i) {
    histogram.bounds.push_back(10 * static_cast<double>(i));
  }
  return histogram;
}

Lines text_of(const Histogram& histogram, int width, int height, bool utf8 = false) {
  return draw_histogram_text(histogram.plot(), width, height, utf8);
}

std::string svg_of(const Histogram& histogram, const std::string& title = "", int width = 720,
                   int height = 440) {
  return draw_histogram_svg(histogram.plot(), width, height, title);
}

// --- Bars ----------------------------------------------------------------------------------------

TEST(HistogramBars, DivideTheAxisEvenlyAndReachAsFarAsTheError) {
  const std::vector<HistogramBar> bars = histogram_bars(tens({3, 0, 7, 1}).plot(), 100);
  ASSERT_EQ(bars.size(), 4);
  EXPECT_EQ(bars[0].begin, 0);
  EXPECT_EQ(bars[2].begin, 0.5);
  EXPECT_EQ(bars[2].end, 0.75);
  EXPECT_EQ(bars[3].end, 1);
  EXPECT_EQ(bars[2].count, 7);
  EXPECT_EQ(bars[2].low, 5);
  EXPECT_EQ(bars[2].high, 9);
  EXPECT_EQ(bars[3].low, 0);
  EXPECT_EQ(histogram_top(bars), 9);
  EXPECT_EQ(histogram_top(histogram_bars(tens({0}, 0).plot(), 1)), 1);
}

TEST(HistogramBars, ShowTheLargestOfSeveralBins) {
  const std::vector<HistogramBar> bars = histogram_bars(tens({3, 0, 7, 1, 2}).plot(), 2);
  ASSERT_EQ(bars.size(), 2);
  EXPECT_EQ(bars[0].count, 3);
  EXPECT_EQ(bars[1].count, 7);
  Counts many(1'000'000);
  many[777'777] = 5;
  const std::vector<HistogramBar> few = histogram_bars(tens(many).plot(), 1000);
  EXPECT_EQ(few.size(), 1000);
  EXPECT_EQ(few[777].count, 5);
  EXPECT_EQ(few[778].count, 0);
}

// --- Text ----------------------------------------------------------------------------------------

TEST(HistogramText, DrawsBarsAndTheirErrors) {
  const Lines lines = text_of(tens({8, 0, 4, 2}), 50, 16, false);
  const Lines expected = {
      "bins 4  # rows  . error of a bin (+-2)",
      "10 +...........",
      "   |...........",
      "   |###########",
      "   |###########",
      "   |###########           ............",
      "   |###########           ............",
      " 5 +###########           ............",
      "   |###########           ############...........",
      "   |###########           ############...........",
      "   |###########...........############",
      "   |###########...........#######################",
      "   |###########...........#######################",
      " 0 ++----------+----------+----------+----------+",
      "    0         10         20         30         40",
  };
  EXPECT_EQ(lines, expected);
}

TEST(HistogramText, LabelsBinsOfAnyWidthWithTheirBounds) {
  const Histogram uneven{{8, 3, 4}, {-kInfinite, 18, 65, 120}, std::nullopt};
  const Lines expected = {
      "bins 3  # rows",
      "  |###############",
      "  |###############",
      "  |###############",
      "5 +###############",
      "  |###############              ###############",
      "  |############################################",
      "  |############################################",
      "  |############################################",
      "0 ++-------------+--------------+-------------+",
      "-Infinity       18             65            120",
  };
  EXPECT_EQ(text_of(uneven, 48, 11), expected);
}

TEST(HistogramText, LeavesOutBoundsThatDoNotFitButNotTheEnds) {
  Histogram many{Counts(37, 3), {-kInfinite}, 1};
  for (int i = 0; i < 36; ++i) many.bounds.push_back(1000 + i);
  many.bounds.push_back(kInfinite);
  const std::string labels = text_of(many, 78, 22).back();
  EXPECT_EQ(labels,
            "-Infinity           1009               1019                          Infinity");
}

TEST(HistogramText, PrefersStepsThatDivideTheBins) {
  Histogram hours{Counts(24, 3), {}, 1, AxisScale::kTimeOfDay};
  for (int i = 0; i <= 24; ++i) hours.bounds.push_back(i * 3600e6);
  EXPECT_EQ(text_of(hours, 78, 22).back(),
            " 00:00    03:00    06:00    09:00    12:00    15:00    18:00    21:00    24:00");
}

TEST(HistogramText, LabelsDatesAndTimes) {
  const Histogram days{{1, 2, 3}, {8766, 8767, 8797, 9131}, 1, AxisScale::kDate};
  EXPECT_EQ(text_of(days, 78, 22).back(),
            "2024-01-01           2024-01-02             2024-02-01             2024-12-31");
  const Histogram hours{{1, 2}, {28'800e6, 43'200e6, 86'400e6}, 1, AxisScale::kTimeOfDay};
  EXPECT_EQ(text_of(hours, 78, 22).back(),
            " 08:00                               12:00                               24:00");
}

TEST(HistogramText, FillsEighthsOfALineAndMarksTheUncertainPart) {
  const Lines lines = text_of(tens({100, 55, 0, 0}, 0), 60, 14, true);
  std::string all;
  for (const std::string& line : lines) all += line + "\n";
  EXPECT_NE(all.find("█"), std::string::npos);
  EXPECT_NE(all.find("▄"), std::string::npos);
  EXPECT_EQ(all.find("▓"), std::string::npos);
  const Lines uncertain = text_of(tens({100, 55, 0, 0}, 40), 60, 14, true);
  EXPECT_TRUE(std::ranges::any_of(
      uncertain, [](const std::string& line) { return line.find("▓") != std::string::npos; }));
}

std::size_t columns_of(const std::string& line) {
  return static_cast<std::size_t>(
      std::ranges::count_if(line, [](char byte) { return (byte & 0xC0) != 0x80; }));
}

TEST(HistogramText, KeepsToItsSizeForAnyCounts) {
  const std::vector<Counts> all = {{0}, {1}, {1'000'000'000'000, 1}, Counts(5000, 3), {0, 0, 0}};
  for (const Counts& counts : all) {
    for (const std::uint64_t error : {0U, 3U, 3'000'000U}) {
      for (const int width : {40, 41, 78, 400}) {
        for (const int height : {10, 11, 22, 200}) {
          for (const bool utf8 : {false, true}) {
            const Lines lines = text_of(tens(counts, error), width, height, utf8);
            EXPECT_LE(lines.size(), static_cast<std::size_t>(height));
            EXPECT_GE(lines.size(), static_cast<std::size_t>(height) / 2);
            for (const std::string& line : lines) {
              EXPECT_LE(columns_of(line), static_cast<std::size_t>(width)) << line;
            }
          }
        }
      }
    }
  }
}

TEST(HistogramText, RefusesSizesThatDoNotSuitATerminal) {
  EXPECT_THROW(text_of(tens({1}), 39, 22, true), ParameterError);
  EXPECT_THROW(text_of(tens({1}), 78, 201, true), ParameterError);
}

// --- SVG -----------------------------------------------------------------------------------------

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// The data of the path with this class in the drawing, after the one in the legend.
std::string drawn_path(const std::string& svg, const std::string& css) {
  const std::string element = "class=\"" + css + "\"";
  const auto legend = svg.find(element);
  const auto drawing = svg.find(element, legend + 1);
  if (drawing == std::string::npos) return "";
  const auto begin = svg.rfind('<', drawing);
  return svg.substr(begin, svg.find('>', begin) - begin);
}

TEST(HistogramSvg, HasARectangleForEachBarAndEachError) {
  const std::string svg = svg_of(tens({8, 0, 4, 2}), "", 720, 440);
  EXPECT_EQ(occurrences(drawn_path(svg, "bar"), "Z"), 3);
  EXPECT_EQ(occurrences(drawn_path(svg, "band"), "Z"), 4);
  const std::string exact = svg_of(tens({8, 0, 4, 2}, 0), "", 720, 440);
  EXPECT_EQ(drawn_path(exact, "band"), "");
  EXPECT_EQ(drawn_path(svg_of(tens({0}, 0), "", 720, 440), "bar"), "");
}

TEST(HistogramSvg, SaysWhatItShowsAndEscapesItsTitle) {
  const std::string svg = svg_of(tens({8, 0, 4, 2}), "a < b & c", 720, 440);
  EXPECT_NE(svg.find("a &lt; b &amp; c"), std::string::npos);
  EXPECT_EQ(svg.find("a < b"), std::string::npos);
  EXPECT_NE(svg.find("Histogram of rows in 4 bins from 0 to 40, released with differential "
                     "privacy. The error of each count is 2."),
            std::string::npos);
  EXPECT_NE(svg.find("error of a bin (±2)"), std::string::npos);
  EXPECT_NE(svg.find("4 bins"), std::string::npos);
  EXPECT_NE(svg.find("rows in a bin"), std::string::npos);
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
}

TEST(HistogramSvg, ShowsInfiniteEnds) {
  const Histogram open{{8, 0, 4}, {-kInfinite, 1500, 2e6, kInfinite}, 2};
  const std::string svg = svg_of(open);
  for (const char* label : {">−∞<", ">1,500<", ">2,000,000<", ">∞<"}) {
    EXPECT_NE(svg.find(label), std::string::npos) << label;
  }
  EXPECT_NE(svg.find("in 3 bins from -Infinity to Infinity"), std::string::npos);
  const Histogram dates{{8, 4}, {-kInfinite, 60, kInfinite}, 2, AxisScale::kDate};
  const std::string dated = svg_of(dates);
  for (const char* label : {">−∞<", ">2000-03-01<", ">∞<", ">date<"}) {
    EXPECT_NE(dated.find(label), std::string::npos) << label;
  }
}

TEST(HistogramSvg, StaysSmallForManyBins) {
  const Counts many(1'000'000, 4);
  EXPECT_LT(svg_of(tens(many), "", 720, 440).size(), 200'000);
}

TEST(HistogramSvg, RefusesSizesThatDoNotSuitAPage) {
  EXPECT_THROW(svg_of(tens({1}), "", 199, 440), ParameterError);
  EXPECT_THROW(svg_of(tens({1}), "", 720, 4001), ParameterError);
}

}  // namespace
}  // namespace dpquantile
