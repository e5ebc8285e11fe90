#include "core/cdf/cdf_encoding.hpp"

#include <bit>
#include <cmath>

#include "core/base/error.hpp"

namespace dpquantile {

namespace {

// The version tells the measure, and whether a byte with the type of the values follows. Curves of
// numbers have no such byte.
constexpr std::uint8_t kVersionOfPure = 1;
constexpr std::uint8_t kVersionOfZcdp = 2;
constexpr std::uint8_t kVersionOfTypedPure = 3;
constexpr std::uint8_t kVersionOfTypedZcdp = 4;
constexpr unsigned kDigitBits = 7;
constexpr std::uint8_t kMoreDigits = 0x80;
constexpr std::size_t kMostHeaderBytes = 40 + 12 * LevelTree::kMaxLevels;
constexpr unsigned kMostDigits = 8;  // 56 bits: no count exceeds 2^53

class Writer {
 public:
  // Reserves the bytes of a usual curve of so many bins.
  Writer(std::size_t bins, std::pmr::memory_resource* memory) : bytes_(memory) {
    bytes_.reserve(kMostHeaderBytes + 2 * bins);
  }

  void integer(std::uint64_t value, unsigned size) {
    for (unsigned i = 0; i < size; ++i) {
      bytes_.push_back(static_cast<std::byte>(value >> (8 * i) & 0xff));
    }
  }
  void real(double value) { integer(std::bit_cast<std::uint64_t>(value), sizeof value); }
  void increment(std::uint64_t value) {
    for (; value >= kMoreDigits; value >>= kDigitBits) {
      bytes_.push_back(static_cast<std::byte>(value & (kMoreDigits - 1)) | std::byte{kMoreDigits});
    }
    bytes_.push_back(static_cast<std::byte>(value));
  }
  std::pmr::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::pmr::vector<std::byte> bytes_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::uint64_t integer(unsigned size) {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < size; ++i) value |= std::uint64_t{next()} << (8 * i);
    return value;
  }
  double real() {
    const auto value = std::bit_cast<double>(integer(sizeof(double)));
    if (value == 0 && std::signbit(value)) throw CorruptInput("a number is a negative zero");
    return value;
  }
  std::uint64_t increment() {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < kMostDigits; ++i) {
      const std::uint8_t digit = next();
      value |= std::uint64_t{digit & (kMoreDigits - 1u)} << (kDigitBits * i);
      if (digit == 0 && i > 0) throw CorruptInput("a count ends in a zero digit");
      if ((digit & kMoreDigits) == 0) return value;
    }
    throw CorruptInput("a count has too many digits");
  }
  std::size_t left() const { return bytes_.size() - position_; }

 private:
  std::uint8_t next() {
    if (left() == 0) throw CorruptInput("the value is cut short");
    return static_cast<std::uint8_t>(bytes_[position_++]);
  }

  std::span<const std::byte> bytes_;
  std::size_t position_ = 0;
};

struct Header {
  PrivacyMeasure measure;
  CdfDomain domain;
};

bool is_typed(std::uint64_t version) {
  return version == kVersionOfTypedPure || version == kVersionOfTypedZcdp;
}

PrivacyMeasure measure_of(std::uint64_t version) {
  switch (version) {
    case kVersionOfPure:
    case kVersionOfTypedPure:
      return PrivacyMeasure::kPure;
    case kVersionOfZcdp:
    case kVersionOfTypedZcdp:
      return PrivacyMeasure::kZcdp;
    default:
      throw CorruptInput("unknown version");
  }
}

std::uint8_t version_of(PrivacyMeasure measure, bool typed) {
  if (measure == PrivacyMeasure::kPure) return typed ? kVersionOfTypedPure : kVersionOfPure;
  return typed ? kVersionOfTypedZcdp : kVersionOfZcdp;
}

std::uint8_t read_value_type(Reader& reader) {
  const auto type = static_cast<std::uint8_t>(reader.integer(1));
  if (type == 0) throw CorruptInput("a curve of numbers has the version of another type");
  return type;
}

Header read_header(Reader& reader) {
  const std::uint64_t version = reader.integer(1);
  const PrivacyMeasure measure = measure_of(version);
  CdfDomain domain;
  if (is_typed(version)) domain.value_type = read_value_type(reader);
  domain.lower = reader.real();
  domain.upper = reader.real();
  domain.granularity = reader.real();
  domain.bins = static_cast<std::uint32_t>(reader.integer(4));
  return {measure, domain};
}

CdfPlan read_plan(Reader& reader, std::uint32_t bins, PrivacyMeasure measure) {
  const auto method = static_cast<CdfMethod>(reader.integer(1));
  if (cdf_method_name(method) == nullptr) throw CorruptInput("unknown method");
  CdfPlan plan{method, bins, {measure, reader.real()}, 0, {}, {}};
  plan.levels = static_cast<std::uint32_t>(reader.integer(1));
  if (plan.levels > LevelTree::kMaxLevels) throw CorruptInput("too many levels");
  for (std::size_t i = 0; i < plan.levels; ++i) {
    plan.branchings[i] = static_cast<std::uint32_t>(reader.integer(4));
    plan.level_budgets[i] = reader.real();
  }
  return plan;
}

}  // namespace

std::pmr::vector<std::byte> encode_cdf(const CdfCurve& curve, std::pmr::memory_resource* memory) {
  Writer writer(curve.cumulative().size(), memory);
  const CdfPlan& plan = curve.plan();
  const std::uint8_t type = curve.domain().value_type;
  writer.integer(version_of(plan.privacy.measure, type != 0), 1);
  if (type != 0) writer.integer(type, 1);
  writer.real(curve.domain().lower);
  writer.real(curve.domain().upper);
  writer.real(curve.domain().granularity);
  writer.integer(curve.domain().bins, 4);
  writer.integer(static_cast<std::uint8_t>(plan.method), 1);
  writer.real(plan.privacy.value);
  writer.integer(plan.levels, 1);
  for (std::size_t i = 0; i < plan.levels; ++i) {
    writer.integer(plan.branchings[i], 4);
    writer.real(plan.level_budgets[i]);
  }
  std::int64_t before = 0;
  for (const std::int64_t count : curve.cumulative()) {
    writer.increment(static_cast<std::uint64_t>(count - before));
    before = count;
  }
  return writer.take();
}

CdfCurve decode_cdf(std::span<const std::byte> bytes, std::pmr::memory_resource* memory) {
  Reader reader(bytes);
  const auto [measure, domain] = read_header(reader);
  const CdfPlan plan = read_plan(reader, domain.bins, measure);
  // Before memory is reserved: the bytes may be forged.
  if (domain.bins > LevelTree::kMaxBins) throw CorruptInput("too many bins");
  if (domain.bins > reader.left()) throw CorruptInput("more bins than bytes");
  std::pmr::vector<std::int64_t> cumulative(memory);
  cumulative.reserve(domain.bins);
  std::uint64_t count = 0;
  for (std::uint32_t i = 0; i < domain.bins; ++i) {
    count += reader.increment();
    if (count >= std::uint64_t{1} << 62) throw CorruptInput("the counts are too large");
    cumulative.push_back(static_cast<std::int64_t>(count));
  }
  if (reader.left() != 0) throw CorruptInput("bytes are left over");
  return CdfCurve(domain, plan, std::move(cumulative));
}

CdfDomain decode_cdf_domain(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  return read_header(reader).domain;
}

}  // namespace dpquantile
