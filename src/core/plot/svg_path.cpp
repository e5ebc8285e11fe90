#include "core/plot/svg_path.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace dpquantile {

namespace {

constexpr int kHundredths = 100;

std::string from_hundredths(std::int64_t hundredths) {
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(),
                                 static_cast<double>(hundredths) / kHundredths)
                       .ptr;
  return std::string(digits.data(), end);
}

std::int64_t to_hundredths(double pixels) {
  return std::llround(pixels * kHundredths);
}

bool goes_straight_on(std::int64_t from, std::int64_t middle, std::int64_t to) {
  return (from < middle && middle < to) || (from > middle && middle > to);
}

// Whether the middle lies on a horizontal or vertical stroke.
bool adds_nothing(const PathPoint& from, const PathPoint& middle, const PathPoint& to) {
  const bool horizontal = from.y == middle.y && middle.y == to.y;
  const bool vertical = from.x == middle.x && middle.x == to.x;
  return (horizontal && goes_straight_on(from.x, middle.x, to.x)) ||
         (vertical && goes_straight_on(from.y, middle.y, to.y));
}

std::vector<PathPoint> without_needless_points(const std::vector<PathPoint>& points) {
  std::vector<PathPoint> kept;
  for (const PathPoint& point : points) {
    if (!kept.empty() && kept.back() == point) continue;
    if (kept.size() >= 2 && adds_nothing(kept[kept.size() - 2], kept.back(), point)) {
      kept.pop_back();
    }
    kept.push_back(point);
  }
  return kept;
}

std::string line_to(const PathPoint& from, const PathPoint& to) {
  if (from.y == to.y) return "H" + from_hundredths(to.x);
  if (from.x == to.x) return "V" + from_hundredths(to.y);
  return "L" + from_hundredths(to.x) + " " + from_hundredths(to.y);
}

}  // namespace

std::string svg_number(double pixels) {
  return from_hundredths(to_hundredths(pixels));
}

PathPoint path_point(double x, double y) {
  return {to_hundredths(x), to_hundredths(y)};
}

std::string path_data(const std::vector<PathPoint>& points) {
  const std::vector<PathPoint> kept = without_needless_points(points);
  std::string data = "M" + from_hundredths(kept.front().x) + " " + from_hundredths(kept.front().y);
  for (std::size_t i = 1; i < kept.size(); ++i) data += line_to(kept[i - 1], kept[i]);
  return data;
}

}  // namespace dpquantile
