#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/plot/cdf_plot.hpp"
#include "support/parameter_error.hpp"

namespace dpquantile {
namespace {

using test::expect_parameter_error;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr int kMillion = 1 << 20;

using Points = std::vector<CdfPoint>;

CdfPlot steps(const Points& points, double lower, double upper) {
  return {points, true, lower, upper, 47609, pure(1), 0.95};
}

CdfPlot line(const Points& points, double lower, double upper) {
  return {points, false, lower, upper, 47609, pure(1), 0.95};
}

// A curve of x in 0 .. 1 that is uneven and steep in the middle, with a band of its own shape.
CdfPoint bent_at(double x) {
  const double probability = 0.5 + 0.5 * std::tanh(9 * (x - 0.4)) / std::tanh(9 * 0.6);
  const double f = std::clamp(probability, 0.0, 1.0);
  return {x, f, f * f, std::sqrt(f)};
}

Points bent(int count) {
  Points points;
  for (int i = 1; i <= count; ++i) points.push_back(bent_at(static_cast<double>(i) / count));
  return points;
}

const Points kFiveStars = {{1, 0.1, 0.06, 0.14},
                           {2, 0.25, 0.2, 0.3},
                           {3, 0.6, 0.4, 0.65},
                           {4, 0.85, 0.81, 0.89},
                           {5, 1, 0.96, 1}};
const Points kNoRows = {{0, kNaN, 0, 1}, {1, kNaN, 0, 1}};

// --- Reading XML ---------------------------------------------------------------------------------

struct Element {
  std::string name;
  std::string attributes;
  std::string text;

