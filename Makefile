# prof: a sampling profiler. Everything is built under build/; `make help` lists the targets.
#
# Knobs for packagers: CC CPPFLAGS CFLAGS LDFLAGS HARDENING HARDENING_LDFLAGS CLANG NPM NODE PREFIX DESTDIR BINDIR MANDIR
# INCLUDEDIR DOCDIR. V=1 shows the commands, DEVELOPER=1 makes warnings errors. A tree from `make dist` has the page in
# web/prebuilt and needs neither npm nor clang.
MAKEFLAGS += --no-builtin-rules
VERSION := 0.1.0
# A tree from `make dist` has the file `commit`.
COMMIT  := $(shell cat commit 2>/dev/null || git describe --always --dirty --abbrev=12 2>/dev/null || echo unknown)
COMMIT_TIME = $(shell git log -1 --format=%ct 2>/dev/null || stat -c %Y Makefile)
# `make ARCH=aarch64` builds for arm64 on another machine.
MACHINE := $(shell uname -m)
ARCH    := $(MACHINE)
CROSS   := $(if $(filter-out $(MACHINE),$(ARCH)),$(ARCH)-linux-gnu-)
BUILD   := build$(CROSS:%-linux-gnu-=-%)

CC      := $(if $(filter default undefined,$(origin CC)),$(CROSS)gcc,$(CC))
CXX     := $(if $(filter default undefined,$(origin CXX)),$(CROSS)g++,$(CXX))
PKG_CONFIG ?= $(CROSS)pkg-config
CLANG   ?= clang
NPM     ?= npm
NODE    ?= node
CFLAGS  ?= -O2 -g
HARDENING ?= -fPIE -fstack-protector-strong $(if $(filter x86_64,$(ARCH)),-fcf-protection,-mbranch-protection=standard) \
             $(if $(filter -O1 -O2 -O3 -Os,$(CFLAGS)),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
HARDENING_LDFLAGS ?= -pie -Wl,-z,relro,-z,now
PREFIX  ?= /usr/local
BINDIR  ?= $(PREFIX)/bin
MANDIR  ?= $(PREFIX)/share/man
INCLUDEDIR ?= $(PREFIX)/include
DOCDIR ?= $(PREFIX)/share/doc/prof
COMPLETIONDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR ?= $(PREFIX)/share/zsh/site-functions
FISHDIR ?= $(PREFIX)/share/fish/vendor_completions.d

PACKAGES := libcjson libmicrohttpd libelf libdw libisal liblzma capstone libunwind-ptrace libunwind-generic
# Without libzstd, prof does not read debug info that is compressed with zstd.
OPTIONAL := $(shell $(PKG_CONFIG) --exists libzstd 2>/dev/null && echo libzstd)
WARNINGS := -Wall -Wextra
ifdef DEVELOPER
WARNINGS += -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wwrite-strings -Wvla
endif
BASE_CFLAGS := -std=c11 -D_GNU_SOURCE -DPROF_VERSION='"$(VERSION)"' -Ilib -I. $(WARNINGS) -fno-omit-frame-pointer \
               $(if $(filter libzstd,$(OPTIONAL)),-DHAVE_ZSTD) $(shell $(PKG_CONFIG) --cflags $(PACKAGES) $(OPTIONAL) 2>/dev/null)
ALL_CFLAGS  := $(BASE_CFLAGS) $(HARDENING) $(CPPFLAGS) $(CFLAGS)
# --as-needed: does not link libraries that prof loads at run time (lib/os/late_library.h).
LIBS        := -Wl,--as-needed $(shell $(PKG_CONFIG) --libs $(PACKAGES) $(OPTIONAL) 2>/dev/null) -liberty -lpthread -lm

# Directories without system calls, which are also compiled for the page. lib/wasm has the page's interface.
PURE         := base profile import export tree
# Without the other processors of lib/arch.
LIB_SOURCES  := $(filter-out lib/wasm/% $(patsubst %,lib/arch/%%,$(filter-out $(ARCH),x86_64 aarch64)),$(wildcard lib/*/*.c))
CMD_SOURCES  := $(wildcard cmd/*.c cmd/*/*.c)
WASM_SOURCES := $(wildcard $(PURE:%=lib/%/*.c) lib/wasm/*.c)
LIB_OBJECTS  := $(LIB_SOURCES:%.c=$(BUILD)/%.o)
CMD_OBJECTS  := $(CMD_SOURCES:%.c=$(BUILD)/%.o) $(BUILD)/page.o
WASM_OBJECTS := $(WASM_SOURCES:%.c=$(BUILD)/wasm/%.o)

Q   := $(if $(V),,@)
say  = $(if $(V),,@echo "  $(1) $(2)")
# One job per processor, unless -j is given.
JOBS = $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc))

LINK = $(Q)$(CC) $(ALL_CFLAGS) $(HARDENING_LDFLAGS) $(LDFLAGS)

all: $(BUILD)/prof

$(BUILD)/prof: $(CMD_OBJECTS) $(LIB_OBJECTS)
	$(call say,LINK,$@)
	$(LINK) -o $@ $^ $(LIBS)

$(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# Holds the flags of the last build: changed flags rebuild all objects. The first build also checks that the libraries
# are installed.
FLAGS := $(CC) $(ALL_CFLAGS) $(LDFLAGS)
$(BUILD)/flags: $(if $(filter-out $(subst ',,$(FLAGS)),$(subst ',,$(file <$(BUILD)/flags)))$(filter-out $(subst ',,$(file <$(BUILD)/flags)),$(subst ',,$(FLAGS))),always)
	@$(PKG_CONFIG) --exists $(PACKAGES) || { echo "prof needs $(PACKAGES): run 'make deps'" >&2; exit 1; }
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(FLAGS))' >$@

# ---- the page: the engine as WebAssembly, the bundle, both embedded into the binary ----

WASM_CFLAGS ?= -O3
WASM_FLAGS  := --target=wasm32-wasi -msimd128 -mbulk-memory -ffp-contract=off -std=c11 -D_GNU_SOURCE -Ilib -Wall -Wextra $(if $(DEVELOPER),-Werror)

$(BUILD)/wasm/%.o: %.c
	@mkdir -p $(@D)
	$(call say,WASM,$@)
	$(Q)$(CLANG) $(WASM_FLAGS) $(WASM_CFLAGS) -MMD -MP -c -o $@ $<

# Memory limit of the engine: 4 GiB minus a page, the range of 32-bit pointers (lib/wasm/wasm_memory.c).
WASM_MEMORY := 4294901760

$(BUILD)/engine.wasm: $(WASM_OBJECTS)
	$(call say,LINK,$@)
	$(Q)$(CLANG) --target=wasm32-wasi $(WASM_CFLAGS) -mexec-model=reactor -Wl,--strip-all,-z,stack-size=1048576,--max-memory=$(WASM_MEMORY) -o $@ $^

# The engine's structs and enums for TypeScript.
LAYOUT := web/src/engine/layout.ts
$(BUILD)/layout.wasm: web/layout.c
	$(call say,LAYOUT,$(LAYOUT))
	$(Q)$(CLANG) $(WASM_FLAGS) -Werror=switch -MMD -MP -nostdlib -Wl,--no-entry,--strip-all -o $@ $<

$(LAYOUT): $(BUILD)/layout.wasm web/layout.mjs
	$(Q)$(NODE) web/layout.mjs $< >$@

ifneq ($(wildcard web/prebuilt/index.html),)
PAGE       := web/prebuilt
PAGE_BUILT := $(wildcard web/prebuilt/*)
else ifeq ($(wildcard web/build.mjs),)
PAGE       := $(BUILD)/web
PAGE_BUILT :=
else
PAGE       := $(BUILD)/web
PAGE_BUILT := $(BUILD)/web.stamp
endif

# npm packages for the bundle.
web/node_modules/.stamp: web/package.json web/package-lock.json
	$(call say,NPM,web/node_modules)
	$(Q)cd web && $(NPM) ci --omit=dev --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null
	@touch $@

$(BUILD)/web.stamp: $(BUILD)/engine.wasm $(LAYOUT) web/node_modules/.stamp web/build.mjs LICENSE cmd/linked-licenses.txt $(shell find web/src -type f)
	$(call say,WEB,$(BUILD)/web)
	$(Q)rm -rf $(BUILD)/web
	$(Q)$(NODE) web/build.mjs --out $(BUILD)/web --wasm $(BUILD)/engine.wasm
	@touch $@

# Adds the npm packages for checks and tests. npm recreates the directory: not while the bundle is built from it, and
# without causing a new build of the bundle.
web/node_modules/.stamp-dev: web/node_modules/.stamp | $(PAGE_BUILT)
	$(call say,NPM,web/node_modules)
	$(Q)cp -p $< $(BUILD)/npm.stamp
	$(Q)cd web && $(NPM) ci --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null
	@cp -p $(BUILD)/npm.stamp $< && touch $@

$(BUILD)/page.c: cmd/embed-page $(PAGE_BUILT)
	$(call say,EMBED,$@)
	$(Q)sh cmd/embed-page $(PAGE) $(BUILD)/page $@

$(BUILD)/page.o: $(BUILD)/page.c $(BUILD)/flags
	$(call say,CC,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# ---- for users ----

deps:
	@INSTALL=1 sh .ci/deps build

demo:
	@sh .ci/deps build
	+@bash -o pipefail -c '$(MAKE) $(JOBS) --no-print-directory all | cmd/progress $(words $(LIB_OBJECTS) $(CMD_OBJECTS) $(WASM_OBJECTS))'
	@bash cmd/demo

# Builds only if nothing is built, because sudo changes the flags, and root would own the objects.
install: | $(if $(wildcard $(BUILD)/prof),,all)
	install -D -m 755 $(BUILD)/prof $(DESTDIR)$(BINDIR)/prof
	install -d $(DESTDIR)$(MANDIR)/man1
	install -m 644 man/*.1 $(DESTDIR)$(MANDIR)/man1
	install -d $(DESTDIR)$(MANDIR)/man3
	install -m 644 man/*.3 $(DESTDIR)$(MANDIR)/man3
	install -D -m 644 include/prof/marks.h $(DESTDIR)$(INCLUDEDIR)/prof/marks.h
	install -D -m 644 LICENSE $(DESTDIR)$(DOCDIR)/LICENSE
	$(BUILD)/prof --licenses >$(DESTDIR)$(DOCDIR)/LICENSES
	install -d $(DESTDIR)$(COMPLETIONDIR) $(DESTDIR)$(ZSHDIR) $(DESTDIR)$(FISHDIR)
	$(BUILD)/prof help --completion bash >$(DESTDIR)$(COMPLETIONDIR)/prof
	$(BUILD)/prof help --completion zsh >$(DESTDIR)$(ZSHDIR)/_prof
	$(BUILD)/prof help --completion fish >$(DESTDIR)$(FISHDIR)/prof.fish

uninstall:
	rm -f $(DESTDIR)$(BINDIR)/prof $(addprefix $(DESTDIR)$(MANDIR)/man1/,$(notdir $(wildcard man/*.1)))
	rm -f $(addprefix $(DESTDIR)$(MANDIR)/man3/,$(notdir $(wildcard man/*.3))) $(DESTDIR)$(INCLUDEDIR)/prof/marks.h
	rm -f $(DESTDIR)$(COMPLETIONDIR)/prof $(DESTDIR)$(ZSHDIR)/_prof $(DESTDIR)$(FISHDIR)/prof.fish
	rm -f $(addprefix $(DESTDIR)$(DOCDIR)/,LICENSE LICENSES prof.spdx.json)

# Debian's source packages with code in the engine of the page, and their versions, for the SBOM. Empty without dpkg.
$(BUILD)/engine-packages: $(wildcard engine-packages) $(PAGE_BUILT)
	$(Q)cp engine-packages $@ 2>/dev/null || dpkg-query -W -f '$${source:Package} $${source:Version}\n' wasi-libc \
	    $$(dpkg -S $$($(CLANG) --target=wasm32-wasi -print-libgcc-file-name) | cut -d: -f1) >$@ 2>/dev/null || : >$@

REPRODUCIBLE_TAR = --sort=name --owner=0 --group=0 --numeric-owner --mtime=@$(COMMIT_TIME)

# The committed state with the built page, LICENSES, the output of `prof --licenses`, the name of the commit, and engine-packages.
dist: all $(BUILD)/engine-packages
	@mkdir -p dist
	$(Q)git archive --prefix=prof-$(VERSION)/ -o dist/prof-$(VERSION).tar HEAD
	$(Q)tar -rf dist/prof-$(VERSION).tar $(REPRODUCIBLE_TAR) --mode=u=rwX,go=rX --transform 's,^$(PAGE),prof-$(VERSION)/web/prebuilt,;s,^web/src,prof-$(VERSION)/&,;s,^$(BUILD)/\(commit\|engine-packages\)$$,prof-$(VERSION)/\1,' $(PAGE) $(LAYOUT) $(BUILD)/commit $(BUILD)/engine-packages
	$(Q)tar -rf dist/prof-$(VERSION).tar $(REPRODUCIBLE_TAR) --mode=644 --transform 's,.*,prof-$(VERSION)/LICENSES,' $(PAGE)/licenses.txt
	$(Q)gzip -9nf dist/prof-$(VERSION).tar
	@echo "dist/prof-$(VERSION).tar.gz"

clean:
	rm -rf $(BUILD)

help:
	@echo "make            build build/prof"
	@echo "make deps       install the build dependencies (Debian, Ubuntu)"
	@echo "make demo       build, record a real program, serve its profile"
	@echo "make check      build, run every test"
	@echo "make test T=NAME  build and run one test, such as T=test_waits"
	@echo "make install    to PREFIX ($(PREFIX)), below DESTDIR; 'make uninstall' takes it away"
	@echo "make portable   dist/prof-$(VERSION)-linux-x86_64.tar.gz, one static binary for each x86-64 Linux (built on Debian 12)"
	@echo "make check-portable  its tests, also in empty and foreign root directories"
	@echo "make check-kernels   the same binary on kernels of Debian and Ubuntu releases, in virtual machines"
	@echo "make check-arm64     the binary for arm64 on emulated processors"
	@echo "make deb        packages of prof in dist/"
	@echo "make rpm wheel npm  the static binary as packages for rpm, pip and npm in dist/"
	@echo "make lint       format and static checks"
	@echo "make tags       an index for editors; 'make compile_commands.json' the flags of each file for clangd"
	@echo "make bench      the measurements, with their goals"
	@echo "make accuracy   compare CPU time and waits of profiles with the truth, quiet and beside BUSY ($(BUSY)) processes"
	@echo "make agreement  compare names with llvm-symbolizer and libdw, ADDRESSES ($(ADDRESSES)) of each program"
	@echo "make collector  push to a real OpenTelemetry Collector, built from its Go modules, for SECONDS ($(SECONDS))"
	@echo "make fuzz       fuzz each parser for SECONDS ($(SECONDS))"
	@echo "make dist       dist/prof-$(VERSION).tar.gz, which builds without npm and clang"
	@echo "make clean      remove build/"
	@echo "V=1 shows commands, DEVELOPER=1 makes warnings errors."

# The commit is the dependency of one object.
$(BUILD)/cmd/common/build_name.o $(BUILD)/portable/cmd/common/build_name.o: ALL_CFLAGS += -DPROF_COMMIT='"$(COMMIT)"'
$(BUILD)/cmd/common/build_name.o $(BUILD)/portable/cmd/common/build_name.o: $(BUILD)/commit
$(BUILD)/commit: $(if $(filter-out $(COMMIT),$(file <$(BUILD)/commit)),always)
	@mkdir -p $(@D)
	@echo '$(COMMIT)' >$@

include packaging/deb.mk tests/tests.mk
ifneq ($(findstring portable,$(MAKECMDGOALS))$(filter kernel-programs check-kernels rpm wheel npm,$(MAKECMDGOALS)),) # because it searches all sources
include packaging/portable.mk
endif

.PHONY: all always deps demo install uninstall dist clean help
.DELETE_ON_ERROR:
-include $(LIB_OBJECTS:.o=.d) $(CMD_OBJECTS:.o=.d) $(WASM_OBJECTS:.o=.d) $(BUILD)/layout.d
