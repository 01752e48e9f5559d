# What only developers build: unit tests, programs to record, fuzzers, measurements. Included by ../Makefile.
#
#   tests/unit/test_*.c      one program each, with cmocka, all of lib/ compiled with -fsanitize=address,undefined
#                            those of THREAD_TESTS a second time with -fsanitize=thread
#   tests/unit/web/          the same for the modules of the page; tests/e2e/test_page_parts runs them
#   tests/fuzz/fuzz_*.c      LLVMFuzzerTestOneInput(); `make check` feeds each the files of tests/fuzz/corpus/NAME and all
#                            their truncations, `make fuzz` lets libFuzzer search on from there
#   tests/targets/*.c ...    programs to record; the words after "build:" in their first comment are compiler flags
#   tests/e2e/test_*         programs that print TAP; $PROF is the binary, $TARGETS the directory of the targets
#   tests/accuracy/test_*    the same: figures of profiles against the truth
#   tests/kernels           what `make check-kernels` runs in virtual machines, with the kernels of other releases
#   tests/collector          a run against a real OpenTelemetry Collector, with `make collector`
#   tests/bench/bench_*      programs that print measurements. C files are compiled like prof: bench_*.c and
#                            generate_*.c (which make input) to programs, the others are linked into each of them

# qemu-user does not run programs with sanitizers.
SANITIZE    := $(if $(CROSS),,-fsanitize=address,undefined -fno-sanitize-recover=undefined)
TEST_CFLAGS := $(BASE_CFLAGS) -Wno-missing-field-initializers -O1 -g $(SANITIZE)
SECONDS     ?= 60

UNIT_TESTS   := $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/unit/test_*.c))
# What has threads: the symbolizer and its cache, fetches from debug servers, the HTTP server and its requests.
THREAD_TESTS := $(patsubst %,$(BUILD)/tsan/unit/test_%,symbol_threads symbol_cache symbolicate debug_server serve)
TSAN_OBJECTS := $(LIB_SOURCES:%.c=$(BUILD)/tsan/%.o)
FUZZERS      := $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_CHECKS  := $(FUZZERS:%=$(BUILD)/tests/fuzz/%)
# The same with clang, whose undefined-behaviour sanitizer, that of `make fuzz`, finds more: NULL + 0, for one.
ifneq ($(filter check%,$(MAKECMDGOALS)),)
CLANG_CHECKS := $(if $(shell echo 'int main(void) { return 0; }' | $(CLANG) -x c -fsanitize=undefined -o /dev/null - 2>/dev/null && echo yes),\
                     $(FUZZERS:%=$(BUILD)/clang/fuzz/%))
