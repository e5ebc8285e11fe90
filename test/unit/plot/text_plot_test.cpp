#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/plot/cdf_plot.hpp"
#include "support/parameter_error.hpp"

namespace dpquantile {
namespace {

using test::expect_parameter_error;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

using Points = std::vector<CdfPoint>;
using Lines = std::vector<std::string>;

CdfPlot steps(const Points& points, double lower, double upper) {
  return {points, true, lower, upper, 2310, pure(0.5), 0.95};
}

CdfPlot line(const Points& points, double lower, double upper) {
  return {points, false, lower, upper, 2310, pure(0.5), 0.95};
}

// A straight line from (lower, 0) to (upper, 1) in this many bins, with a band this far from it.
Points straight(double lower, double upper, int bins, double half_band) {
  Points points;
  for (int bin = 1; bin <= bins; ++bin) {
    const double part = static_cast<double>(bin) / bins;
    points.push_back({lower + part * (upper - lower), part, std::max(part - half_band, 0.0),
                      std::min(part + half_band, 1.0)});
  }
  return points;
}

const Points kFiveStars = {{1, 0.1, 0.06, 0.14},
                           {2, 0.25, 0.2, 0.3},
                           {3, 0.6, 0.4, 0.65},
                           {4, 0.85, 0.81, 0.89},
                           {5, 1, 1, 1}};
const Points kNoRows = {{0, kNaN, 0, 1}, {1, kNaN, 0, 1}};

// The characters of a line, each in a string of its own.
std::vector<std::string> cells_of(const std::string& line_of_text) {
  std::vector<std::string> cells;
  for (const char byte : line_of_text) {
    const bool continues = (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
    if (!continues) cells.emplace_back();
    cells.back() += byte;
  }
  return cells;
}

// The lines of the plot without the axis, from the top.
struct Plot {
  std::vector<std::vector<std::string>> rows;

  int columns() const {
    std::size_t most = 0;
    for (const auto& row : rows) most = std::max(most, row.size());
    return static_cast<int>(most);
  }
  int height() const { return static_cast<int>(rows.size()); }
  std::string at(int row, int column) const {
    const auto& cells = rows[static_cast<std::size_t>(row)];
    const auto index = static_cast<std::size_t>(column);
    return index < cells.size() ? cells[index] : " ";
  }
  // The rows of a column that hold one of these marks, from the top.
  std::vector<int> rows_with(const std::string& marks, int column) const {
    std::vector<int> found;
    for (int row = 0; row < height(); ++row) {
      if (marks.find(at(row, column)) != std::string::npos) found.push_back(row);
    }
    return found;
  }
};

bool is_axis(const std::string& cell) {
  return cell == "|" || cell == "+" || cell == "│" || cell == "┤";
}

std::size_t axis_column(const Lines& lines) {
  const std::vector<std::string> cells = cells_of(lines[lines.size() - 2]);
  const auto corner = std::ranges::find_if(
      cells, [](const std::string& cell) { return cell == "+" || cell == "└"; });
  return static_cast<std::size_t>(corner - cells.begin());
}

Plot plot_of(const Lines& lines) {
  Plot plot;
  const std::size_t axis = axis_column(lines);
  for (std::size_t i = 0; i + 2 < lines.size(); ++i) {
    std::vector<std::string> cells = cells_of(lines[i]);
    if (cells.size() <= axis || !is_axis(cells[axis])) continue;
    cells.erase(cells.begin(), cells.begin() + static_cast<std::ptrdiff_t>(axis) + 1);
    plot.rows.push_back(std::move(cells));
  }
  return plot;
}

// The columns of the plot with a tick.
std::vector<int> tick_columns(const Lines& lines) {
  const std::vector<std::string> cells = cells_of(lines[lines.size() - 2]);
  std::vector<int> columns;
  const std::size_t first = axis_column(lines) + 1;
  for (std::size_t i = first; i < cells.size(); ++i) {
    if (cells[i] == "+" || cells[i] == "┬") columns.push_back(static_cast<int>(i - first));
  }
  return columns;
}

// --- Whole plots ---------------------------------------------------------------------------------

TEST(CdfText, DrawsStepsInPlainAscii) {
  // clang-format off
  EXPECT_EQ(draw_text(steps(kFiveStars, 1, 5), 44, 12, false),
            (Lines{"rows 2310  epsilon 0.5  # CDF  . 95% band",
                   "1.00 +                                     #",
                   "     |                            ##########",
                   "0.75 +                            #.........",
                   "     |                   ##########",
                   "0.50 +                   #.........",
                   "     |                   #.........",
                   "0.25 +         ###########",
                   "     |##########",
                   "0.00 +#.........",
                   "     ++--------+---------+--------+--------+",
                   "      1        2         3        4        5"}));
  // clang-format on
}

TEST(CdfText, DrawsALineInUtf8) {
  const Points points = {{50, 0.5, 0.3, 0.7}, {100, 1, 0.8, 1}};
  // clang-format off
  EXPECT_EQ(draw_text(line(points, 0, 100), 48, 10, true),
            (Lines{"rows 2310  epsilon 0.5  ━ CDF  ░ 95% band",
                   "1.0 ┤                                   ░░░┏━━━",
                   "    │                        ░░░░░░░┏━━━━━━┛░░░",
                   "    │                 ░░░░░░░┏━━━━━━┛░░░░░░░░",
                   "0.5 ┤            ░░░░░┏━━━━━━┛░░░░░░░░",
                   "    │       ░░░┏━━━━━━┛░░░░░░░░",
                   "    │  ░┏━━━━━━┛░░░░░░░",
                   "0.0 ┤━━━┛░░░",
                   "    └┬────────────────────┬───────────────────┬",
                   "     0                   50                  100"}));
  // clang-format on
}

TEST(CdfText, DrawsTheBandOverEverythingAndANoteWhereThereAreNoRows) {
  const CdfPlot plot{kNoRows, false, 0, 1, 0, pure(1), 0.95};
  EXPECT_EQ(
      draw_text(plot, 40, 10, false),
      (Lines{"rows 0  epsilon 1  # CDF  . 95% band",  //
             "1.0 +..................................", "    |..................................",
             "    |..................................", "0.5 +............ no rows .............",
             "    |..................................", "    |..................................",
             "0.0 +..................................", "    ++----------------+---------------+",
             "    0.0              0.5             1.0"}));
}

// --- Size ----------------------------------------------------------------------------------------

// Calls check(lines, width, height) for plots of many kinds and sizes.
template <class Check>
void for_all_plots(Check check) {
  const Points one_bin = {{1, 1, 0.9, 1}};
  const Points curve = straight(-100, 100, 77, 0.1);
  CdfPlot longest = line(curve, -1e15 - 1, -1e15);
  longest.rows = std::numeric_limits<std::int64_t>::max();
  longest.privacy.value = 0.30000000000000004;
  longest.confidence = 0.999999;
  for (const CdfPlot& plot :
       {steps(kFiveStars, 1, 5), steps(kFiveStars, -1e-300, 1e300), line(one_bin, 0, 1),
        line(curve, -100, 100), line(kNoRows, 0, 1), line(curve, 1e15, 1e15 + 1), longest}) {
    for (const int width : {40, 41, 57, 80, 132, 400}) {
      for (const int height : {10, 11, 12, 13, 14, 15, 16, 24, 50, 200}) {
        for (const bool utf8 : {false, true}) {
          SCOPED_TRACE(testing::Message() << plot.lower << " .. " << plot.upper << ", " << width
                                          << " x " << height << ", UTF-8 " << utf8);
          check(draw_text(plot, width, height, utf8), width, height);
        }
      }
    }
  }
}

TEST(CdfTextSize, IsAtMostTheWidthAndTheHeight) {
  for_all_plots([](const Lines& lines, int width, int height) {
    EXPECT_LE(lines.size(), static_cast<std::size_t>(height));
    for (const std::string& text : lines) {
      EXPECT_LE(cells_of(text).size(), static_cast<std::size_t>(width)) << text;
    }
  });
}

TEST(CdfTextSize, UsesTheWidthAndTheHeight) {
  for_all_plots([](const Lines& lines, int width, int height) {
    EXPECT_GE(lines.size() + 3, static_cast<std::size_t>(height));
    std::size_t widest = 0;
    for (const std::string& text : lines) widest = std::max(widest, cells_of(text).size());
    EXPECT_GE(widest + 5, static_cast<std::size_t>(width));
  });
}

TEST(CdfText, HasNoTrailingBlanks) {
  for_all_plots([](const Lines& lines, int, int) {
    for (const std::string& text : lines) EXPECT_NE(text.back(), ' ') << text;
  });
}

TEST(CdfText, IsPlainAsciiWhenAsked) {
  for (const std::string& text : draw_text(steps(kFiveStars, 1, 5), 80, 24, false)) {
    for (const char byte : text) EXPECT_LT(static_cast<unsigned char>(byte), 0x7F) << text;
  }
}

// --- Legend --------------------------------------------------------------------------------------

TEST(CdfTextLegend, NamesTheRowsTheCostTheMarksAndTheConfidence) {
  CdfPlot plot = steps(kFiveStars, 1, 5);
  plot.rows = 47609;
  plot.privacy.value = 1;
  plot.confidence = 0.999;
  EXPECT_EQ(draw_text(plot, 80, 24, true).front(), "rows 47609  epsilon 1  ━ CDF  ░ 99.9% band");
  EXPECT_EQ(draw_text(plot, 80, 24, false).front(), "rows 47609  epsilon 1  # CDF  . 99.9% band");
  plot.privacy = zcdp(0.005);
  EXPECT_EQ(draw_text(plot, 80, 24, true).front(), "rows 47609  rho 0.005  ━ CDF  ░ 99.9% band");
}

TEST(CdfTextLegend, TakesTwoLinesWhereItIsTooLongForOne) {
  CdfPlot plot = steps(kFiveStars, 1, 5);
  plot.rows = 476091234;
  const Lines lines = draw_text(plot, 40, 12, false);
  EXPECT_EQ(lines[0], "rows 476091234  epsilon 0.5");
  EXPECT_EQ(lines[1], "# CDF  . 95% band");
  EXPECT_EQ(lines[2].substr(0, 3), "1.0");
}

// --- Axes ----------------------------------------------------------------------------------------

TEST(CdfTextAxes, HaveTheLabelsBelowTheirTicks) {
  const Lines lines = draw_text(steps(kFiveStars, 1, 5), 80, 24, false);
  const std::vector<int> ticks = tick_columns(lines);
  ASSERT_EQ(ticks.size(), 9U);
  double value = 1;
  for (const int tick : ticks) {
    const std::size_t middle = axis_column(lines) + 1 + static_cast<std::size_t>(tick);
    EXPECT_EQ(std::stod(lines.back().substr(middle - 1, 3)), value);
    value += 0.5;
  }
}

TEST(CdfTextAxes, LabelTheRowsOfTheirProbabilities) {
  const Points points = {{0, 0.25, 0.25, 0.25}, {1, 0.5, 0.5, 0.5}, {2, 0.75, 0.75, 0.75}};
  const Lines lines = draw_text(steps(points, -1, 3), 60, 12, true);
  std::vector<std::string> labels;
  for (const std::string& text : lines) {
    const bool level = text.find("━━━━━") != std::string::npos;
    if (level && is_axis(cells_of(text)[5])) labels.push_back(text.substr(0, 4));
  }
  EXPECT_EQ(labels, (std::vector<std::string>{"0.75", "0.50", "0.25", "0.00"}));
}

TEST(CdfTextAxes, GoFromZeroAtTheBottomToOneAtTheTop) {
  for (int height = 10; height <= 200; ++height) {
    const Lines lines = draw_text(steps(kFiveStars, 1, 5), 80, height, true);
    EXPECT_EQ(lines[1].substr(0, 2), "1.") << height;
    EXPECT_EQ(lines[lines.size() - 3].substr(0, 2), "0.") << height;
  }
}

// --- Curve ---------------------------------------------------------------------------------------

const std::string kCurve = "━┃┛┏#";

TEST(CdfTextCurve, RisesInTheColumnsOfItsSteps) {
  const Lines lines = draw_text(steps(kFiveStars, 1, 5), 80, 24, false);
  const Plot plot = plot_of(lines);
  const std::vector<int> ticks = tick_columns(lines);
  std::vector<int> rises;
  for (int column = 0; column < plot.columns(); ++column) {
    if (plot.rows_with(kCurve, column).size() > 1) rises.push_back(column);
  }
  EXPECT_EQ(rises, (std::vector<int>{ticks[0], ticks[2], ticks[4], ticks[6], ticks[8]}));
}

TEST(CdfTextCurve, IsLevelBesideItsStepsAndZeroBeforeTheFirst) {
  const Points points = {{25, 0.5, 0.5, 0.5}, {75, 1, 1, 1}};
  const Plot plot = plot_of(draw_text(steps(points, 0, 100), 80, 24, false));
  ASSERT_EQ(plot.height(), 21);
  EXPECT_EQ(plot.rows_with(kCurve, 0), std::vector<int>{20});
  EXPECT_EQ(plot.rows_with(kCurve, plot.columns() / 8), std::vector<int>{20});
  EXPECT_EQ(plot.rows_with(kCurve, plot.columns() / 2), std::vector<int>{10});
  EXPECT_EQ(plot.rows_with(kCurve, plot.columns() - 1), std::vector<int>{0});
}

TEST(CdfTextCurve, IsStraightBetweenPointsThatAreNotSteps) {
  const Points points = {{100, 1, 1, 1}};
  const Plot plot = plot_of(draw_text(line(points, 0, 100), 80, 24, false));
  for (int column = 0; column < plot.columns(); ++column) {
    const double expected = 20.0 * (1 - static_cast<double>(column) / (plot.columns() - 1));
    for (const int row : plot.rows_with(kCurve, column)) EXPECT_NEAR(row, expected, 0.7);
  }
}

// The curve has no gap between a column and the next.
void expect_connected(const Plot& plot) {
  std::vector<int> previous = {plot.height() - 1};
  for (int column = 0; column < plot.columns(); ++column) {
    const std::vector<int> rows = plot.rows_with(kCurve, column);
    ASSERT_FALSE(rows.empty()) << "column " << column;
    EXPECT_EQ(rows.back() - rows.front() + 1, static_cast<int>(rows.size())) << column;
    EXPECT_EQ(rows.back(), previous.front()) << "column " << column;
    previous = rows;
  }
}

TEST(CdfTextCurve, IsConnectedEvenWhereItIsSteep) {
  const Points jump = {{3, 0.02, 0, 0.1}, {3.0001, 0.97, 0.9, 1}, {7, 1, 0.9, 1}};
  const Points bend = {{3, 0.1, 0, 0.2}, {4, 0.9, 0.8, 1}, {7, 1, 1, 1}};
  for (const bool utf8 : {false, true}) {
    expect_connected(plot_of(draw_text(steps(kFiveStars, 1, 5), 80, 24, utf8)));
    expect_connected(plot_of(draw_text(line(jump, 0, 7), 80, 24, utf8)));
    expect_connected(plot_of(draw_text(line(bend, 0, 7), 40, 50, utf8)));
    expect_connected(plot_of(draw_text(steps(bend, 0, 7), 40, 10, utf8)));
  }
}

TEST(CdfTextCurve, ShowsAJumpAsOneStroke) {
  const Points jump = {{3, 0, 0, 0}, {3, 1, 1, 1}};
  const Plot plot = plot_of(draw_text(line(jump, 0, 6), 80, 24, true));
  const int middle = (plot.columns() - 1) / 2;
  EXPECT_EQ(plot.at(0, middle), "┏");
  EXPECT_EQ(plot.at(20, middle), "┛");
  for (int row = 1; row < 20; ++row) EXPECT_EQ(plot.at(row, middle), "┃") << row;
}

TEST(CdfTextCurve, DoesNotDependOnTheNumberOfPoints) {
  const Points few = straight(0, 1024, 1, 0);
  const Points many = straight(0, 1024, 1 << 20, 0);
  EXPECT_EQ(draw_text(line(many, 0, 1024), 80, 24, true),
            draw_text(line(few, 0, 1024), 80, 24, true));
}

TEST(CdfTextCurve, IsDrawnWhereTheWidthOfTheRangeOverflows) {
  const Points points = {{0, 0.5, 0.5, 0.5}};
  const Plot plot = plot_of(draw_text(steps(points, -1.7e308, 1.7e308), 81, 24, false));
  EXPECT_EQ(plot.rows_with(kCurve, plot.columns() / 2 - 1), std::vector<int>{20});
  EXPECT_EQ(plot.rows_with(kCurve, plot.columns() / 2 + 1), std::vector<int>{10});
}

// --- Band ----------------------------------------------------------------------------------------

const std::string kBand = "░.";

TEST(CdfTextBand, ReachesFromTheLowToTheHighBoundAroundTheCurve) {
  const Points points = {{0, 0.5, 0.3, 0.8}};
  for (const bool utf8 : {false, true}) {
    const Plot plot = plot_of(draw_text(steps(points, 0, 1), 80, 24, utf8));
    ASSERT_EQ(plot.height(), 21);
    EXPECT_EQ(plot.rows_with(kBand, 40), (std::vector<int>{4, 5, 6, 7, 8, 9, 11, 12, 13, 14}));
    EXPECT_EQ(plot.rows_with(kCurve, 40), std::vector<int>{10});
  }
}

TEST(CdfTextBand, NeverHidesTheCurve) {
  const Points everything = {{0, 0.5, 0, 1}, {10, 0.5, 0, 1}};
  const Plot plot = plot_of(draw_text(line(everything, 0, 10), 80, 24, true));
  expect_connected(plot);
  EXPECT_EQ(plot.rows_with(kBand, 40).size(), 20U);
}

TEST(CdfTextBand, IsNotDrawnWhereItIsNarrowerThanTheCurve) {
  const Points points = {{0, 0.5, 0.49, 0.51}};
  const Plot plot = plot_of(draw_text(steps(points, 0, 1), 80, 24, true));
  EXPECT_TRUE(plot.rows_with(kBand, 40).empty());
}

TEST(CdfTextBand, IsStraightBetweenPointsThatAreNotSteps) {
  const Points points = {{100, 1, 0.6, 1}};
  const Plot plot = plot_of(draw_text(line(points, 0, 100), 80, 24, false));
  const std::vector<int> middle = plot.rows_with(kBand, (plot.columns() - 1) / 2);
  EXPECT_NEAR(middle.back(), 20 * (1 - 0.3), 1);
  const std::vector<int> end = plot.rows_with(kBand, plot.columns() - 1);
  EXPECT_EQ(end.back(), 20 * (1 - 0.6));
}

// --- Errors --------------------------------------------------------------------------------------

TEST(CheckTextSize, RefusesASizeThatIsTooSmallOrTooLarge) {
  const std::string hint = "78 columns and 22 lines suit most terminals.";
  const auto expect_refused = [&](int width, int height, const std::string& message) {
    expect_parameter_error(message, hint, [&] { check_text_size(width, height); });
    expect_parameter_error(message, hint,
                           [&] { draw_text(steps(kFiveStars, 1, 5), width, height, true); });
  };
  const std::string width = "the width of a text plot must be 40 to 400 columns, got ";
  const std::string height = "the height of a text plot must be 10 to 200 lines, got ";
  expect_refused(39, 24, width + "39");
  expect_refused(401, 24, width + "401");
  expect_refused(-1, 24, width + "-1");
  expect_refused(80, 9, height + "9");
  expect_refused(80, 201, height + "201");
}

TEST(CheckTextSize, RefusesASizeBeyond32Bits) {
  constexpr std::int64_t kWrapsTo80 = (std::int64_t{1} << 32) + 80;
  EXPECT_THROW(check_text_size(kWrapsTo80, 24), ParameterError);
  EXPECT_THROW(check_text_size(80, kWrapsTo80), ParameterError);
}

TEST(CheckTextSize, AcceptsTheSmallestAndTheLargestSize) {
  EXPECT_NO_THROW(check_text_size(40, 10));
  EXPECT_NO_THROW(check_text_size(400, 200));
}

TEST(TextPlot, LabelsDatesAndTimes) {
  const Points days = straight(8766, 9132, 366, 0.1);
  CdfPlot year = line(days, 8766, 9132);
  year.scale = AxisScale::kDate;
  EXPECT_EQ(draw_text(year, 78, 22, false).back(),
            "   2024-01    2024-03    2024-05     2024-07    2024-09     2024-11    2025-01");
  const Points hours = straight(79'200e6, 108'000e6, 8, 0.1);
  CdfPlot night = line(hours, 79'200e6, 108'000e6);
  night.scale = AxisScale::kUtcTimestamp;
  EXPECT_EQ(draw_text(night, 78, 22, false).back(),
            "2000-01-01 22:00  2000-01-02           02:00            04:00            06:00");
  EXPECT_NE(draw_text(night, 78, 22, false).front().find("times in UTC"), std::string::npos);
  night.scale = AxisScale::kTimestamp;
  EXPECT_EQ(draw_text(night, 78, 22, false).front().find("UTC"), std::string::npos);
}

}  // namespace
}  // namespace dpquantile
