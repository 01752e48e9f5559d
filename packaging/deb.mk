# make deb: packages of build/prof for this release of Debian or Ubuntu, in dist/.
deb: all
	$(Q)rm -rf $(BUILD)/deb
	$(Q)$(MAKE) --no-print-directory install DESTDIR=$(BUILD)/deb PREFIX=/usr ZSHDIR=/usr/share/zsh/vendor-completions >/dev/null
	$(Q)packaging/make-deb $(BUILD)/deb $(VERSION) $(COMMIT_TIME) dist

.PHONY: deb
