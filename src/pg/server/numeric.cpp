#include "pg/server/numeric.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>

extern "C" {
#include "access/detoast.h"
}

namespace dpquantile {

namespace {

// PostgreSQL keeps the layout of a stored numeric private to its numeric.c, but pg_upgrade reads
// stored values with a new server, so the layout stays. sql/numeric_values.sql compares with
// PostgreSQL's own conversion. After the length of the varlena:
//   a header of 16 bits, whose upper 2 bits tell a short numeric, a long one or a special value;
//     it also has the number of decimals
//   only in a long numeric, 16 bits for the weight
//   the digits of base 10000, 16 bits each, first and last not 0
// The value is the sum of digit[i] * 10000^(weight - i).
constexpr uint16 kKindMask = 0xC000;
constexpr uint16 kLongNegative = 0x4000;
constexpr uint16 kShort = 0x8000;
constexpr uint16 kSpecial = 0xC000;
constexpr uint16 kSpecialMask = 0xF000;
constexpr uint16 kInfinity = 0xD000;
constexpr uint16 kMinusInfinity = 0xF000;
constexpr uint16 kShortNegative = 0x2000;
constexpr uint16 kShortDecimalsMask = 0x1F80;
constexpr int kShortDecimalsShift = 7;
constexpr uint16 kLongDecimalsMask = 0x3FFF;
constexpr uint16 kShortWeightSign = 0x0040;
constexpr uint16 kShortWeightMask = 0x003F;

constexpr int kDecimalsPerDigit = 4;
constexpr uint64 kBase = 10000;
constexpr int kMostDigits = 9;
constexpr Size kMostBytes = 2 * sizeof(uint16) + kMostDigits * sizeof(int16);

// The first bytes of a numeric, after the length.
struct LeadingBytes {
  std::array<char, kMostBytes> bytes;
  Size total;  // the bytes that the whole numeric has
};

bool is_plain(const struct varlena* value) {
  return !VARATT_IS_EXTERNAL(value) && !VARATT_IS_COMPRESSED(value);
}

LeadingBytes leading_bytes(Datum numeric) {
  auto* value = reinterpret_cast<struct varlena*>(DatumGetPointer(numeric));
  const bool plain = is_plain(value);
  auto* start = plain ? value : PG_DETOAST_DATUM_SLICE(numeric, 0, kMostBytes);
  LeadingBytes leading;
  leading.total = plain ? VARSIZE_ANY_EXHDR(value) : toast_raw_datum_size(numeric) - VARHDRSZ;
  memcpy(leading.bytes.data(), VARDATA_ANY(start), std::min(VARSIZE_ANY_EXHDR(start), kMostBytes));
  if (!plain) pfree(start);
  return leading;
}

template <class Word>
Word word_at(const char* bytes, Size offset) {
  Word word;
  memcpy(&word, bytes + offset, sizeof word);
  return word;
}

// The weight of the first digit of a finite numeric.
int weight_of(const char* bytes, uint16 header) {
  if ((header & kKindMask) != kShort) return word_at<int16>(bytes, sizeof header);
  const int magnitude = header & kShortWeightMask;
  return (header & kShortWeightSign) != 0 ? magnitude - kShortWeightMask - 1 : magnitude;
}

int decimals_of(uint16 header) {
  return (header & kKindMask) == kShort ? (header & kShortDecimalsMask) >> kShortDecimalsShift
                                        : header & kLongDecimalsMask;
}

// A finite numeric: its first digits, at most kMostDigits.
struct LeadingDigits {
  bool negative;
  int weight;  // of the first digit
  int count;
  bool has_more;  // whether the numeric has further digits
  std::array<uint16, kMostDigits> digits;
};

LeadingDigits leading_digits(const LeadingBytes& leading, uint16 header) {
  LeadingDigits number;
  Size offset = sizeof header;
  number.weight = weight_of(leading.bytes.data(), header);
  if ((header & kKindMask) == kShort) {
    number.negative = (header & kShortNegative) != 0;
  } else {
    number.negative = (header & kKindMask) == kLongNegative;
    offset += sizeof(int16);
  }
  const Size count = (leading.total - offset) / sizeof(uint16);
  number.has_more = count > kMostDigits;
  number.count = static_cast<int>(std::min<Size>(count, kMostDigits));
  for (int i = 0; i < number.count; ++i) {
    number.digits[i] = word_at<uint16>(leading.bytes.data(), offset + i * sizeof(uint16));
  }
  return number;
}

// The decimal exponent of the last of these digits.
int last_exponent(const LeadingDigits& number) {
  return kDecimalsPerDigit * (number.weight - number.count + 1);
}

// A whole number times a power of 10. Both are exact as doubles if they are not too large, and then
// one multiplication or division rounds correctly.
struct Scaled {
  uint64 whole;
  int exponent;
};

constexpr double kPowersOf10[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
constexpr int kMostExponent = static_cast<int>(std::size(kPowersOf10)) - 1;
constexpr uint64 kMostWhole = uint64{1} << std::numeric_limits<double>::digits;

// Whether the digits are below 2^64 = 1844 6744 0737 0955 1616.
bool fits_64_bits(const LeadingDigits& number) {
  constexpr int kFits = 4;
  constexpr uint16 kMostFirst = 1843;
  return number.count <= kFits || (number.count == kFits + 1 && number.digits[0] <= kMostFirst);
}

Scaled scaled(const LeadingDigits& number) {
  Scaled value{0, last_exponent(number)};
  for (int i = 0; i < number.count; ++i) value.whole = value.whole * kBase + number.digits[i];
  // The last digit of base 10000 is not 0, so there are at most three steps.
  while (value.whole > kMostWhole && value.whole % 10 == 0) {
    value.whole /= 10;
    ++value.exponent;
  }
  return value;
}

bool is_exact(const Scaled& value) {
  return value.whole <= kMostWhole && std::abs(value.exponent) <= kMostExponent;
}

double magnitude_of(const Scaled& value) {
  const auto whole = static_cast<double>(value.whole);
  return value.exponent < 0 ? whole / kPowersOf10[-value.exponent]
                            : whole * kPowersOf10[value.exponent];
}

// As PostgreSQL converts, by text.
double magnitude_by_text(const LeadingDigits& number) {
  char text[kMostDigits * kDecimalsPerDigit + 32];
  char* end = text;
  for (int i = 0; i < number.count; ++i) {
    end += sprintf(end, "%04d", number.digits[i]);
  }
  if (number.has_more) *end++ = '1';
  sprintf(end, "e%d", last_exponent(number) - (number.has_more ? 1 : 0));
  return strtod(text, nullptr);
}

double magnitude_of(const LeadingDigits& number) {
  if (fits_64_bits(number)) {
    const Scaled value = scaled(number);
    if (is_exact(value)) return magnitude_of(value);
  }
  return magnitude_by_text(number);
}

double special_value(uint16 header) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  switch (header & kSpecialMask) {
    case kInfinity:
      return kInfinite;
    case kMinusInfinity:
      return -kInfinite;
    default:
      return std::numeric_limits<double>::quiet_NaN();
  }
}

// Whether these first bytes are those of a numeric with few digits.
bool starts_few_digits(const char* bytes, int digits) {
  const auto header = word_at<uint16>(bytes, 0);
  if ((header & kKindMask) == kSpecial) return true;
  return kDecimalsPerDigit * weight_of(bytes, header) < digits && decimals_of(header) <= digits;
}

}  // namespace

double float8_of_numeric(Datum numeric) {
  const LeadingBytes leading = leading_bytes(numeric);
  const auto header = word_at<uint16>(leading.bytes.data(), 0);
  if ((header & kKindMask) == kSpecial) return special_value(header);
  const LeadingDigits number = leading_digits(leading, header);
  const double magnitude = magnitude_of(number);
  return number.negative ? -magnitude : magnitude;
}

bool has_few_digits(Datum numeric, int digits) {
  const Size most_words = 2 * static_cast<Size>(digits / kDecimalsPerDigit) + 3;
  if (toast_raw_datum_size(numeric) > VARHDRSZ + most_words * sizeof(uint16)) return false;
  const auto* value = reinterpret_cast<struct varlena*>(DatumGetPointer(numeric));
  if (is_plain(value)) return starts_few_digits(VARDATA_ANY(value), digits);
  return starts_few_digits(leading_bytes(numeric).bytes.data(), digits);
}

Size most_text_bytes(Datum numeric) {
  constexpr Size kSpecialText = 9;   // -Infinity
  constexpr Size kSignAndPoint = 3;  // and the 0 before the point
  const LeadingBytes leading = leading_bytes(numeric);
  const auto header = word_at<uint16>(leading.bytes.data(), 0);
  if ((header & kKindMask) == kSpecial) return kSpecialText;
  const int words = std::max(weight_of(leading.bytes.data(), header) + 1, 0);
  return kSignAndPoint + static_cast<Size>(words * kDecimalsPerDigit + decimals_of(header));
}

}  // namespace dpquantile