  std::string attribute(const std::string& key) const {
    const std::string before = " " + key + "=\"";
    const auto begin = attributes.find(before);
    if (begin == std::string::npos) return "";
    const auto value = begin + before.size();
    return attributes.substr(value, attributes.find('"', value) - value);
  }
  double number(const std::string& key) const { return std::stod(attribute(key)); }
};

bool is_reference(std::string_view text) {
  return std::ranges::any_of(
      std::vector<std::string_view>{"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"},
      [&](std::string_view reference) { return text.starts_with(reference); });
}

bool is_well_formed_text(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool control = static_cast<unsigned char>(text[i]) < ' ' && text[i] != '\n';
    if (control || (text[i] == '&' && !is_reference(text.substr(i)))) return false;
  }
  return true;
}

struct Attribute {
  std::string name;
  std::string value;
};

// The attributes in ' a="1" b="2"'. Text after the last well-formed one is a failure.
std::vector<Attribute> attributes_in(const std::string& text) {
  std::vector<Attribute> attributes;
  std::size_t position = 0;
  while (position < text.size() && text[position] == ' ') {
    const std::size_t equals = text.find("=\"", position);
    if (equals == std::string::npos) break;
    const std::size_t end = text.find('"', equals + 2);
    if (end == std::string::npos) break;
    attributes.push_back({text.substr(position + 1, equals - position - 1),
                          text.substr(equals + 2, end - equals - 2)});
    position = end + 1;
  }
  EXPECT_EQ(text.substr(position), "");
  return attributes;
}

void expect_well_formed(const Element& element) {
  EXPECT_TRUE(is_well_formed_text(element.text)) << element.text;
  for (const Attribute& attribute : attributes_in(element.attributes)) {
    EXPECT_FALSE(attribute.name.empty());
    EXPECT_EQ(attribute.name.find_first_of(" <>&'"), std::string::npos) << attribute.name;
    EXPECT_EQ(attribute.value.find('<'), std::string::npos) << attribute.name;
    EXPECT_TRUE(is_well_formed_text(attribute.value)) << attribute.name;
  }
}

// The elements of a document. Every tag must be closed in its turn; a document that is not
// well-formed is a failure.
std::vector<Element> parse(const std::string& xml) {
  std::vector<Element> elements;
  std::vector<std::size_t> open;
  std::size_t position = 0;
  while (position < xml.size()) {
    const std::size_t tag = std::min(xml.find('<', position), xml.size());
    const std::string text = xml.substr(position, tag - position);
    if (!open.empty()) elements[open.back()].text += text;
    if (tag == xml.size()) break;
    const std::size_t end = xml.find('>', tag);
    const std::string inside = xml.substr(tag + 1, end - tag - 1);
    position = end + 1;
    if (inside.front() == '/') {
      EXPECT_FALSE(open.empty());
      EXPECT_EQ(elements[open.back()].name, inside.substr(1));
      open.pop_back();
      continue;
    }
    const bool empty = inside.back() == '/';
    const std::string content = inside.substr(0, inside.size() - (empty ? 1 : 0));
    const std::size_t name = std::min(content.find(' '), content.size());
    elements.push_back({content.substr(0, name), content.substr(name), ""});
    if (!empty) open.push_back(elements.size() - 1);
  }
  EXPECT_TRUE(open.empty());
  for (const Element& element : elements) expect_well_formed(element);
  return elements;
}

Element find(const std::vector<Element>& elements, const std::string& name) {
  for (const Element& element : elements) {
    if (element.name == name) return element;
  }
  ADD_FAILURE() << "no " << name;
  return {};
}

std::vector<Element> with_class(const std::vector<Element>& elements, const std::string& look) {
  std::vector<Element> found;
  for (const Element& element : elements) {
    if (element.attribute("class") == look) found.push_back(element);
  }
  return found;
}

// --- Reading paths -------------------------------------------------------------------------------

struct Pixel {
  double x;
  double y;
};

// The corners of a path of M, L, H and V.
std::vector<Pixel> corners_of(const std::string& data) {
  std::vector<Pixel> corners;
  const char* rest = data.c_str();
  const auto number = [&rest] {
    char* end = nullptr;
    const double value = std::strtod(rest, &end);
    rest = end;
    return value;
  };
  while (*rest != '\0' && *rest != 'Z') {
    const char command = *rest++;
    Pixel next = corners.empty() ? Pixel{0, 0} : corners.back();
    if (command != 'V') next.x = number();
    if (command != 'H') next.y = number();
    corners.push_back(next);
  }
  return corners;
}

struct Drawing {
  std::vector<Pixel> curve;
  std::vector<Pixel> high;  // edges of the band, both from left to right
  std::vector<Pixel> low;
  std::string curve_data;
  std::size_t bytes;
};

// The band goes along its high edge and returns along its low one.
void split_band(const std::vector<Pixel>& band, Drawing& drawing) {
  std::size_t turn = 0;
  for (std::size_t i = 0; i < band.size(); ++i) {
    if (band[i].x > band[turn].x) turn = i;
  }
  const auto middle = band.begin() + static_cast<std::ptrdiff_t>(turn) + 1;
  drawing.high.assign(band.begin(), middle);
  drawing.low.assign(middle, band.end());
  std::ranges::reverse(drawing.low);
}

// The first curve and the first band are the marks of the legend.
Drawing read_drawing(const std::string& svg) {
  const std::vector<Element> elements = parse(svg);
  Drawing drawing;
  drawing.bytes = svg.size();
  const std::vector<Element> curves = with_class(elements, "curve");
  if (curves.size() == 2) drawing.curve_data = curves.back().attribute("d");
  drawing.curve = corners_of(drawing.curve_data);
  split_band(corners_of(with_class(elements, "band").at(1).attribute("d")), drawing);
  return drawing;
}

Drawing draw(const CdfPlot& plot, int width, int height) {
  return read_drawing(draw_svg(plot, width, height, "Title"));
}

// The pixels of the bounds, read from a curve that jumps at them.
struct Frame {
  double lower;
  double upper;
  double bottom;
  double top;

