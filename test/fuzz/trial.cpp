#include "fuzz/trial.hpp"

#include <limits>
#include <new>

namespace dpquantile::fuzz {

namespace {

unsigned questions_left = 0;

bool cancel_requested() {
  return questions_left == 0 || --questions_left == 0;
}

}  // namespace

void SeededBytes::fill(std::span<std::byte> out) {
  if (requests_ == 0) throw RandomnessUnavailable("the bytes are used up");
  --requests_;
  for (std::byte& byte : out) {
    state_ = state_ * 6364136223846793005 + 1442695040888963407;
    byte = static_cast<std::byte>(state_ >> 56);
  }
}

bool run_mechanism(FuzzedDataProvider& input, std::uint64_t most_work,
                   const std::function<void(const MechanismContext&)>& mechanism) {
  const auto disturbance = static_cast<Disturbance>(input.ConsumeIntegralInRange(0, 6) % 4);
  const auto moment = input.ConsumeIntegral<std::uint8_t>();
  const bool is_cancelled = disturbance == Disturbance::kCancel;
  questions_left = moment + 1u;
  test::CountedMemory memory(
      disturbance == Disturbance::kMemory ? moment : std::numeric_limits<std::size_t>::max());
  SeededBytes bytes(
      input.ConsumeIntegral<std::uint16_t>(),
      disturbance == Disturbance::kRandomness ? moment % 4 : std::numeric_limits<unsigned>::max());
  bool answered = false;
  try {
    CancelPoll poll(is_cancelled ? cancel_requested : nullptr);
    RandomStream random(bytes);
    mechanism(MechanismContext(random, poll, &memory));
    answered = true;
    require(poll.elements() <= most_work, "the work is bounded by the size of the input");
  } catch (const ParameterError&) {
  } catch (const std::bad_alloc&) {
    require(disturbance == Disturbance::kMemory, "memory is short only if it is");
  } catch (const Cancelled&) {
    require(is_cancelled, "nothing is cancelled unprompted");
  } catch (const RandomnessUnavailable&) {
    require(disturbance == Disturbance::kRandomness, "randomness fails only if it does");
  }
  require(memory.used() == 0, "all memory is given back");
  return answered;
}

}  // namespace dpquantile::fuzz
