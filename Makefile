# dpquantile: differentially private quantiles for PostgreSQL
#
## The extension, for the server that PG_CONFIG belongs to:
##   make                build it (CI=1: many warnings, all of them errors)
##   make install        install it (needs write access to the server's directories)
##   make uninstall      remove it from there; docs/administrator.md tells what to do before
##   make installcheck   SQL and isolation tests against a running server
##   make clean          remove what was built
##
## From a bare Debian 12, 13 or unstable. Missing packages are installed first (PG_MAJOR=17 chooses a version), then the
## extension, for the PostgreSQL that is used:
##   make demo           a private cluster in ./.demo with the extension and a demo table
##   make psql           psql on it as role analyst; ROLE=postgres for its owner
##   make demo-clean     stop and remove it
##   make test           every test, on throwaway clusters; SUITES="build regress": only these
##   make bi             a dashboard of a BI tool over a protected table; make bi-clean removes it
##   make bi-adminer     the same table in Adminer
##   make distributed    private aggregates on three servers with Citus, which must be installed: docs/citus.md
##   make clients        every driver of docs/languages.md, and the examples there
##   make bench          compare speed and accuracy with other methods
##   make paper          repeat the experiments of the paper on approximate quantiles: docs/experiments.md
##   make deps           only install packages: GROUP=build (default), demo, test, fuzz, clients, bi, bi-adminer, bi-test, bench or chroot
##
## In throwaway Debians, as root (docs/platforms.md; debootstrap is installed if it is missing):
##   make matrix         make test on other systems and versions; ROWS="13 sid": only these
##   make compilers      build and test with GCC 12 to 16 and Clang 14 to 23; ONLY=g++-15: with that one
##   make architectures  test for other processors, mostly under qemu; ONLY=arm64: for that one
##   make upgrade        upgrade PostgreSQL 15 with the last version of the extension to PostgreSQL 17 with this one
##   make packages       build and test all packages; RELEASES="bookworm sid": only these
##
## While developing:
##   make quick          unit tests of src/core without sanitizers; ROOM=quantiles: only that folder's
##   make unit           the same under ASan and UBSan
##   make privacy        tests that try to refute the claimed epsilon
##   make neighbours     random queries of an analyst on databases that differ in one row; QUERIES=80000 SEED=2
##   make messages       faults in each function that rows may call, in memory, files and locks, for one row: what its analyst sees; EFFORT=2 for all
##   make bi-test        look at both in headless Chromium, and check what they were charged
##   make sanitize       SQL, isolation and TAP tests on a server whose extension is under ASan and UBSan; REGRESS="cdf iqr" TAP=state
##   make valgrind       some of the SQL tests under memcheck
##   make fuzz           libFuzzer on decoders and mechanisms of src/core; SECONDS_IN_ALL=3600 TARGETS="cdf_bytes moments"
##   make adversary      look for data on which a mechanism of src/core breaks its statement; SECONDS_IN_ALL=3600 SEED=2 CHECKS=joint
##   make exhaustive     compare the laws of src/core on small data sets with what it claims, and replay it on neighbours; EFFORT=2 CHECKS=joint
##   make audit          search neighbours as make adversary does, and try to refute the epsilon and rho of each function through SQL; SECONDS_IN_ALL=3600 CASES=dp_cdf
##   make attack         random queries against the accounting, while sessions are cancelled; SECONDS_IN_ALL=3600 SEED=2 PRELOADED=0
##   make chaos          kill servers, fill disks, fail fsync, lose standbys while clients ask; SECONDS_IN_ALL=3600 SEED=2
##   make mutants        plant faults, and see which check finds them; OF=neighbours: only what this kind finds; MUTANT=kept_keys: only this one
##   make check-includes compare the includes with the table of rooms in ARCHITECTURE.md
##   make check-docs     check that links and names of pages lead somewhere, and docs/settings.md
##   make reference      write docs/reference.md and functions.md from the database that PGDATABASE and the like name
##   make rooms          draw the picture of the rooms; needs Graphviz
##   make dist           pack the last commit for PGXN
##   make container      build the container and try it; needs Docker
##   make format         clang-format everything; format-check changes nothing
##   scripts/test-one.sh one test of any kind: a unit test, a regress file, a TAP file, ...

.DEFAULT_GOAL := all