  double x_of(double across) const { return lower + across * (upper - lower); }
  double y_of(double up) const { return bottom - up * (bottom - top); }
};

Frame frame_of(double lower, double upper, int width, int height) {
  const Points points = {{lower, 0.5, 0.5, 0.5}, {upper, 1, 1, 1}};
  const std::vector<Pixel> curve = draw(steps(points, lower, upper), width, height).curve;
  EXPECT_EQ(curve.size(), 6U);
  return {curve.at(1).x, curve.at(3).x, curve.at(0).y, curve.at(4).y};
}

// --- The document --------------------------------------------------------------------------------

// Calls check(svg, width, height) for plots of many kinds and sizes.
template <class Check>
void for_all_plots(Check check) {
  const Points one_bin = {{1, 1, 0.9, 1}};
  const Points curve = bent(500);
  CdfPlot longest = line(curve, -1e15 - 1, -1e15);
  longest.rows = std::numeric_limits<std::int64_t>::max();
  longest.privacy.value = 0.30000000000000004;
  for (const CdfPlot& plot :
       {steps(kFiveStars, 1, 5), steps(kFiveStars, -1e-300, 1e300), line(one_bin, 0, 1),
        line(curve, 0, 1), line(kNoRows, 0, 1), steps(kFiveStars, -1.7e308, 1.7e308), longest}) {
    for (const int width : {200, 333, 800, 4000}) {
      for (const int height : {200, 500, 4000}) {
        SCOPED_TRACE(testing::Message()
                     << plot.lower << " .. " << plot.upper << ", " << width << " x " << height);
        check(draw_svg(plot, width, height, "Stars <&>"), width, height);
      }
    }
  }
}

TEST(CdfSvg, IsWellFormedAndOfTheWantedSize) {
  for_all_plots([](const std::string& svg, int width, int height) {
    const Element root = parse(svg).front();
    EXPECT_EQ(root.name, "svg");
    EXPECT_EQ(root.attribute("xmlns"), "http://www.w3.org/2000/svg");
    EXPECT_EQ(root.number("width"), width);
    EXPECT_EQ(root.number("height"), height);
    EXPECT_EQ(root.attribute("viewBox"),
              "0 0 " + std::to_string(width) + " " + std::to_string(height));
  });
}

TEST(CdfSvg, KeepsAllCoordinatesWithinThePlot) {
  for_all_plots([](const std::string& svg, int width, int height) {
    for (const Element& element : parse(svg)) {
      for (const Pixel& corner : corners_of(element.attribute("d"))) {
        ASSERT_TRUE(0 <= corner.x && corner.x <= width) << corner.x;
        ASSERT_TRUE(0 <= corner.y && corner.y <= height) << corner.y;
      }
      if (element.name != "text") continue;
      EXPECT_TRUE(0 <= element.number("x") && element.number("x") <= width);
      EXPECT_TRUE(0 <= element.number("y") && element.number("y") <= height);
    }
  });
}

// The most digits after a point.
std::size_t most_decimals(const std::string& text) {
  std::size_t most = 0;
  for (std::size_t point = text.find('.'); point < text.size(); point = text.find('.', point + 1)) {
    const std::size_t end = std::min(text.find_first_not_of("0123456789", point + 1), text.size());
    most = std::max(most, end - point - 1);
  }
  return most;
}

TEST(CdfSvg, WritesAtMostTwoDecimalsOfAPixel) {
  for_all_plots([](const std::string& svg, int, int) {
    for (const Element& element : parse(svg)) EXPECT_LE(most_decimals(element.attributes), 2U);
  });
}

TEST(CdfSvg, WritesPathsAsPlainNumbers) {
  for_all_plots([](const std::string& svg, int, int) {
    for (const Element& element : parse(svg)) {
      EXPECT_EQ(element.attribute("d").find_first_not_of("MLHVZ0123456789. "), std::string::npos);
    }
  });
}

TEST(CdfSvg, RefersToNothingOutside) {
  const std::string svg = draw_svg(line(bent(100), 0, 1), 800, 500, "Title");
  for (const char* const foreign : {"<script", "href", "url(", "@import", "<image",
                                    "<foreignObject", "@font-face", "<!", "onload"}) {
    EXPECT_EQ(svg.find(foreign), std::string::npos) << foreign;
  }
}

TEST(CdfSvg, IsLegibleInLightAndInDarkSurroundings) {
  const std::string style = find(parse(draw_svg(line(bent(9), 0, 1), 800, 500, "")), "style").text;
  const auto dark = style.find("@media (prefers-color-scheme:dark)");
  ASSERT_NE(dark, std::string::npos);
  for (const char* const look : {"background", "title", "text", "grid", "axis", "band", "curve"}) {
    const std::string rule = "." + std::string(look) + "{";
    EXPECT_LT(style.find(rule), dark) << look;
    EXPECT_NE(style.find(rule, dark), std::string::npos) << look;
  }
}

TEST(CdfSvg, TellsScreenReadersWhatItShows) {
  const auto elements = parse(draw_svg(steps(kFiveStars, 1, 5), 800, 500, "Stars"));
  EXPECT_EQ(elements.front().attribute("role"), "img");
  EXPECT_EQ(elements.at(1).name, "title");
  EXPECT_EQ(elements.at(1).text, "Stars");
  EXPECT_EQ(
      find(elements, "desc").text,
      "Cumulative distribution of 47609 rows from 1 to 5 with a 95% confidence band, released "
      "with differential privacy at epsilon 1.");
  CdfPlot of_zcdp = steps(kFiveStars, 1, 5);
  of_zcdp.privacy = zcdp(0.25);
  EXPECT_EQ(
      find(parse(draw_svg(of_zcdp, 800, 500, "Stars")), "desc").text,
      "Cumulative distribution of 47609 rows from 1 to 5 with a 95% confidence band, released "
      "with zero-concentrated differential privacy at rho 0.25.");
  EXPECT_EQ(find(parse(draw_svg(steps(kFiveStars, 1, 5), 800, 500, "")), "title").text,
            "Cumulative distribution");
}

// --- Text ----------------------------------------------------------------------------------------

std::vector<std::string> texts_of(const std::string& svg) {
  std::vector<std::string> texts;
  for (const Element& element : parse(svg)) {
    if (element.name == "text") texts.push_back(element.text);
  }
  return texts;
}

bool shows(const std::string& svg, const std::string& text) {
  const std::vector<std::string> texts = texts_of(svg);
  return std::ranges::find(texts, text) != texts.end();
}

TEST(CdfSvgText, NamesTheMarksTheConfidenceTheRowsAndTheCost) {
  CdfPlot plot = steps(kFiveStars, 1, 5);
  plot.rows = 1234567;
  plot.privacy.value = 0.5;
  plot.confidence = 0.999;
  const std::string svg = draw_svg(plot, 800, 500, "Stars");
  for (const char* const text : {"Stars", "CDF", "99.9% band", "1,234,567 rows", "ε = 0.5", "value",
                                 "fraction of rows ≤ value"}) {
    EXPECT_TRUE(shows(svg, text)) << text;
  }
  plot.privacy = zcdp(0.25);
  EXPECT_TRUE(shows(draw_svg(plot, 800, 500, "Stars"), "ρ = 0.25"));
  plot.rows = 1;
  EXPECT_TRUE(shows(draw_svg(plot, 800, 500, "Stars"), "1 row"));
  plot.discrete = false;
  EXPECT_TRUE(shows(draw_svg(plot, 800, 500, "Stars"), "fraction of rows below value"));
}

TEST(CdfSvgText, LabelsTheTicksOfBothAxes) {
  const std::string svg = draw_svg(line(bent(9), -200000, 300000), 800, 500, "");
  for (const char* const text : {"0.00", "0.25", "0.50", "0.75", "1.00", "−200,000", "−100,000",
                                 "0", "100,000", "300,000"}) {
    EXPECT_TRUE(shows(svg, text)) << text;
  }
}

TEST(CdfSvgText, PutsLabelsAtTheirTicks) {
  const auto elements = parse(draw_svg(steps(kFiveStars, 0, 10), 800, 500, "Title"));
  const Frame frame = frame_of(0, 10, 800, 500);
  const auto text_element = [&](const std::string& text) {
    for (const Element& element : elements) {
      if (element.text == text) return element;
    }
    ADD_FAILURE() << text;
    return Element{};
  };
  EXPECT_NEAR(text_element("0").number("x"), frame.x_of(0), 0.02);
  EXPECT_NEAR(text_element("4").number("x"), frame.x_of(0.4), 0.02);
  EXPECT_NEAR(text_element("10").number("x"), frame.x_of(1), 0.02);
  const double half_letter = 0.35 * text_element("0.25").number("font-size");
  EXPECT_NEAR(text_element("0.25").number("y"), frame.y_of(0.25) + half_letter, 0.02);
  EXPECT_NEAR(text_element("1.00").number("y"), frame.y_of(1) + half_letter, 0.02);
}

// Narrow letters are about half as wide as the font is high. A line of many letters cannot be
// narrower.
TEST(CdfSvgText, KeepsTickLabelsApart) {
  for_all_plots([](const std::string& svg, int, int) {
    double end = 0;
    double baseline = 0;
    for (const Element& element : parse(svg)) {
      if (element.attribute("text-anchor") != "middle") continue;
      if (!std::isdigit(static_cast<unsigned char>(element.text.back()))) continue;
      const double half =
          0.25 * element.number("font-size") * static_cast<double>(element.text.size());
      EXPECT_TRUE(baseline == 0 || baseline == element.number("y"));
      EXPECT_GT(element.number("x") - half, end) << element.text;
      end = element.number("x") + half;
      baseline = element.number("y");
    }
  });
}

TEST(CdfSvgText, EscapesMarkup) {
  const std::string svg =
      draw_svg(steps(kFiveStars, 1, 5), 800, 500, "</title><script>\"a\" & 'b'");
  const std::string escaped = "&lt;/title&gt;&lt;script&gt;&quot;a&quot; &amp; &#39;b&#39;";
  EXPECT_EQ(find(parse(svg), "title").text, escaped);
  EXPECT_TRUE(shows(svg, escaped));
}

TEST(CdfSvgText, ReplacesCharactersThatXmlForbids) {
  using namespace std::string_view_literals;
  const auto title_of = [](std::string_view title) {
    return find(parse(draw_svg(steps(kFiveStars, 1, 5), 800, 500, title)), "title").text;
  };
  EXPECT_EQ(title_of("a\tb\nc\rd"), "a b c d");
  EXPECT_EQ(title_of("a\0b\x01\x1F"sv), "a\uFFFDb\uFFFD\uFFFD");
  EXPECT_EQ(title_of("\xEF\xBF\xBE \xEF\xBF\xBF"), "\uFFFD \uFFFD");
  EXPECT_EQ(title_of("\x7F Größe 日本 \uFFFD"), "\x7F Größe 日本 \uFFFD");
}

Element title_text(std::string_view title, int width) {
  const auto titles =
      with_class(parse(draw_svg(steps(kFiveStars, 1, 5), width, 500, title)), "title");
  EXPECT_EQ(titles.size(), 1U);
  return titles.at(0);
}

TEST(CdfSvgTitle, IsShownInFullWhereItFits) {
  EXPECT_EQ(title_text("Größe der Bäume", 800).text, "Größe der Bäume");
  EXPECT_TRUE(with_class(parse(draw_svg(steps(kFiveStars, 1, 5), 800, 500, "")), "title").empty());
}

TEST(CdfSvgTitle, IsSmallerWhereItBarelyFits) {
  const std::string title =
      "Income of all households of the town last year, in thousands of euros a month";
  EXPECT_EQ(title_text(title, 800).text, title);
  EXPECT_LT(title_text(title, 800).number("font-size"),
            title_text("Income", 800).number("font-size"));
}

// In a bold sans-serif font 'W' is as wide as the font is high, or a little wider.
TEST(CdfSvgTitle, EndsWithAnEllipsisWhereItDoesNotFit) {
  const std::string wide(500, 'W');
  for (const int width : {200, 800, 4000}) {
    const Element title = title_text(wide, width);
    EXPECT_TRUE(title.text.ends_with("W…")) << title.text;
    const double letters = static_cast<double>(title.text.size()) - 2;
    const double end = title.number("x") + 1.1 * letters * title.number("font-size");
    EXPECT_LE(end, width);
    EXPECT_GE(end, 0.7 * width);
  }
}

TEST(CdfSvgTitle, IsCutBetweenCharacters) {
  for (const std::string letter : {"ü", "日", "😀"}) {
    std::string title;
    for (int count = 0; count < 300; ++count) title += letter;
    for (const std::string start : {"", "i", "ii", "iii"}) {
      const std::string shown = title_text(start + title, 800).text;
      std::string_view rest = shown;
      EXPECT_TRUE(rest.starts_with(start));
      rest.remove_prefix(start.size());
      int letters = 0;
      for (; rest.starts_with(letter); ++letters) rest.remove_prefix(letter.size());
      EXPECT_GT(letters, 10);
      EXPECT_EQ(rest, "…");
    }
  }
}

TEST(CdfSvgTitle, IsCompleteForScreenReaders) {
  const std::string wide(500, 'W');
  EXPECT_EQ(find(parse(draw_svg(steps(kFiveStars, 1, 5), 200, 200, wide)), "title").text, wide);
}

// --- Curve and band ------------------------------------------------------------------------------

TEST(CdfSvgCurve, IsDrawnAsStepsWhereValuesAreDiscrete) {
  const Drawing drawing = draw(steps(kFiveStars, 1, 5), 800, 500);
  EXPECT_EQ(drawing.curve_data.find('L'), std::string::npos);
  const Frame frame = frame_of(1, 5, 800, 500);
  ASSERT_EQ(drawing.curve.size(), 12U);
  for (std::size_t i = 0; i < kFiveStars.size(); ++i) {
    const Pixel& foot = drawing.curve[2 * i + 1];
    const Pixel& head = drawing.curve[2 * i + 2];
    EXPECT_NEAR(foot.x, frame.x_of((kFiveStars[i].x - 1) / 4), 0.02);
    EXPECT_EQ(head.x, foot.x);
    EXPECT_NEAR(foot.y, frame.y_of(i == 0 ? 0 : kFiveStars[i - 1].probability), 0.02);
    EXPECT_NEAR(head.y, frame.y_of(kFiveStars[i].probability), 0.02);
  }
}

TEST(CdfSvgCurve, IsDrawnStraightBetweenPointsWhereValuesAreContinuous) {
  const Points points = {{25, 0.5, 0.4, 0.6}, {100, 1, 0.9, 1}};
  const Drawing drawing = draw(line(points, 0, 100), 800, 500);
  const Frame frame = frame_of(0, 100, 800, 500);
  ASSERT_EQ(drawing.curve.size(), 5U);
  const std::vector<Pixel> expected = {{frame.x_of(0), frame.y_of(0)},
                                       {frame.x_of(0.25), frame.y_of(0.5)},
                                       {frame.x_of(1), frame.y_of(1)}};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(drawing.curve[i + 1].x, expected[i].x, 0.02);
    EXPECT_NEAR(drawing.curve[i + 1].y, expected[i].y, 0.02);
  }
}

