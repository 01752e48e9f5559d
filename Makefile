# prof: everything is built under build/. `make help` lists the targets.
MAKEFLAGS += --no-builtin-rules
CC ?= cc
PREFIX ?= /usr/local
CFLAGS ?= -O2 -g
BUILD := build
VERSION := 0.1.0

PACKAGES := libdw libelf libcjson libmicrohttpd zlib
ALL_CFLAGS := -std=c11 -D_GNU_SOURCE -DPROF_VERSION='"$(VERSION)"' -Ilib -Wall -Wextra -fno-omit-frame-pointer $(shell pkg-config --cflags $(PACKAGES)) $(CFLAGS)
ifdef DEVELOPER
ALL_CFLAGS += -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wwrite-strings -Wvla
endif
LIBS := $(shell pkg-config --libs $(PACKAGES)) -liberty -lpthread -lm

# lib/tree/wasm.c is the door of the WebAssembly build alone.
LIB_SOURCES := $(filter-out lib/tree/wasm.c,$(wildcard lib/*/*.c))
CMD_SOURCES := $(wildcard cmd/*.c)
LIB_OBJECTS := $(LIB_SOURCES:%.c=$(BUILD)/%.o)
CMD_OBJECTS := $(CMD_SOURCES:%.c=$(BUILD)/%.o)

Q := $(if $(V),,@)
say = $(if $(V),,@echo "  $(1) $(2)")

all: $(BUILD)/prof

$(BUILD)/prof: $(CMD_OBJECTS) $(LIB_OBJECTS)
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

clean:
	rm -rf $(BUILD)

.PHONY: all clean
-include $(LIB_OBJECTS:.o=.d) $(CMD_OBJECTS:.o=.d)
