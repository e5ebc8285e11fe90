#include "tape.hpp"

#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>

namespace dpquantile::tape {

namespace {

struct Place {
  int execution;
  std::string group;
  int column;
  int mechanisms;  // so far
};

struct Noise {
  std::string sampler;
  double parameter;
  std::size_t count;
};

struct Session {
  std::FILE* file = nullptr;
  std::map<std::string, std::string> played;
  std::vector<Place> places;  // of executions, the innermost last
  int executions = 0;
  bool in_call = false;
  std::uint64_t seed = 0;
  std::uint64_t position = 0;
  std::uint64_t first_position = 0;  // of a stream
  int draws = 0;                     // around the present one
  int silences = 0;
  int mechanisms = 0;        // around the present draw
  std::vector<Noise> noise;  // of them
};

Session& session() {
  static Session only;
  return only;
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

std::string number(int128_t value) {
  const bool negative = value < 0;
  auto rest = negative ? -static_cast<uint128_t>(value) : static_cast<uint128_t>(value);
  std::string digits;
  do {
    digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(rest % 10)));
    rest /= 10;
  } while (rest != 0);
  return negative ? "-" + digits : digits;
}

std::string key_of(int execution, const std::string& group, int column) {
  return std::to_string(execution) + " " + group + " " + std::to_string(column);
}

std::string key_of_place(const Place& place) {
  return key_of(place.execution, place.group, place.column);
}

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream text(line);
  for (std::string field; std::getline(text, field, '\t');) fields.push_back(field);
  return fields;
}

// FNV-1a
std::uint64_t hash_of(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char letter : text) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
  }
  return hash;
}

void forget_places() {
  Session& now = session();
  now.places.clear();
  now.executions = 0;
  now.in_call = false;
  now.draws = now.silences = now.mechanisms = 0;
  now.noise.clear();
}

}  // namespace

void record(const char* file) {
  Session& now = session();
  if (now.file != nullptr) std::fclose(now.file);
  now.file = *file == '\0' ? nullptr : std::fopen(file, "w");
  forget_places();
}

// The lines that are played: G execution group column, M depth name ... outputs, A execution group
// column answer.
void play(const char* file) {
  Session& now = session();
  now.played.clear();
  if (*file == '\0') return;
  std::ifstream lines(file);
  std::string place;
  int mechanisms = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::vector<std::string> fields = fields_of(line);
    if (line.starts_with("G\t") && fields.size() == 4) {
      place = key_of(std::stoi(fields[1]), fields[2], std::stoi(fields[3]));
      mechanisms = 0;
    } else if (line.starts_with("M\t") && fields.size() == 10) {
      now.played[place + " " + std::to_string(mechanisms++) + " " + fields[2]] = fields[9];
    } else if (line.starts_with("A\t") && fields.size() == 5) {
      now.played["A " + key_of(std::stoi(fields[1]), fields[2], std::stoi(fields[3]))] = fields[4];
    }
  }
}

bool is_recording() {
  return session().file != nullptr;
}

void write(const std::string& line) {
  if (session().file == nullptr || session().silences > 0) return;
  std::fputs((line + "\n").c_str(), session().file);
}

void begin_execution() {
  Session& now = session();
  now.places.push_back({now.executions++, "", 0, 0});
  now.in_call = false;
  write("X\t" + std::to_string(now.places.back().execution));
}

void end_execution() {
  Session& now = session();
  if (now.places.empty()) return;
  write("x\t" + std::to_string(now.places.back().execution));
  now.places.pop_back();
  end_call();
}

void begin_call(const std::string& group, int column) {
  Session& now = session();
  now.in_call = true;
  now.seed = hash_of(group + " " + std::to_string(column));
  now.position = 0;
  // An error may have left some behind.
  now.draws = now.silences = now.mechanisms = 0;
  now.noise.clear();
  if (now.places.empty()) return;
  Place& place = now.places.back();
  place = {place.execution, group, column, 0};
  write("G\t" + std::to_string(place.execution) + "\t" + group + "\t" + std::to_string(column));
}

void end_call() {
  session().in_call = false;
}

void write_answer(const std::string& group, int column, const std::string& answer) {
  const int execution = session().places.empty() ? 0 : session().places.back().execution;
  write("A\t" + std::to_string(execution) + "\t" + group + "\t" + std::to_string(column) + "\t" +
        answer);
}

const std::string* answer_to_play(const std::string& group, int column) {
  Session& now = session();
  if (now.places.empty()) return nullptr;
  const auto found = now.played.find("A " + key_of(now.places.back().execution, group, column));
  return found == now.played.end() ? nullptr : &found->second;
}

std::uint64_t position_in_call() {
  Session& now = session();
  return now.in_call ? now.seed + ++now.position : 0;
}

void begin_streams_at(std::uint64_t position) {
  session().first_position = position;
}

std::uint64_t first_position() {
  return session().first_position;
}

Draw::Draw(const char* sampler, double parameter, std::size_t count) {
  Session& now = session();
  if (now.draws++ > 0 || now.silences > 0 || now.file == nullptr) return;
  if (now.mechanisms == 0) {
    write("D\t" + std::string(sampler) + "\t" + number(parameter) + "\t" + std::to_string(count));
  } else if (std::string(sampler).starts_with("noise")) {
    now.noise.push_back({sampler, parameter, count});
  }
}

Draw::~Draw() {
  --session().draws;
}

bool is_silent() {
  return session().silences > 0;
}

Silence::Silence() {
  ++session().silences;
}

Silence::~Silence() {
  --session().silences;
}

MechanismCall::MechanismCall(const char* name, const PrivacyParameter& told, std::uint64_t records)
    : noise_before_(session().noise.size()) {
  Session& now = session();
  line_ = "M\t" + std::to_string(now.mechanisms++) + "\t" + name + "\t" +
          (told.measure == PrivacyMeasure::kPure ? "epsilon" : "rho") + "\t" + number(told.value) +
          "\t" + std::to_string(records);
}

MechanismCall::~MechanismCall() {
  Session& now = session();
  --now.mechanisms;
  std::string noise;
  for (std::size_t i = noise_before_; i < now.noise.size(); ++i) {
    const Noise& each = now.noise[i];
    noise += " " + number(each.parameter) + "*" + std::to_string(each.count);
  }
  if (now.mechanisms == 0) now.noise.clear();
  write(line_ + "\t" + public_ + "\t" + inputs_ + "\t" + noise + "\t" + outputs_ + " .");
  if (!now.places.empty()) ++now.places.back().mechanisms;
}

void MechanismCall::add_public(double value) {
  public_ += " " + number(value);
}

void MechanismCall::add_input(std::uint64_t index, int128_t value) {
  if (value != 0) inputs_ += " " + std::to_string(index) + ":" + number(value);
}

void MechanismCall::exchange(std::span<std::uint64_t> outputs) {
  Session& now = session();
  if (!now.places.empty()) {
    const Place& place = now.places.back();
    const std::string name = fields_of(line_)[2];
    const auto found =
        now.played.find(key_of_place(place) + " " + std::to_string(place.mechanisms) + " " + name);
    if (found != now.played.end()) {
      std::istringstream text(found->second);
      for (std::uint64_t& output : outputs) text >> output;
    }
  }
  for (const std::uint64_t output : outputs) outputs_ += " " + std::to_string(output);
}

}  // namespace dpquantile::tape