TEST(CdfSvgCurve, ReachesFromOneEndOfTheAxisToTheOther) {
  const auto elements = parse(draw_svg(line(bent(50), 0, 1), 800, 500, "Title"));
  const std::vector<Pixel> axis = corners_of(with_class(elements, "axis").at(0).attribute("d"));
  const std::vector<Pixel> curve = draw(line(bent(50), 0, 1), 800, 500).curve;
  EXPECT_EQ(curve.front().x, axis.at(1).x);
  EXPECT_EQ(curve.front().y, axis.at(1).y);
  EXPECT_EQ(curve.back().x, axis.at(2).x);
}

TEST(CdfSvgBand, FollowsItsBounds) {
  const Drawing drawing = draw(steps(kFiveStars, 1, 5), 800, 500);
  const Frame frame = frame_of(1, 5, 800, 500);
  ASSERT_EQ(drawing.high.size(), 12U);
  ASSERT_EQ(drawing.low.size(), 12U);
  for (std::size_t i = 0; i < kFiveStars.size(); ++i) {
    EXPECT_NEAR(drawing.high[2 * i + 2].x, frame.x_of((kFiveStars[i].x - 1) / 4), 0.02);
    EXPECT_NEAR(drawing.high[2 * i + 2].y, frame.y_of(kFiveStars[i].high), 0.02);
    EXPECT_NEAR(drawing.low[2 * i + 2].y, frame.y_of(kFiveStars[i].low), 0.02);
  }
}

