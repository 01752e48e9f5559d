# make portable: build/portable/prof, one static file for each x86-64 Linux, with all libraries, and its archive in dist/.
# Its objects are those of build/prof, except those that depend on PROF_PORTABLE.
PORTABLE         := $(BUILD)/portable
PORTABLE_SOURCES := $(shell grep -lE 'PROF_PORTABLE|LATE_SYMBOL|late_library_load' $(LIB_SOURCES) $(CMD_SOURCES))
PORTABLE_OBJECTS := $(PORTABLE_SOURCES:%.c=$(PORTABLE)/%.o)
SHARED_OBJECTS   := $(filter-out $(PORTABLE_SOURCES:%.c=$(BUILD)/%.o),$(CMD_OBJECTS) $(LIB_OBJECTS))
PORTABLE_LIBS    := cjson microhttpd debuginfod curl cares mbedtls mbedx509 mbedcrypto dw elf isal capstone unwind-ptrace \
                    unwind-x86_64 unwind lzma zstd bz2 z iberty

$(PORTABLE)/lib/.stamp: packaging/static-libraries packaging/sources packaging/ca_file.c
	$(call say,LIBRARIES,$(PORTABLE)/lib)
	$(Q)sh .ci/deps build portable
	$(Q)packaging/static-libraries $(PORTABLE)
	@touch $@

$(PORTABLE)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -DPROF_PORTABLE -MMD -MP -c -o $@ $<

# Debian's libunwind-ptrace.a is not position-independent.
$(PORTABLE)/prof: $(SHARED_OBJECTS) $(PORTABLE_OBJECTS) $(PORTABLE)/lib/.stamp
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -static -s -Wl,--gc-sections -o $@ $(filter %.o,$^) -L$(PORTABLE)/lib \
	    -Wl,--start-group $(PORTABLE_LIBS:%=-l%) -Wl,--end-group -lpthread -lm

# The archive for users, with its checksum and packaging/install.sh. COMMIT_TIME makes the bytes reproducible.
PORTABLE_NAME := prof-$(VERSION)-linux-x86_64
portable: $(PORTABLE)/prof $(BUILD)/engine-packages
	$(Q)rm -rf $(PORTABLE)/$(PORTABLE_NAME)
	@mkdir -p $(PORTABLE)/$(PORTABLE_NAME)/include dist
	$(Q)python3 packaging/notices.py $< $(PORTABLE) $(BUILD)/engine-packages $(VERSION) $(COMMIT) $(COMMIT_TIME) $(PORTABLE)/$(PORTABLE_NAME)
	$(Q)cp -r man $< $(PORTABLE)/$(PORTABLE_NAME) && cp -r include/prof $(PORTABLE)/$(PORTABLE_NAME)/include
	$(Q)tar -C $(PORTABLE) $(REPRODUCIBLE_TAR) --mode=u=rwX,go=rX -cf dist/$(PORTABLE_NAME).tar $(PORTABLE_NAME)
	$(Q)gzip -9nf dist/$(PORTABLE_NAME).tar
	$(Q)cd dist && sha256sum $(PORTABLE_NAME).tar.gz >$(PORTABLE_NAME).tar.gz.sha256 && cp ../packaging/install.sh .
	@echo "dist/$(PORTABLE_NAME).tar.gz"

# Its packages for distributions with rpm.
rpm: portable
	$(Q)SOURCE_DATE_EPOCH=$(COMMIT_TIME) rpmbuild --quiet -bb --define "archive $(abspath dist/$(PORTABLE_NAME).tar.gz)" \
	    --define "_topdir $(abspath $(PORTABLE))/rpm" --define "_rpmdir $(abspath dist)" packaging/prof.spec
	@ls dist/prof-$(VERSION)-*.rpm dist/prof-devel-$(VERSION)-*.rpm

# Packages of the same files for pip and npm.
wheel npm: portable
	$(Q)packaging/make-packages $@ $(PORTABLE)/$(PORTABLE_NAME) $(VERSION) $(ARCH) $(COMMIT_TIME) dist

# The scripts that use the libraries which prof otherwise loads, or start programs.
PORTABLE_SCRIPTS := $(addprefix tests/e2e/test_,annotate asm_api control debug_files doctor export ptrace push_record python \
                    record record_host report sanitize source_api stacks waits waits_ptrace)

check-portable: portable $(call HAVE,rpmbuild,rpm) wheel npm targets
	@sh packaging/make-roots $(BUILD)/roots
	@BUILD=$(abspath $(BUILD)) tests/run tests/e2e/test_portable
	@PROF=$(abspath $(PORTABLE)/prof) BUILD=$(abspath $(BUILD)) TARGETS=$(abspath $(TARGETS)) tests/run $(PORTABLE_SCRIPTS)

.PHONY: portable rpm wheel npm check-portable
-include $(PORTABLE_OBJECTS:.o=.d)
