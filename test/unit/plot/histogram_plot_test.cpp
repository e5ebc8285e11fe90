#include "core/plot/histogram_plot.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/plot/histogram_bars.hpp"

namespace dpquantile {
namespace {

using Counts = std::vector<std::int64_t>;
using Lines = std::vector<std::string>;

HistogramPlot plot_of(const Counts& counts, std::uint64_t error = 2) {
  return {counts, 0, 40, error, pure(0.5), 0.95};
}

// --- Bars ----------------------------------------------------------------------------------------

TEST(HistogramBars, DivideTheAxisEvenlyAndReachAsFarAsTheError) {
  const std::vector<HistogramBar> bars = histogram_bars(plot_of({3, 0, 7, 1}), 100);
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
  EXPECT_EQ(histogram_top(histogram_bars(plot_of({0}, 0), 1)), 1);
}

TEST(HistogramBars, ShowTheLargestOfSeveralBins) {
  const std::vector<HistogramBar> bars = histogram_bars(plot_of({3, 0, 7, 1, 2}), 2);
  ASSERT_EQ(bars.size(), 2);
  EXPECT_EQ(bars[0].count, 3);
  EXPECT_EQ(bars[1].count, 7);
  Counts many(1'000'000);
  many[777'777] = 5;
  const std::vector<HistogramBar> few = histogram_bars(plot_of(many), 1000);
  EXPECT_EQ(few.size(), 1000);
  EXPECT_EQ(few[777].count, 5);
  EXPECT_EQ(few[778].count, 0);
}

// --- Text ----------------------------------------------------------------------------------------

TEST(HistogramText, DrawsBarsAndTheirErrors) {
  const Lines lines = draw_histogram_text(plot_of({8, 0, 4, 2}), 50, 16, false);
  const Lines expected = {
      "bins 4  epsilon 0.5  # rows  . 95% error of a bin",
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

TEST(HistogramText, FillsEighthsOfALineAndMarksTheUncertainPart) {
  const Lines lines = draw_histogram_text(plot_of({100, 55, 0, 0}, 0), 60, 14, true);
  std::string all;
  for (const std::string& line : lines) all += line + "\n";
  EXPECT_NE(all.find("█"), std::string::npos);
  EXPECT_NE(all.find("▄"), std::string::npos);
  EXPECT_EQ(all.find("▓"), std::string::npos);
  const Lines uncertain = draw_histogram_text(plot_of({100, 55, 0, 0}, 40), 60, 14, true);
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
            const Lines lines = draw_histogram_text(plot_of(counts, error), width, height, utf8);
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
  EXPECT_THROW(draw_histogram_text(plot_of({1}), 39, 22, true), ParameterError);
  EXPECT_THROW(draw_histogram_text(plot_of({1}), 78, 201, true), ParameterError);
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
  const std::string svg = draw_histogram_svg(plot_of({8, 0, 4, 2}), 720, 440, "");
  EXPECT_EQ(occurrences(drawn_path(svg, "bar"), "Z"), 3);
  EXPECT_EQ(occurrences(drawn_path(svg, "band"), "Z"), 4);
  const std::string exact = draw_histogram_svg(plot_of({8, 0, 4, 2}, 0), 720, 440, "");
  EXPECT_EQ(drawn_path(exact, "band"), "");
  EXPECT_EQ(drawn_path(draw_histogram_svg(plot_of({0}, 0), 720, 440, ""), "bar"), "");
}

TEST(HistogramSvg, SaysWhatItShowsAndEscapesItsTitle) {
  const std::string svg = draw_histogram_svg(plot_of({8, 0, 4, 2}), 720, 440, "a < b & c");
  EXPECT_NE(svg.find("a &lt; b &amp; c"), std::string::npos);
  EXPECT_EQ(svg.find("a < b"), std::string::npos);
  EXPECT_NE(svg.find("Histogram of rows in 4 bins from 0 to 40. Each count is within 2 of the "
                     "exact one with a confidence of 95%. Released with differential privacy at "
                     "epsilon 0.5."),
            std::string::npos);
  EXPECT_NE(svg.find("4 bins"), std::string::npos);
  EXPECT_NE(svg.find("rows in a bin"), std::string::npos);
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
}

TEST(HistogramSvg, StaysSmallForManyBins) {
  const Counts many(1'000'000, 4);
  EXPECT_LT(draw_histogram_svg(plot_of(many), 720, 440, "").size(), 200'000);
}

TEST(HistogramSvg, RefusesSizesThatDoNotSuitAPage) {
  EXPECT_THROW(draw_histogram_svg(plot_of({1}), 199, 440, ""), ParameterError);
  EXPECT_THROW(draw_histogram_svg(plot_of({1}), 720, 4001, ""), ParameterError);
}

}  // namespace
}  // namespace dpquantile