TEST(CdfSvgBand, ReachesTheEndOfTheAxisWhereItHasNoWidth) {
  const Points points = {{0, 0.5, 0.4, 0.6}, {9, 1, 1, 1}};
  const Drawing drawing = draw(steps(points, 0, 10), 800, 500);
  EXPECT_EQ(drawing.high.back().x, drawing.curve.back().x);
}

TEST(CdfSvgBand, CoversEverythingWhereThereAreNoRows) {
  const CdfPlot plot = line(kNoRows, 0, 1);
  const Drawing drawing = draw(plot, 800, 500);
  EXPECT_TRUE(drawing.curve.empty());
  EXPECT_TRUE(shows(draw_svg(plot, 800, 500, ""), "no rows"));
  const Frame frame = frame_of(0, 1, 800, 500);
  ASSERT_EQ(drawing.high.size() + drawing.low.size(), 4U);
  for (const Pixel& corner : drawing.high) EXPECT_NEAR(corner.y, frame.top, 0.02);
  for (const Pixel& corner : drawing.low) EXPECT_NEAR(corner.y, frame.bottom, 0.02);
}

// --- Many points ---------------------------------------------------------------------------------

using Height = double CdfPoint::*;

// Every corner lies on the curve, or at most half a pixel to its left or right.
void expect_on_curve(const std::vector<Pixel>& corners, const Frame& frame, Height height) {
  constexpr double kHalfAPixel = 0.52;
  for (const Pixel& corner : corners) {
    if (corner.x < frame.lower || corner.x > frame.upper) continue;
    const auto y_at = [&](double x) {
      const double across = (x - frame.lower) / (frame.upper - frame.lower);
      return frame.y_of(across <= 0 ? 0 : bent_at(std::min(across, 1.0)).*height);
    };
    ASSERT_LE(corner.y, y_at(corner.x - kHalfAPixel) + 0.02) << corner.x;
    ASSERT_GE(corner.y, y_at(corner.x + kHalfAPixel) - 0.02) << corner.x;
  }
}