EXTENSION = dpquantile
MODULE_big = dpquantile
# The library and its SQL objects must be of the same version: the one of the control file.
EXTVERSION := $(shell sh scripts/version.sh)
CORE_SOURCES := $(sort $(wildcard src/core/*/*.cpp))
PG_SOURCES := $(sort $(wildcard src/pg/*.cpp src/pg/*/*.cpp))
OBJS = $(CORE_SOURCES:.cpp=.o) $(PG_SOURCES:.cpp=.o)
# Of the files of src/sql, by scripts/sql.sh: a script for CREATE EXTENSION, and one for the update of each earlier version.
EARLIER_VERSIONS = $(sort $(foreach step,$(notdir $(wildcard src/sql/updates/*--*.sql)),$(firstword $(subst --, ,$(step)))))
DATA_built = $(foreach version,$(EXTVERSION) $(EARLIER_VERSIONS:%=%--$(EXTVERSION)),.build/sql/dpquantile--$(version).sql)
SQL_SOURCES = $(wildcard src/sql/*.sql src/sql/*/*.sql src/sql/*/*/*.sql)
SHLIB_LINK = -lcrypto -lstdc++ -lpthread
EXTRA_CLEAN = .build $(foreach kind,o d,src/*/*.$(kind) src/*/*/*.$(kind))

REGRESS = $(patsubst sql/%.sql,%,$(sort $(wildcard sql/*.sql)))
# DPQ_PRELOADED=1, for a server that preloads the library, leaves out the tests of what holds without.
ifneq ($(filter-out 0,$(DPQ_PRELOADED)),)
REGRESS := $(filter-out protected_rights protected_tables unrestricted_code,$(REGRESS))
endif
REGRESS_OPTS = --load-extension=dpquantile
# Whether an answer is smaller than its error depends on the noise.
installcheck: export PGOPTIONS += -c dpquantile.note_errors=off
ISOLATION = $(patsubst test/isolation/specs/%.spec,%,$(sort $(wildcard test/isolation/specs/*.spec)))
ISOLATION_OPTS = --inputdir=test/isolation --load-extension=dpquantile
PROVE_TESTS = $(sort $(wildcard test/t/*.pl))

# Without -ffp-contract=off the same value may round into another cell on another processor. The x87 unit, which compilers
# use for 32-bit x86 otherwise, does not round each result to a double.
LANGUAGE := -std=c++20 -ffp-contract=off
ifneq ($(filter i386-% i486-% i586-% i686-%,$(shell $(CXX) -dumpmachine 2>/dev/null)),)
LANGUAGE += -msse2 -mfpmath=sse
endif
WARNINGS := -Wall -Wextra -Wshadow -Wconversion -Wnon-virtual-dtor
CORE_WARNINGS := $(WARNINGS) -Wpedantic -Wsign-conversion
# PostgreSQL's macros would cause the two warnings that are off here.
PG_WARNINGS := $(WARNINGS) -Wno-sign-conversion -Wno-unused-parameter
ifneq ($(filter-out 0 no false,$(CI)),)
# PGXS has warning options of the compiler that built PostgreSQL. Another may not know them.
STRICT := -Werror -Wno-unknown-warning-option
endif

# PRELUDE=yes precompiles headers that most sources include, which saves a third of the compile time. It hides that a source lacks an
# #include, so make matrix does without.
# DEBUG_INFO=-g0 leaves debug information out of the extension and its tests, which saves a fifth of the compile time.

# The targets of test/attackers.mk
ATTACKERS := neighbours messages sanitize valgrind fuzz attack audit chaos mutants

ifeq ($(PG_CONFIG),)
PG_CONFIG := $(shell PG_MAJOR=$(PG_MAJOR) scripts/pg-config.sh)
endif
# Debian's client package has the makefiles of PGXS, but not the server's headers.
ifneq ($(and $(PG_CONFIG),$(wildcard $(shell $(PG_CONFIG) --includedir-server 2>/dev/null)/postgres.h)),)
PGXS := $(shell $(PG_CONFIG) --pgxs)
# No bitcode: PostgreSQL's JIT compiler would read it and inline none of the functions.
override with_llvm := no
include $(PGXS)

# src/core must not see PostgreSQL's headers. For src/pg they are system headers, which cause no warnings.
pg_include_dirs := $(includedir_server) $(includedir_internal)
CORE_CPPFLAGS := -Isrc $(filter-out -I. -I$(srcdir) $(pg_include_dirs:%=-I%),$(CPPFLAGS))
# PostgreSQL's off_t has 64 bits. On processors of 32 bits its headers ask for that, but headers of C++ come before them.
override CPPFLAGS := $(CORE_CPPFLAGS) -D_FILE_OFFSET_BITS=64 -DDPQ_VERSION='"$(EXTVERSION)"' $(addprefix -isystem ,$(pg_include_dirs))
# PostgreSQL loads libraries with RTLD_GLOBAL. Hidden symbols cannot clash with those of another
# extension, and calls to them need no table.
HIDDEN := -fvisibility=hidden -fvisibility-inlines-hidden
override CXXFLAGS += $(LANGUAGE) -O2 $(HIDDEN) -MMD -MP $(STRICT) $(DEBUG_INFO)

$(PG_SOURCES:.cpp=.o): dpquantile.control
src/core/%.o: override CPPFLAGS = $(CORE_CPPFLAGS)
src/core/%.o: override CXXFLAGS += $(if $(STRICT),$(CORE_WARNINGS))
src/pg/%.o: override CXXFLAGS += $(if $(STRICT),$(PG_WARNINGS))
-include $(OBJS:.o=.d)

ifneq ($(filter-out 0 no false,$(PRELUDE)),)
core_prelude := .build/prelude/core.hpp
pg_prelude := .build/prelude/pg.hpp
# Private, or the precompiled header would include itself. A compiler ignores one with other flags, such as -Wpedantic.
src/core/%.o: private override CXXFLAGS += -include $(core_prelude)
src/pg/%.o: private override CXXFLAGS += -include $(pg_prelude)
$(core_prelude).gch: private override CPPFLAGS = $(CORE_CPPFLAGS)
$(core_prelude).gch: private override CXXFLAGS += $(if $(STRICT),$(CORE_WARNINGS))
$(CORE_SOURCES:.cpp=.o): $(core_prelude).gch
$(PG_SOURCES:.cpp=.o): $(pg_prelude).gch
$(core_prelude).gch $(pg_prelude).gch: %.gch:
	@mkdir -p $(@D)
	@printf '#include <%s>\n' algorithm cmath cstdint memory_resource optional span string vector >$*
	@$(if $(filter $(pg_prelude),$*),printf '#include "pg/server/postgres.hpp"\n' >>$*)
	@$(if $(filter $(pg_prelude),$*),printf 'extern "C" {\n#include "%s"\n}\n' access/htup_details.h catalog/pg_type_d.h nodes/makefuncs.h \
	  nodes/nodeFuncs.h optimizer/optimizer.h utils/builtins.h utils/lsyscache.h utils/syscache.h >>$*)
	$(CXX) $(CXXFLAGS) $(CPPFLAGS) -x c++-header -o $@ $*
-include $(core_prelude).d $(pg_prelude).d
endif

# One call writes all of them.
$(wordlist 2,99,$(DATA_built)): $(firstword $(DATA_built))
$(firstword $(DATA_built)): src/sql/README.md $(SQL_SOURCES) scripts/sql.sh dpquantile.control
	@sh scripts/sql.sh $(@D)

# The bitcode of an earlier version must not stay beside this library.
install uninstall: remove-bitcode
remove-bitcode:
	rm -rf '$(DESTDIR)$(pkglibdir)/bitcode/$(MODULE_big)' '$(DESTDIR)$(pkglibdir)/bitcode/$(MODULE_big).index.bc'
.PHONY: remove-bitcode

include test/attackers.mk
else
all install installcheck uninstall $(ATTACKERS):
	@echo "There are no server headers of PostgreSQL$(PG_MAJOR:%= %)$(PG_CONFIG:%=, PG_CONFIG=%)." >&2
	@echo "On Debian 'make deps' installs them. On other systems set PG_CONFIG." >&2
	@exit 1

clean:
	rm -rf $(EXTRA_CLEAN)
endif

SANITIZERS := -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -D_GLIBCXX_ASSERTIONS
GOOGLETEST := -lgtest -lgtest_main

# The tests are compiled with a precompiled <gtest/gtest.h> and headers that most of them include. The optimiser takes a third of the
# compile time of a test. It is worth it for laws, which draw or add up millions of times: those of make privacy, and the long ones of make unit.
optimiser = -O0
test_compile = $(CXX) $(LANGUAGE) -g1 -D_GLIBCXX_ASSERTIONS $(DEBUG_INFO) $(WARNINGS) $(STRICT) -Isrc -Itest $(optimiser)
test_object = $(test_compile) -include .build/test/prelude$(optimiser).hpp -MMD -MP -c -o $@ $<
.build/test/prelude-%.hpp.gch:
	@mkdir -p $(@D)
	@printf '#include <%s>\n' gtest/gtest.h algorithm cmath functional limits map memory_resource optional random span string vector >$(basename $@)
	$(test_compile) -$* -x c++-header -o $@ $(basename $@)
# What both programs need
support_objects := $(patsubst test/%.cpp,.build/test/%.o,$(sort $(wildcard test/support/*.cpp)))
$(support_objects): .build/test/%.o: test/%.cpp
	@mkdir -p $(@D)
	$(test_object)
-include $(support_objects:.o=.d)

# $(1): the target, $(2): its directory in test, $(3): other sources. ROOM=quantiles builds and runs only the tests of that folder.
ifneq ($(ROOM),)
ifeq ($(wildcard test/unit/$(ROOM)/*.cpp),)
$(error ROOM=$(ROOM): there is no folder test/unit/$(ROOM) with tests)
endif
endif
define test_program
$(1)_sources := $(sort $(wildcard test/$(2)/$(or $(ROOM),*)/*.cpp) $(if $(ROOM),,$(wildcard test/$(2)/*.cpp)))
$(1)_others := $(patsubst test/%.cpp,.build/test/$(1)/%.o,$(3))
$(1)_tests := $$($(1)_sources:test/$(2)/%.cpp=.build/test/$(1)/%.o)
$(1)_objects := $$($(1)_tests) $$($(1)_others) $(support_objects)
$(1)_run := .build/test/$(1)/$(if $(ROOM),$(ROOM)/)run
$$($(1)_tests): .build/test/$(1)/%.o: test/$(2)/%.cpp
	@mkdir -p $$(@D)
	$$(test_object)
$$($(1)_others): .build/test/$(1)/%.o: test/%.cpp
	@mkdir -p $$(@D)
	$$(test_object)
$$($(1)_run): $(CORE_SOURCES:.cpp=.o) $$($(1)_objects)
	$$(CXX) -o $$@ $$^ $$(GOOGLETEST) -lcrypto -lpthread
$(1): $$($(1)_run)
	@scripts/run-gtest.sh $$< $$($(1)_filter)
-include $$($(1)_tests:.o=.d) $$($(1)_others:.o=.d)
endef

# make unit links src/core compiled with sanitizers, make quick and make privacy the objects that are installed.
sanitized_core := $(CORE_SOURCES:%.cpp=.build/%.o)
sanitized_compile := $(CXX) $(LANGUAGE) -g1 $(SANITIZERS) $(WARNINGS) $(STRICT) -Isrc
.build/src/%.o: src/%.cpp .build/src/prelude.hpp.gch
	@mkdir -p $(@D)
	$(sanitized_compile) -include .build/src/prelude.hpp -MMD -MP -c -o $@ $<
# Headers that most of src/core includes. Only this build has them read once, so others find a missing #include.
.build/src/prelude.hpp.gch:
	@mkdir -p $(@D)
	@printf '#include <%s>\n' algorithm cmath functional memory_resource span string vector >$(@D)/prelude.hpp
	$(sanitized_compile) -x c++-header -o $@ $(@D)/prelude.hpp
-include $(sanitized_core:.o=.d)
adversary_checks := $(filter-out test/adversary/main.cpp,$(wildcard test/adversary/*.cpp))
$(eval $(call test_program,quick,unit))
$(eval $(call test_program,privacy,privacy,$(adversary_checks)))
# -O2 would make none of them faster: src/core draws.
law_objects := $(privacy_tests) $(privacy_others) $(support_objects) \
  $(filter $(quick_tests),$(shell sed '/^#/d; s|^|.build/test/quick/|; s/ .*/.o/' test/unit/long_tests.txt | sort -u))
$(law_objects): optimiser = -O1
$(law_objects): .build/test/prelude-O1.hpp.gch
$(filter-out $(law_objects),$(quick_tests)): .build/test/prelude$(optimiser).hpp.gch
# The sanitizers see src/core, and not its tests, which are compiled once for both programs. Of an inline function of both the linker takes
# the first, that of src/core.
unit_run := .build/test/unit/$(if $(ROOM),$(ROOM)/)run
$(unit_run): $(sanitized_core) $(quick_objects)
	@mkdir -p $(@D)
	$(CXX) $(SANITIZERS) -o $@ $^ $(GOOGLETEST) -lcrypto -lpthread
unit: $(unit_run)
	@scripts/run-gtest.sh $< $(unit_filter)

# The same checks on shapes without end.
.build/test/privacy/adversary/main.o: test/adversary/main.cpp
	@mkdir -p $(@D)
	$(test_compile) -O2 -MMD -MP -c -o $@ $<
.build/adversary: .build/test/privacy/adversary/main.o $(privacy_others) $(support_objects) $(CORE_SOURCES:.cpp=.o)
	$(CXX) -o $@ $^ -lcrypto -lpthread
adversary: .build/adversary
	@$< $(or $(SECONDS_IN_ALL),300) $(or $(SEED),1) "$(CHECKS)"
-include .build/test/privacy/adversary/main.d

# The laws of src/core by enumeration: test/exhaustive/README.md. Some sources are compiled anew: with the headers of random numbers and
# positions that sed makes here, with the samplers of test/exhaustive/instead, and with other names for the mechanisms that primitives.cpp
# wraps. Positions have 3 bits within their cell, in place of 24.
exhaustive_headers := $(addprefix .build/exhaustive/include/core/,privacy/random.hpp exponential/rank.hpp)
exhaustive_renamed := $(addprefix src/core/,exponential/exponential_mechanism.cpp exponential/joint_mechanism.cpp user_level/levy_interval.cpp \
  user_level/window_interval.cpp privacy/nested_laplace.cpp)
exhaustive_anew := $(exhaustive_renamed) $(addprefix src/core/,exponential/joint_chain.cpp exponential/rank.cpp exponential/rank_slots.cpp \
  exponential/small_joint_mechanism.cpp quantiles/independent_quantiles.cpp quantiles/quantiles.cpp quantiles/recursive_quantiles.cpp \
  selection/group_selection.cpp)
exhaustive_objects := $(patsubst test/exhaustive/%.cpp,.build/exhaustive/%.o,$(sort $(wildcard test/exhaustive/*.cpp))) \
  $(exhaustive_anew:%.cpp=.build/exhaustive/%.o)
EXHAUSTIVE := $(LANGUAGE) -O1 $(DEBUG_INFO) $(WARNINGS) $(STRICT) -I.build/exhaustive/include -Itest/exhaustive/instead -Isrc -Itest -MMD -MP
.build/exhaustive/include/core/privacy/random.hpp: src/core/privacy/random.hpp
	@mkdir -p $(@D)
	@sed 's|double unit_real();|exhaustive::UniformDraw unit_real() { return {}; }\n  std::uint64_t site() const;|; s|^#include "core/base/int128.hpp"|&\n#include "exhaustive/uniform_draw.hpp"|' $< >$@
.build/exhaustive/include/core/exponential/rank.hpp: src/core/exponential/rank.hpp
	@mkdir -p $(@D)
	@sed 's|kPositionBits = 24;|kPositionBits = 3;|' $< >$@
.build/exhaustive/src/%.o: src/%.cpp $(exhaustive_headers)
	@mkdir -p $(@D)
	$(CXX) $(EXHAUSTIVE) -c -o $@ $<
.build/exhaustive/%.o: test/exhaustive/%.cpp $(exhaustive_headers)
	@mkdir -p $(@D)
	$(CXX) $(EXHAUSTIVE) -c -o $@ $<
$(exhaustive_renamed:%.cpp=.build/exhaustive/%.o): EXHAUSTIVE += $(foreach name,quantile_position joint_positions levy_interval window_interval more_laplace,-Ddraw_$(name)=real_draw_$(name))
.build/exhaustive/run: $(exhaustive_objects) $(filter-out $(exhaustive_anew:.cpp=.o) src/core/privacy/random.o src/core/privacy/noise.o,$(CORE_SOURCES:.cpp=.o))
	$(CXX) -Wl,-z,muldefs -o $@ $^ -lcrypto -lpthread
exhaustive: .build/exhaustive/run
	@$< "$(CHECKS)" $(or $(EFFORT),1)
.SECONDARY: $(exhaustive_headers)
-include $(exhaustive_objects:.o=.d)

# make unit runs the tests of this list without sanitizers, unless LONG_TESTS is empty.
LONG_TESTS ?= test/unit/long_tests.txt
ifeq ($(ROOM),)
long_tests := $(if $(LONG_TESTS),$(shell sed '/^#/d; s/.* //' $(LONG_TESTS) | paste -sd:))
endif
ifneq ($(long_tests),)
unit_filter := '-$(long_tests)'
long-tests: $(quick_run)
	@scripts/run-gtest.sh $< '$(long_tests)'
unit: long-tests
endif

bench_programs := $(addprefix .build/,accuracy cdf_accuracy iqr_accuracy moments_accuracy bounds_accuracy persons_accuracy user_accuracy quantile_time final_step_time paper_figures)
bench_headers := $(wildcard test/bench/*.hpp)
chart_sources := $(addprefix test/bench/,line_chart.cpp chart_panel.cpp svg_elements.cpp)
.build/accuracy: test/bench/quantile_limits.cpp $(addprefix test/support/,quantile_limit.cpp chain_limit.cpp prefix_sum_limit.cpp) $(bench_headers)
.build/cdf_accuracy: test/support/prefix_sum_limit.cpp
.build/moments_accuracy: test/support/chain_limit.cpp $(bench_headers)
.build/bounds_accuracy: $(bench_headers)
.build/user_accuracy: $(addprefix test/bench/,expected_mean_error.cpp user_errors.cpp user_limits.cpp user_grid_accuracy.cpp) test/support/chain_limit.cpp $(chart_sources) $(bench_headers)
.build/paper_figures: $(addprefix test/bench/,gap_table.cpp panel_chart.cpp) $(chart_sources) $(bench_headers)
$(bench_programs): .build/%: test/bench/%.cpp $(CORE_SOURCES:.cpp=.o) $(wildcard src/core/*/*.hpp test/support/*.hpp)
	@mkdir -p $(@D)
	$(CXX) $(LANGUAGE) -O2 $(CORE_WARNINGS) $(STRICT) -Isrc -Itest -o $@ $(filter %.cpp %.o,$^) -lcrypto -lpthread

upgrade:
	@scripts/upgrade.sh

deps:
	@scripts/install-deps.sh $(or $(GROUP),build)

demo:
	@scripts/demo.sh

psql:
	@scripts/demo.sh psql $(or $(ROLE),analyst)

demo-clean:
	@scripts/demo.sh clean

test:
	@SUITES="$(SUITES)" scripts/test.sh

distributed:
	@SUITES=distributed scripts/test.sh

matrix:
	@ROWS="$(ROWS)" SUITES="$(SUITES)" POSTGRES_16_SOURCE="$(POSTGRES_16_SOURCE)" scripts/matrix.sh

clients:
	@test/clients/run.sh

bi:
	@examples/bi/run.sh

bi-adminer:
	@examples/bi/run.sh adminer

bi-test:
	@examples/bi/run.sh test

bi-clean:
	@examples/bi/run.sh clean

bench:
	@scripts/install-deps.sh bench
	@test/bench/run.sh

paper:
	@scripts/install-deps.sh demo
	@test/bench/paper.sh

compilers architectures:
	@scripts/portability.sh $@ $(ONLY)

check-includes:
	@perl scripts/check-includes.pl

check-docs:
	@perl scripts/check-docs.pl

reference:
	@for page in reference functions; do \
	  psql -XAtq -f scripts/$$page.sql >docs/$$page.md.new && mv docs/$$page.md.new docs/$$page.md || { rm -f docs/$$page.md.new; exit 1; }; \
	done

rooms:
	@perl scripts/check-includes.pl --dot | dot -Tsvg -o docs/rooms.svg

distribution := dpquantile-$(EXTVERSION)
dist:
	git -c safe.directory="$(CURDIR)" archive --format=zip --prefix=$(distribution)/ -o $(distribution).zip HEAD

packages:
	@scripts/packages.sh $(RELEASES)

container:
	@scripts/check-container.sh

CLANG_FORMAT ?= clang-format
FORMATTED = $(shell find src test -name '*.[ch]pp')

format:
	$(CLANG_FORMAT) -i $(FORMATTED)

format-check:
	$(CLANG_FORMAT) --dry-run -Werror $(FORMATTED)

help:
	@sed -n 's/^## \{0,1\}//p' Makefile

.PHONY: all install installcheck uninstall clean unit long-tests quick privacy adversary exhaustive deps demo psql demo-clean test distributed matrix clients \
	bi bi-adminer bi-test bi-clean bench \
	paper upgrade check-includes check-docs reference rooms format format-check help dist packages container compilers architectures \
	$(ATTACKERS)
