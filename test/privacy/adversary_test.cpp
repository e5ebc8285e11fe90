#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <iterator>
#include <ostream>
#include <regex>
#include <set>
#include <string>

#include "adversary/checks.hpp"

// The checks of test/adversary on a few shapes each, always the same ones: make audit tries others
// for minutes. With other seeds all of them together would fail by chance with a probability below
// 5 * 10^-7.
namespace dpquantile::adversary {
namespace {

constexpr std::uint64_t kSeed = 5;
constexpr double kFalseAlarm = 5e-7;

class Adversary : public ::testing::TestWithParam<Check> {};

TEST_P(Adversary, FindsNothing) {
  const Check& check = GetParam();
  Search search(kSeed, kFalseAlarm / static_cast<double>(checks().size()));
  for (int i = 0; i < check.in_tests; ++i) {
    search.allow_work();
    check.try_one(search);
    for (const std::string& finding : search.findings()) FAIL() << "shape " << i << ": " << finding;
  }
}

std::string name_of(const ::testing::TestParamInfo<Check>& check) {
  std::string name(check.param.name);
  std::erase_if(name, [](unsigned char c) { return std::ispunct(c) != 0; });
  std::ranges::replace(name, ' ', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Of, Adversary, ::testing::ValuesIn(checks().begin(), checks().end()),
                         name_of);

// ---- Nothing is left out
// ---------------------------------------------------------------------------

TEST(AdversaryChecks, CoverEachMechanism) {
  std::set<Mechanism> covered;
  for (const Check& check : checks()) {
    covered.insert(check.mechanisms.begin(), check.mechanisms.end());
  }
  for (int i = 0; i < static_cast<int>(Mechanism::kEnd); ++i) {
    EXPECT_TRUE(covered.contains(static_cast<Mechanism>(i)))
        << "mechanism " << i << " has no check";
  }
}

TEST(AdversaryChecks, CoverEachFamilyOfAggregates) {
  std::ifstream file("src/pg/parameters/family.hpp");
  const std::string source{std::istreambuf_iterator<char>(file), {}};
  const std::size_t begin = source.find("enum class Family");
  ASSERT_NE(begin, std::string::npos) << "run this in the root of the tree";
  const std::string families = source.substr(begin, source.find("};", begin) - begin);
  const std::regex member("(k[A-Za-z]+) = [0-9]+,");
  int found = 0;
  for (auto at = std::sregex_iterator(families.begin(), families.end(), member);
       at != std::sregex_iterator(); ++at, ++found) {
    const std::string family = at->str(1);
    const bool is_listed = std::ranges::any_of(
        mechanisms_of_families(), [&](const auto& known) { return known.family == family; });
    EXPECT_TRUE(is_listed) << family << " is not in test/adversary/mechanisms.cpp";
  }
  EXPECT_EQ(found, static_cast<int>(mechanisms_of_families().size()));
}

}  // namespace

void PrintTo(const Check& check, std::ostream* out) {
  *out << check.name;
}

}  // namespace dpquantile::adversary