double widest_gap(const std::vector<Pixel>& corners) {
  double widest = 0;
  for (std::size_t i = 1; i < corners.size(); ++i) {
    const bool level = std::abs(corners[i].y - corners[i - 1].y) < 0.005;
    if (!level) widest = std::max(widest, corners[i].x - corners[i - 1].x);
  }
  return widest;
}

TEST(CdfSvgManyPoints, LookLikeTheCurveAndItsBand) {
  const Points points = bent(kMillion);
  for (const bool discrete : {false, true}) {
    CdfPlot plot = line(points, 0, 1);
    plot.discrete = discrete;
    const Drawing drawing = draw(plot, 800, 500);
    const Frame frame = frame_of(0, 1, 800, 500);
    expect_on_curve(drawing.curve, frame, &CdfPoint::probability);
    expect_on_curve(drawing.high, frame, &CdfPoint::high);
    expect_on_curve(drawing.low, frame, &CdfPoint::low);
    EXPECT_LE(widest_gap(drawing.curve), 1);
  }
}

TEST(CdfSvgManyPoints, KeepThePlaceAndTheHeightOfAJump) {
  Points points;
  for (int i = 0; i <= kMillion; ++i) {
    const double x = static_cast<double>(i) / kMillion;
    const double f = 0.1 * x + (x < 0.7 ? 0 : 0.9);
    points.push_back({x, f, f, f});
  }
  const Frame frame = frame_of(0, 1, 800, 500);
  for (const bool discrete : {false, true}) {
    CdfPlot plot = line(points, 0, 1);
    plot.discrete = discrete;
    double tallest = 0;
    double place = 0;
    const std::vector<Pixel> curve = draw(plot, 800, 500).curve;
    for (std::size_t i = 1; i < curve.size(); ++i) {
      if (curve[i - 1].y - curve[i].y <= tallest) continue;
      tallest = curve[i - 1].y - curve[i].y;
      place = curve[i].x;
    }
    EXPECT_NEAR(tallest, 0.9 * (frame.bottom - frame.top), 0.2);
    EXPECT_NEAR(place, frame.x_of(0.7), 0.55);
  }
}

