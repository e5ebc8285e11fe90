# The attackers: programs that look for faults by themselves. docs/assurance.md says what each of them can see.

# The differential fuzzer's library: the objects that are installed, after some with other randomness. The linker takes the first
# definition of a symbol, and puts the functions of wrapped.hpp in the place of those that they name.
neighbours_objects := $(patsubst test/%.cpp,.build/%.o,$(sort $(wildcard test/neighbours/*.cpp)))
.build/neighbours/%.o: test/neighbours/%.cpp
	@mkdir -p $(@D)
	$(CXX) $(CXXFLAGS) $(CORE_CPPFLAGS) -c -o $@ $<
.build/neighbours/session_tape.o: test/neighbours/session_tape.cpp
	@mkdir -p $(@D)
	$(CXX) $(CXXFLAGS) $(CPPFLAGS) -c -o $@ $<
.build/neighbours/$(MODULE_big).so: $(neighbours_objects) $(OBJS)
	$(CXX) $(CXXFLAGS) -shared -Wl,-z,muldefs $$(nm -u $(neighbours_objects) | sed -n 's/^ *U __real_/-Wl,--wrap=/p') -o $@ $^ $(LDFLAGS) $(SHLIB_LINK)
-include $(neighbours_objects:.o=.d)

neighbours: .build/neighbours/$(MODULE_big).so
	@PG_CONFIG="$(PG_CONFIG)" QUERIES="$(QUERIES)" SEED="$(SEED)" test/neighbours/run.sh

neighbours-mutants: .build/neighbours/$(MODULE_big).so
	@PG_CONFIG="$(PG_CONFIG)" QUERIES="$(QUERIES)" SEED="$(SEED)" test/neighbours/mutants.sh $(MUTANT)

# The message attacker's library, in the same way
.build/messages/faults.o: test/messages/faults.cpp
	@mkdir -p $(@D)
	$(CXX) $(CXXFLAGS) $(CPPFLAGS) -c -o $@ $<
.build/messages/$(MODULE_big).so: .build/messages/faults.o $(OBJS)
	$(CXX) $(CXXFLAGS) -shared $$(nm -u $< | sed -n 's/^ *U __real_/-Wl,--wrap=/p') -o $@ $^ $(LDFLAGS) $(SHLIB_LINK)
-include .build/messages/faults.d

messages: .build/messages/$(MODULE_big).so
	@PG_CONFIG="$(PG_CONFIG)" EFFORT="$(EFFORT)" test/messages/run.sh

messages-mutants: .build/messages/$(MODULE_big).so
	@PG_CONFIG="$(PG_CONFIG)" test/messages/mutants.sh $(MUTANT)

refusals-mutants: all
	@PG_CONFIG="$(PG_CONFIG)" test/refusals/mutants.sh $(MUTANT)

# The library under AddressSanitizer and UndefinedBehaviorSanitizer, for a server that is not.
sanitized_objects := $(patsubst %.o,.build/sanitize/%.o,$(OBJS))
SANITIZED := -O0 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize=null,vptr -U_FORTIFY_SOURCE -D_GLIBCXX_ASSERTIONS
.build/sanitize/src/pg/%.o: src/pg/%.cpp dpquantile.control
	@mkdir -p $(@D)
	$(CXX) $(CXXFLAGS) $(CPPFLAGS) $(SANITIZED) -c -o $@ $<
.build/sanitize/src/core/%.o: src/core/%.cpp
	@mkdir -p $(@D)
	$(CXX) $(CXXFLAGS) $(CORE_CPPFLAGS) $(SANITIZED) -c -o $@ $<
.build/sanitize/$(MODULE_big).so: $(sanitized_objects)
	$(CXX) $(CXXFLAGS) $(SANITIZED) -shared -o $@ $^ $(LDFLAGS) $(SHLIB_LINK)
-include $(sanitized_objects:.o=.d)

sanitize: .build/sanitize/$(MODULE_big).so
	@PG_CONFIG="$(PG_CONFIG)" test/sanitize/run.sh sanitizers $<

sanitize-mutants: .build/sanitize/$(MODULE_big).so
	@PG_CONFIG="$(PG_CONFIG)" test/sanitize/mutants.sh $(MUTANT)

valgrind: all
	@PG_CONFIG="$(PG_CONFIG)" test/sanitize/run.sh memcheck $(MODULE_big).so

# libFuzzer's programs are one file under several names, of the targets. COVERAGE=no takes the sanitized objects of the unit tests
# in place of objects that tell the fuzzer which lines an input reaches: make test has compiled them anyway.
FUZZ_CXX ?= clang++
FUZZ_FLAGS := $(LANGUAGE) -O1 -g1 -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize=vptr \
  -fno-sanitize-recover=all -D_GLIBCXX_ASSERTIONS -Isrc -Itest -MMD -MP
fuzz_objects := $(patsubst test/fuzz/%.cpp,.build/fuzz/%.o,$(sort $(wildcard test/fuzz/*.cpp)))
fuzz_core := $(if $(filter no,$(COVERAGE)),$(CORE_SOURCES:%.cpp=.build/%.o),$(CORE_SOURCES:%.cpp=.build/fuzz/%.o))
.build/fuzz/src/%.o: src/%.cpp
	@mkdir -p $(@D)
	@$(FUZZ_CXX) $(FUZZ_FLAGS) -c -o $@ $<
.build/fuzz/%.o: test/fuzz/%.cpp
	@mkdir -p $(@D)
	@$(FUZZ_CXX) $(FUZZ_FLAGS) -c -o $@ $<
.build/fuzz/run$(if $(filter no,$(COVERAGE)),-blind): $(fuzz_objects) $(fuzz_core)
	@$(FUZZ_CXX) -fsanitize=fuzzer,address,undefined -o $@ $^ -lcrypto -lpthread
-include $(fuzz_objects:.o=.d) $(patsubst %.o,%.d,$(filter .build/fuzz/%,$(fuzz_core)))

fuzz: .build/fuzz/run$(if $(filter no,$(COVERAGE)),-blind)
	@SECONDS_IN_ALL="$(SECONDS_IN_ALL)" TARGETS="$(TARGETS)" test/fuzz/run.sh $<

fuzz-mutants: .build/fuzz/run
	@SECONDS_IN_ALL="$(SECONDS_IN_ALL)" test/fuzz/mutants.sh $(MUTANT)

attack: all
	@PG_CONFIG="$(PG_CONFIG)" SECONDS_IN_ALL="$(SECONDS_IN_ALL)" CALLS="$(CALLS)" SEED="$(SEED)" test/attack/run.sh attack $(MODULE_big).so

attack-mutants: all
	@PG_CONFIG="$(PG_CONFIG)" SECONDS_IN_ALL="$(SECONDS_IN_ALL)" SEED="$(SEED)" test/attack/mutants.sh $(MUTANT)

# A server with the faults of test/chaos/faults.cpp preloads this library.
.build/chaos/faults.so: test/chaos/faults.cpp
	@mkdir -p $(@D)
	$(CXX) $(LANGUAGE) -O2 $(WARNINGS) $(STRICT) -fPIC -shared -o $@ $<

chaos: all .build/chaos/faults.so
	@PG_CONFIG="$(PG_CONFIG)" SECONDS_IN_ALL="$(SECONDS_IN_ALL)" SEED="$(SEED)" EPISODES="$(EPISODES)" test/chaos/run.sh $(MODULE_big).so .build/chaos/faults.so

chaos-mutants: all .build/chaos/faults.so
	@PG_CONFIG="$(PG_CONFIG)" SECONDS_IN_ALL="$(SECONDS_IN_ALL)" SEED="$(SEED)" test/chaos/mutants.sh $(MUTANT)

audit: all .build/adversary
	@PG_CONFIG="$(PG_CONFIG)" SECONDS_IN_ALL="$(SECONDS_IN_ALL)" SEED="$(SEED)" CASES="$(CASES)" CHECKS="$(CHECKS)" test/audit/run.sh $(MODULE_big).so .build/adversary

audit-mutants: all
	@PG_CONFIG="$(PG_CONFIG)" SECONDS_IN_ALL="$(SECONDS_IN_ALL)" test/audit/mutants.sh $(MUTANT)
