#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/int128.hpp"
#include "core/privacy/privacy_parameter.hpp"

// The tape of a session: what it draws, what its mechanisms are given, and what a read of protected
// rows leaves behind. A session that plays the tape of another gives the answers of the other, so
// that all that follows must be the same. recording.py reads tapes and has their rules.
//
// A tape is a text, an event a line, with tabs between its fields.
namespace dpquantile::tape {

// Begins a tape, a file of the server's directory; an empty name ends it.
void record(const char* file);
// Plays the tape in this file from now on; an empty name ends that.
void play(const char* file);

bool is_recording();
void write(const std::string& line);

// Where the session is: in an execution of a release, in a group, in the call of a private
// aggregate. What is drawn in a call depends on the group and the call only, not on the order of
// the groups.
void begin_execution();
void end_execution();
void begin_call(const std::string& group, int column);
void end_call();

void write_answer(const std::string& group, int column, const std::string& answer);
// The answer of the call on the tape that is played, or null.
const std::string* answer_to_play(const std::string& group, int column);

// The next number of the stream of random numbers, if the session is in a call, else 0.
std::uint64_t position_in_call();

// Where the streams begin that are made from now on: 0, unless they must give other numbers than
// those do.
void begin_streams_at(std::uint64_t position);
std::uint64_t first_position();

// A draw of a sampler, which is written unless it is within another one. In a mechanism only noise
// is written, because data may decide how often other samplers are asked.
class Draw {
 public:
  Draw(const char* sampler, double parameter, std::size_t count = 1);
  ~Draw();
  Draw(const Draw&) = delete;
  Draw& operator=(const Draw&) = delete;
};

// Whether noise is 0 for now and nothing is written: to learn what a mechanism adds noise to.
bool is_silent();
class Silence {
 public:
  Silence();
  ~Silence();
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;
};

// One call of a mechanism: its guarantee, how many records or users it sees, and the numbers that
// it adds noise to or chooses by. boundaries.cpp has the list.
class MechanismCall {
 public:
  MechanismCall(const char* name, const PrivacyParameter& told, std::uint64_t records);
  ~MechanismCall();
  MechanismCall(const MechanismCall&) = delete;
  MechanismCall& operator=(const MechanismCall&) = delete;

  // What must be the same on neighbours, given the answers before.
  void add_public(double value);
  // The index-th number; those that are not added are 0.
  void add_input(std::uint64_t index, int128_t value);
  template <class Values>
  void add_inputs(const Values& values) {
    std::uint64_t index = 0;
    for (const auto& value : values) add_input(index++, static_cast<int128_t>(value));
  }
  // Writes the outputs, or takes those of the tape that is played in their place.
  void exchange(std::span<std::uint64_t> outputs);

 private:
  std::string line_;
  std::string public_;
  std::string inputs_;
  std::string outputs_;
  std::size_t noise_before_;
};

}  // namespace dpquantile::tape