TEST(CdfSvgManyPoints, KeepTheFirstAndTheLastPointInAPixel) {
  const Points points = {
      {0.7003, 0.1, 0, 1}, {0.7003 + 1e-9, 0.2, 0, 1}, {0.7003 + 2e-9, 0.9, 0, 1}, {1, 1, 0, 1}};
  const std::vector<Pixel> curve = draw(line(points, 0, 1), 800, 500).curve;
  const Frame frame = frame_of(0, 1, 800, 500);
  ASSERT_EQ(curve.size(), 6U);
  EXPECT_NEAR(curve[2].x, frame.x_of(0.7003), 0.02);
  EXPECT_NEAR(curve[2].y, frame.y_of(0.1), 0.02);
  EXPECT_NEAR(curve[3].x, frame.x_of(0.7003), 0.02);
  EXPECT_NEAR(curve[3].y, frame.y_of(0.9), 0.02);
}

TEST(CdfSvgManyPoints, BecomeAtMostFourPerColumnOfPixels) {
  const Points points = bent(kMillion);
  for (const auto& [width, height] : {std::pair{200, 200}, {800, 500}, {4000, 4000}}) {
    const Drawing drawing = draw(line(points, 0, 1), width, height);
    EXPECT_LE(drawing.curve.size(), static_cast<std::size_t>(4 * width));
    EXPECT_LE(drawing.high.size(), static_cast<std::size_t>(4 * width));
    EXPECT_LE(drawing.bytes, static_cast<std::size_t>(4 * 3 * 17 * width + 8000));
  }
}

