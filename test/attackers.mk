# The attackers: programs that look for faults by themselves. docs/assurance.md says what each of them can see.

# The differential fuzzer's library: the objects that are installed, after one with other randomness. The linker takes the first
# definition.
.build/neighbours/noise.o: test/neighbours/noise.cpp
	@mkdir -p $(@D)
	$(CXX) $(CXXFLAGS) $(CORE_CPPFLAGS) -c -o $@ $<
.build/neighbours/$(MODULE_big).so: .build/neighbours/noise.o $(OBJS)
	$(CXX) $(CXXFLAGS) -shared -Wl,-z,muldefs -o $@ $^ $(LDFLAGS) $(SHLIB_LINK)
-include .build/neighbours/noise.d

neighbours: .build/neighbours/$(MODULE_big).so
	@PG_CONFIG="$(PG_CONFIG)" QUERIES="$(QUERIES)" SEED="$(SEED)" test/neighbours/run.sh

neighbours-mutants: .build/neighbours/$(MODULE_big).so
	@PG_CONFIG="$(PG_CONFIG)" QUERIES="$(QUERIES)" SEED="$(SEED)" test/neighbours/mutants.sh $(MUTANT)