endif
TEST_OBJECTS := $(if $(CROSS),$(LIB_OBJECTS),$(LIB_SOURCES:%.c=$(BUILD)/tests/%.o))
SCRIPTS      := $(wildcard tests/e2e/test_* tests/accuracy/test_*)
TARGETS      := $(BUILD)/targets
HAVE          = $(if $(shell command -v $(1)),$(2))
TARGET_PROGRAMS := $(patsubst tests/targets/%.c,$(TARGETS)/%,$(wildcard tests/targets/*.c)) \
                   $(patsubst tests/targets/%.cpp,$(TARGETS)/%,$(wildcard tests/targets/*.cpp)) \
                   $(call HAVE,go,$(patsubst tests/targets/%.go,$(TARGETS)/%,$(wildcard tests/targets/*.go))) \
                   $(call HAVE,rustc,$(patsubst tests/targets/%.rs,$(TARGETS)/%,$(wildcard tests/targets/*.rs)))
BENCHES := $(filter-out %.c,$(wildcard tests/bench/bench_*)) \
           $(patsubst tests/bench/%.c,$(BUILD)/bench/%,$(wildcard tests/bench/bench_*.c))
BENCH_TOOLS  := $(patsubst tests/bench/%.c,$(BUILD)/bench/%,$(wildcard tests/bench/generate_*.c))
BENCH_SHARED := $(patsubst %.c,$(BUILD)/%.o,$(filter-out tests/bench/bench_% tests/bench/generate_%,$(wildcard tests/bench/*.c)))

check:
	@sh .ci/deps build test
	@$(MAKE) $(JOBS) --no-print-directory check-programs
	@$(MAKE) --no-print-directory check-only

# What `make check` builds, and the tests alone, for those who have everything installed.
check-programs: all $(UNIT_TESTS) $(THREAD_TESTS) $(FUZZ_CHECKS) $(CLANG_CHECKS) $(TARGET_PROGRAMS) $(if $(wildcard web/build.mjs),web/node_modules/.stamp-dev) \
    $(if $(ARM64_FILES),arm64-programs)
check-only: check-programs
	@PROF=$(abspath $(BUILD)/prof) BUILD=$(abspath $(BUILD)) TARGETS=$(abspath $(TARGETS)) \
	    tests/run $(UNIT_TESTS) $(THREAD_TESTS) $(FUZZ_CHECKS) $(CLANG_CHECKS) $(SCRIPTS)

# One script or unit test by its name: make test T=test_waits
NAMED_UNITS   := $(if $(T),$(filter %/$(T),$(UNIT_TESTS) $(THREAD_TESTS) $(FUZZ_CHECKS)))
NAMED_SCRIPTS := $(if $(T),$(filter %/$(T),$(SCRIPTS)))
test:
	$(if $(NAMED_UNITS)$(NAMED_SCRIPTS),,$(error make test T=NAME runs the script or unit test with that name, such as T=test_waits))
	@$(MAKE) $(JOBS) --no-print-directory $(NAMED_UNITS) $(if $(NAMED_SCRIPTS),all targets) \
	    $(if $(filter tests/e2e/test_page%,$(NAMED_SCRIPTS)),$(if $(wildcard web/build.mjs),web/node_modules/.stamp-dev))
	@PROF=$(abspath $(BUILD)/prof) BUILD=$(abspath $(BUILD)) TARGETS=$(abspath $(TARGETS)) tests/run $(NAMED_UNITS) $(NAMED_SCRIPTS)

$(BUILD)/tests/lib/%.o: lib/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(TEST_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/tests/libprof.a: $(TEST_OBJECTS)
	@mkdir -p $(@D)
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

$(UNIT_TESTS): $(BUILD)/tests/%: tests/%.c $(BUILD)/tests/libprof.a
	@mkdir -p $(@D)
	$(call say,TEST,$@)
	$(Q)$(CC) $(TEST_CFLAGS) -Itests -MMD -MP -o $@ $< $(BUILD)/tests/libprof.a $(TEST_LDFLAGS) -lcmocka -lz $(LIBS)

$(BUILD)/tests/unit/test_file_output: TEST_LDFLAGS = $(addprefix -Wl$(comma)--wrap=,fsync fdatasync renameat)
$(BUILD)/tests/unit/test_out_of_memory: TEST_LDFLAGS = $(addprefix -Wl$(comma)--wrap=,malloc calloc realloc aligned_alloc strdup)

$(BUILD)/tsan/lib/%.o: lib/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,TSAN,$@)
	$(Q)$(CC) $(BASE_CFLAGS) -O1 -g -fsanitize=thread -MMD -MP -c -o $@ $<

$(BUILD)/tsan/libprof.a: $(TSAN_OBJECTS)
	$(Q)rm -f $@ && ar rcs $@ $^

$(THREAD_TESTS): $(BUILD)/tsan/%: tests/%.c $(BUILD)/tsan/libprof.a
	@mkdir -p $(@D)
	$(call say,TSAN,$@)
	$(Q)$(CC) $(BASE_CFLAGS) -Wno-missing-field-initializers -O1 -g -fsanitize=thread -Itests -MMD -MP -o $@ $< \
	    $(BUILD)/tsan/libprof.a -lcmocka -lz $(LIBS)

$(FUZZ_CHECKS): $(BUILD)/tests/%: tests/%.c tests/fuzz/replay.c $(BUILD)/tests/libprof.a
	@mkdir -p $(@D)
	$(call say,TEST,$@)
	$(Q)$(CC) $(TEST_CFLAGS) -Itests -MMD -MP -o $@ $< tests/fuzz/replay.c $(BUILD)/tests/libprof.a -lz $(LIBS)

CLANG_OBJECTS := $(LIB_SOURCES:%.c=$(BUILD)/clang/%.o)
CLANG_CFLAGS   = $(BASE_CFLAGS) -O1 -g -fsanitize=undefined -fno-sanitize-recover=undefined

$(BUILD)/clang/lib/%.o: lib/%.c
	@mkdir -p $(@D)
	$(call say,CLANG,$@)
	$(Q)$(CLANG) $(CLANG_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/clang/libprof.a: $(CLANG_OBJECTS)
	$(Q)rm -f $@ && ar rcs $@ $^

$(FUZZERS:%=$(BUILD)/clang/fuzz/%): $(BUILD)/clang/%: tests/%.c tests/fuzz/replay.c $(BUILD)/clang/libprof.a
	@mkdir -p $(@D)
	$(call say,CLANG,$@)
	$(Q)$(CLANG) $(CLANG_CFLAGS) -Itests -o $@ $< tests/fuzz/replay.c $(BUILD)/clang/libprof.a -lz $(LIBS)

# ---- another processor ----

# With ARCH: unit tests that need neither ptrace nor perf events, which qemu-user lacks.
EMULATED_UNITS := $(addprefix $(BUILD)/tests/unit/test_,unwind_own_stack)
check-emulated: all $(EMULATED_UNITS)
	@set -e; for program in "$(BUILD)/prof --version" $(EMULATED_UNITS); do qemu-$(ARCH) $$program; done

# ---- programs to record ----

flags_in = $(shell sed -n '1,10s,^.*build: *\([^*]*\).*$$,\1,p' $(1))

$(TARGETS)/%: tests/targets/%.c
	@mkdir -p $(@D)
	$(call say,TARGET,$@)
	$(Q)$(CC) -O2 -g -o $@ $< $(or $(call flags_in,$<),-lm -pthread)

$(TARGETS)/%: tests/targets/%.cpp
	@mkdir -p $(@D)
	$(call say,TARGET,$@)
	$(Q)$(CXX) -O2 -g -o $@ $< $(or $(call flags_in,$<),-lm -pthread)

$(TARGETS)/%: tests/targets/%.go
	@mkdir -p $(@D)
	$(call say,TARGET,$@)
	$(Q)GO111MODULE=off GOFLAGS= $(if $(CROSS),GOARCH=arm64 CGO_ENABLED=0) go build -o $@ $<

$(TARGETS)/%: tests/targets/%.rs
	@mkdir -p $(@D)
	$(call say,TARGET,$@)
	$(Q)rustc -O -g -o $@ $<

targets: $(TARGET_PROGRAMS)

# ---- agreement of CPU time with the kernel's count, of waits with the clocks of their threads ----

# `make check` tests the CPU time of the same programs without the busy processes.
BUSY ?= 4

accuracy: all $(TARGETS)/cpu_shapes $(TARGETS)/wait_truth
	@set -e; for test in test_cpu_sum wait_truth; do for busy in 0 $(BUSY); do \
	    PROF=$(abspath $(BUILD)/prof) TARGETS=$(abspath $(TARGETS)) tests/accuracy/$$test --table $$busy; done; done

# ---- kernels of other releases ----

# Each boots in a virtual machine: up to 110 s of CPU time, at most 30 minutes. The first run downloads them. With ARCH,
# prof and the programs are those of the cross compiler.
KERNELS        = $(shell sed -n 's/^\($(if $(CROSS),arm64,linux)-[^ ]*\).*/\1/p' tests/kernels/list)
KERNEL_TARGETS = $(addprefix $(TARGETS)/,contexts deep gobusy jit_writer sorting throwing waits $(if $(CROSS),sorting_signed sorting_musl))
KERNEL_PROF    = $(if $(CROSS),$(BUILD)/prof,$(PORTABLE)/prof)

kernel-programs: $(if $(CROSS),all,portable) $(KERNEL_TARGETS)
check-kernels: kernel-programs
	@sh .ci/deps $(if $(CROSS),arm64,kernels)
	@mkdir -p $(BUILD)/kernels
	@ln -sf $(abspath tests/kernels/boot) $(BUILD)/kernels/boot
	@for kernel in $(KERNELS); do ln -sf boot $(BUILD)/kernels/$$kernel; done
	@PROF=$(abspath $(KERNEL_PROF)) BUILD=$(abspath $(BUILD)) TARGETS=$(abspath $(TARGETS)) SYSROOT=$(if $(CROSS),$(shell $(CC) -print-sysroot)) \
	    TIMEOUT_SECONDS=1800 tests/run $(KERNELS:%=$(BUILD)/kernels/%)

# The same for arm64. The compiler of a caller, such as CC=clang, is not that of arm64.
ARM64_TOOLS = $(abspath $(BUILD)/arm64)
MAKE_ARM64  = PATH=$$PATH:$(ARM64_TOOLS)/bin $(MAKE) $(JOBS) --no-print-directory ARCH=aarch64 CC=aarch64-linux-gnu-gcc CXX=aarch64-linux-gnu-g++
check-arm64:
	@command -v aarch64-linux-gnu-gcc >/dev/null || [ -e $(ARM64_TOOLS)/bin/qemu-aarch64 ] || packaging/make-arm64-tools $(ARM64_TOOLS)
	@$(MAKE_ARM64) check-kernels

# What tests/e2e/test_arm64 boots. It downloads nothing, so `make check` runs it only after a `make check-arm64`.
ARM64_FILES = $(and $(shell command -v qemu-system-aarch64),$(wildcard $(BUILD)-aarch64/kernels/root-arm64))
arm64-programs:
	@$(MAKE_ARM64) kernel-programs

# Return addresses with signatures, landing pads of indirect jumps, and no frame pointers.
$(TARGETS)/sorting_signed: tests/targets/sorting.c
	@mkdir -p $(@D)
	$(call say,TARGET,$@)
	$(Q)$(CC) -O2 -g -fomit-frame-pointer -mbranch-protection=standard -o $@ $<

# Static, without CFI in its own code.
MUSL = $(BUILD)/kernels/musl/usr/lib/aarch64-linux-musl
$(TARGETS)/sorting_musl: tests/targets/sorting.c
	@mkdir -p $(@D) $(BUILD)/kernels
	$(call say,TARGET,$@)
	$(Q)tests/kernels/fetch-packages $(BUILD)/kernels/musl arm64 http://deb.debian.org/debian bookworm musl-dev
	$(Q)$(CC) -O2 -g -fomit-frame-pointer -fno-asynchronous-unwind-tables -static -nostdinc -isystem $(subst /lib/,/include/,$(MUSL)) -nostdlib \
	    -o $@ $(MUSL)/crt1.o $< $(MUSL)/libc.a -lgcc

# ---- agreement with other symbolizers ----

# All programs that tests/support/agreement.h has, ADDRESSES places in each, against llvm-symbolizer and libdw.
# `make check` takes fewer of both.
ADDRESSES  ?= 4000
AGREEMENTS := $(BUILD)/tests/unit/test_symbol_llvm $(BUILD)/tests/unit/test_symbol_libdw

agreement: $(AGREEMENTS)
	@set -e; for test in $(AGREEMENTS); do AGREEMENT_ADDRESSES=$(ADDRESSES) $$test; done

# ---- a real OpenTelemetry Collector ----

# Builds the Collector from its Go modules, in some minutes, and records for SECONDS, during which it is killed twice.
COLLECTOR := $(BUILD)/collector

$(COLLECTOR)/collector: tests/collector/builder.yaml
	@mkdir -p $(@D)
	$(call say,COLLECTOR,$@)
	$(Q)sed 's,^  name:,  output_path: $(COLLECTOR)\n&,' $< >$(COLLECTOR)/builder.yaml
	$(Q)go run go.opentelemetry.io/collector/cmd/builder@v0.165.0 --config $(COLLECTOR)/builder.yaml >$(COLLECTOR)/log 2>&1 || \
	    { tail -20 $(COLLECTOR)/log; exit 1; }

collector: all $(TARGET_PROGRAMS) $(COLLECTOR)/collector
	@PROF=$(abspath $(BUILD)/prof) TARGETS=$(abspath $(TARGETS)) tests/collector/check $(abspath $(COLLECTOR)/collector) $(SECONDS)

# ---- fuzzing ----

FUZZ_OBJECTS := $(LIB_SOURCES:%.c=$(BUILD)/fuzz/%.o)

$(BUILD)/fuzz/lib/%.o: lib/%.c
	@mkdir -p $(@D)
	$(call say,FUZZ,$@)
	$(Q)$(CLANG) $(BASE_CFLAGS) -O1 -g -fsanitize=fuzzer-no-link,address,undefined \
	    -fno-sanitize-recover=undefined -MMD -MP -c -o $@ $<

$(BUILD)/fuzz/libprof.a: $(FUZZ_OBJECTS)
	$(Q)rm -f $@ && ar rcs $@ $^

$(FUZZERS:%=$(BUILD)/fuzz/%): $(BUILD)/fuzz/%: tests/fuzz/%.c $(BUILD)/fuzz/libprof.a
	$(call say,FUZZ,$@)
	$(Q)$(CLANG) $(BASE_CFLAGS) -O1 -g -Itests -fsanitize=fuzzer,address,undefined \
	    -fno-sanitize-recover=undefined -o $@ $< $(BUILD)/fuzz/libprof.a -lz $(LIBS)

# Each fuzzer in turn, for SECONDS. What it finds new stays in build/fuzz/corpus; a crash is written to build/fuzz.
fuzz:
	@sh .ci/deps build fuzz
	@$(MAKE) $(JOBS) --no-print-directory $(FUZZERS:%=$(BUILD)/fuzz/%)
	$(Q)set -e; for name in $(FUZZERS:fuzz_%=%); do \
	    echo "  FUZZ $$name, $(SECONDS) s"; \
	    mkdir -p $(BUILD)/fuzz/corpus/$$name tests/fuzz/corpus/$$name; \
	    $(BUILD)/fuzz/fuzz_$$name -max_total_time=$(SECONDS) -timeout=10 -rss_limit_mb=2048 -max_len=65536 \
	        -print_final_stats=1 -artifact_prefix=$(BUILD)/fuzz/ \
	        $(BUILD)/fuzz/corpus/$$name tests/fuzz/corpus/$$name 2>$(BUILD)/fuzz/$$name.log || \
	        { tail -40 $(BUILD)/fuzz/$$name.log; exit 1; }; \
	    grep -E 'stat::(number_of_executed_units|peak_rss_mb)' $(BUILD)/fuzz/$$name.log; \
	done

# ---- measurements ----

$(filter $(BUILD)/%,$(BENCHES)) $(BENCH_TOOLS): $(BUILD)/bench/%: $(BUILD)/tests/bench/%.o $(BENCH_SHARED) $(LIB_OBJECTS)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

bench:
	@sh .ci/deps build test
	@$(MAKE) $(JOBS) --no-print-directory all $(TARGET_PROGRAMS) $(filter $(BUILD)/%,$(BENCHES)) $(BENCH_TOOLS) \
	    $(if $(wildcard web/build.mjs),web/node_modules/.stamp-dev)
	@set -e; for bench in $(BENCHES); do \
	    PROF=$(abspath $(BUILD)/prof) BUILD=$(abspath $(BUILD)) TARGETS=$(abspath $(TARGETS)) $$bench; done

# ---- static checks ----

C_FILES      := $(wildcard web/*.c lib/*/*.c lib/*/*.h cmd/*.c cmd/*.h cmd/*/*.c cmd/*/*.h tests/*/*.c tests/*/*.h)
CLANG_FORMAT ?= $(shell command -v clang-format-14 || echo clang-format)
CLANG_TIDY   ?= $(shell command -v clang-tidy-14 || echo clang-tidy)
# The omitted checks are matters of taste (swappable parameters, assignments in conditions, names, macros), duplicates of -Wall,
# widening and narrowing (intended for the sizes of formats, and UBSan checks the values), sizeof of a pointer
# (bugprone-sizeof-expression takes array.h for a mistake), texts that are truncated without a NUL on purpose, and advice to
# use the functions of C11 annex K, which glibc does not have.
comma := ,
empty :=
TIDY_CHECKS := $(subst $(empty) ,$(comma),$(strip -* bugprone-* misc-misleading-* misc-redundant-expression misc-unused-* \
    performance-* portability-* readability-duplicate-include readability-misleading-indentation \
    readability-inconsistent-declaration-parameter-name readability-misplaced-array-index \
    readability-redundant-control-flow clang-analyzer-* \
    -bugprone-assignment-in-if-condition -bugprone-easily-swappable-parameters -bugprone-implicit-widening* \
    -bugprone-macro-parentheses -bugprone-multi-level-implicit-pointer-conversion -bugprone-narrowing-conversions \
    -bugprone-not-null-terminated-result -bugprone-reserved-identifier -bugprone-sizeof-expression \
    -bugprone-suspicious-string-compare -bugprone-switch-missing-default-case -misc-unused-parameters \
    -performance-no-int-to-ptr -clang-analyzer-security.insecureAPI.DeprecatedOrUnsafeBufferHandling))

lint:
	@sh .ci/deps build lint
	@$(MAKE) $(JOBS) --no-print-directory lint-format lint-output lint-includes lint-tidy lint-cppcheck lint-web

lint-format:
	$(call say,FORMAT,$(words $(C_FILES)) files)
	$(Q)$(CLANG_FORMAT) --dry-run -Werror $(C_FILES)

lint-output:
	$(call say,OUTPUT,cmd lib)
	$(Q)tests/lint-output $(CMD_SOURCES) $(wildcard lib/*/*.c)

lint-includes:
	$(call say,INCLUDES,cmd lib)
	$(Q)tests/lint-includes

lint-tidy: $(patsubst %,$(BUILD)/tidy/%,$(sort $(LIB_SOURCES) $(CMD_SOURCES) $(WASM_SOURCES)))

$(BUILD)/tidy/%: %
	$(call say,TIDY,$<)
	$(Q)$(CLANG_TIDY) --quiet --checks='$(TIDY_CHECKS)' --warnings-as-errors='*' $< -- $(BASE_CFLAGS) 2>/dev/null
	@mkdir -p $(@D) && touch $@

# The suppressed ones are typeof() of a member, the address of a variable that is only written, and >> of a negative number,
# which gcc and clang define.
lint-cppcheck:
	$(call say,CPPCHECK,lib cmd)
	$(Q)cppcheck --quiet --enable=warning,performance,portability --inline-suppr --error-exitcode=1 --std=c11 -Ilib -I. \
	    --suppress=missingIncludeSystem --suppress=shiftTooManyBitsSigned --suppress=nullPointer:lib/profile/raw.c \
	    --suppress=nullPointer:lib/spool/record_kinds.h \
	    --suppress=uninitvar:lib/process/tracker.c -j$(shell nproc) lib cmd

lint-web: $(if $(wildcard web/build.mjs),web/node_modules/.stamp-dev $(LAYOUT))
	$(call say,BIOME,web)
	$(Q)$(if $(wildcard web/build.mjs),cd web && $(NPM) run --silent lint && $(NPM) run --silent check)

# ---- files for editors ----

# A command for each C file, for clangd and its like: prof's own flags, those of the unit tests for the rest. The files
# of the WebAssembly exports compile natively, too.
in_shell = '$(subst ','\'',$(1))'

compile_commands.json:
	$(call say,JSON,$@)
	$(Q)printf '%s\n' $(filter %.c,$(C_FILES)) | prof=$(call in_shell,$(CC) $(ALL_CFLAGS)) \
	    tests=$(call in_shell,$(CC) $(TEST_CFLAGS) -Itests) directory=$(call in_shell,$(CURDIR)) awk ' \
	    function in_json(text) { gsub(/["\\]/, "\\\\&", text); return "\"" text "\"" } \
	    { command = ENVIRON[($$0 ~ /^tests/) ? "tests" : "prof"] " -c " $$0; \
	      printf "%s{\"directory\": %s, \"file\": %s, \"command\": %s}", (NR > 1 ? ",\n" : "[\n"), \
	             in_json(ENVIRON["directory"]), in_json($$0), in_json(command) } \
	    END { print "\n]" }' >$@

tags:
	$(call say,TAGS,$@)
	$(Q)command -v ctags >/dev/null || { echo "ctags is not installed: apt-get install universal-ctags" >&2; exit 1; }
	$(Q)ctags -o $@ $(C_FILES)

BENCH_OBJECTS := $(BENCHES:$(BUILD)/bench/%=$(BUILD)/tests/bench/%.o) $(BENCH_TOOLS:$(BUILD)/bench/%=$(BUILD)/tests/bench/%.o)
.SECONDARY: $(filter $(BUILD)/%,$(BENCH_OBJECTS))

.PHONY: check kernel-programs check-kernels check-arm64 arm64-programs check-emulated check-programs check-only test targets accuracy agreement collector fuzz bench lint lint-format lint-output lint-includes lint-tidy \
        lint-cppcheck lint-web compile_commands.json tags
-include $(TEST_OBJECTS:.o=.d) $(TSAN_OBJECTS:.o=.d) $(THREAD_TESTS:=.d) $(FUZZ_OBJECTS:.o=.d) $(CLANG_OBJECTS:.o=.d) $(UNIT_TESTS:=.d) $(FUZZ_CHECKS:=.d) $(BENCH_SHARED:.o=.d) $(patsubst %.o,%.d,$(filter %.o,$(BENCH_OBJECTS)))