// --- Errors --------------------------------------------------------------------------------------

TEST(CheckSvgSize, RefusesASizeThatIsTooSmallOrTooLarge) {
  const std::string hint = "720 by 440 pixels suit most pages.";
  const auto expect_refused = [&](int width, int height, const std::string& message) {
    expect_parameter_error(message, hint, [&] { check_svg_size(width, height); });
    expect_parameter_error(message, hint,
                           [&] { draw_svg(steps(kFiveStars, 1, 5), width, height, ""); });
  };
  const std::string width = "the width of an SVG plot must be 200 to 4000 pixels, got ";
  const std::string height = "the height of an SVG plot must be 200 to 4000 pixels, got ";
  expect_refused(199, 500, width + "199");
  expect_refused(4001, 500, width + "4001");
  expect_refused(0, 500, width + "0");
  expect_refused(800, 199, height + "199");
  expect_refused(800, 4001, height + "4001");
}

TEST(CheckSvgSize, RefusesASizeBeyond32Bits) {
  constexpr std::int64_t kWrapsTo800 = (std::int64_t{1} << 32) + 800;
  EXPECT_THROW(check_svg_size(kWrapsTo800, 500), ParameterError);
  EXPECT_THROW(check_svg_size(800, kWrapsTo800), ParameterError);
}

TEST(CheckSvgSize, AcceptsTheSmallestAndTheLargestSize) {
  EXPECT_NO_THROW(check_svg_size(200, 200));
  EXPECT_NO_THROW(check_svg_size(4000, 4000));
}

TEST(SvgPlot, LabelsDatesAndTimes) {
  const Points days = {{8766, 0, 0, 0}, {9132, 1, 1, 1}};
  CdfPlot year = line(days, 8766, 9132);
  year.scale = AxisScale::kDate;
  const std::string svg = draw_svg(year, 720, 440, "");
  for (const char* text : {">2024-01<", ">2024-07<", ">2025-01<", ">date<",
                           "rows from 2024-01-01 to 2025-01-01 with"}) {
    EXPECT_NE(svg.find(text), std::string::npos) << text;
  }
  const Points hours = {{79'200e6, 0, 0, 0}, {108'000e6, 1, 1, 1}};
  CdfPlot night = line(hours, 79'200e6, 108'000e6);
  night.scale = AxisScale::kUtcTimestamp;
  const std::string nightly = draw_svg(night, 720, 440, "");
  for (const char* text : {">2000-01-02<", ">02:00<", ">time (UTC)<"}) {
    EXPECT_NE(nightly.find(text), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace dpquantile
