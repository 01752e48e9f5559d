# make deb: packages of build/prof for this release of Debian or Ubuntu, in dist/. The binary is linked again without debug
# info, whose paths would change the build ID.
deb: all $(BUILD)/engine-packages
	$(Q)rm -rf $(BUILD)/deb
	$(Q)$(MAKE) --no-print-directory install DESTDIR=$(BUILD)/deb PREFIX=/usr ZSHDIR=/usr/share/zsh/vendor-completions >/dev/null
	$(LINK) -s -o $(BUILD)/deb/usr/bin/prof $(CMD_OBJECTS) $(LIB_OBJECTS) $(LIBS)
	$(Q)packaging/make-deb $(BUILD)/deb $(VERSION) $(COMMIT_TIME) dist $(BUILD)/engine-packages $(COMMIT)

.PHONY: deb
