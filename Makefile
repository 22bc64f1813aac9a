# SPDX-License-Identifier: GPL-2.0
#
# make                   the modules for the running kernel, or for KDIR=...
# make modules OUT=dir   the same, but nothing is written outside of dir
# make SMC_OWN_OPTION=1  with the TCP option of sock/smc_option.c also where TCP has it
# make tools             the user tool and the preload library
# make demo              two machines use the module; shows the rates
# make check             every part, most scenarios once; continuous integration runs it
# make check-long        every test in every variant
# make check-native      the suites of pure files in user space: no root, no kernel
# make soak HOURS=n      random actions on the debug kernel; then nothing is left of them
# make programs          real programs over SMC; writes Documentation/programs.md
# make bench             this module against TCP, the distribution's and raw RDMA, and over a
#                        model of an RNIC; plots
# make bench-quick      counts of this module against those in the tree; part of make check
# make lint              layers and style only
# make install           put modules and tools where the system finds them
# make uninstall         remove them
# make dkms              build and install through DKMS, for every kernel
# make deb               packages for Debian: module by DKMS, tool, library, headers
# make rpm               packages for rpm: modules for KDIR, tool with library, headers
# make clean

KVER_RUNNING := $(shell uname -r)
KDIR ?= /lib/modules/$(KVER_RUNNING)/build
OUT ?=
STRICT ?=
PREFIX ?= /usr/local
DESTDIR ?=
INSTALL_MOD_PATH ?= $(DESTDIR)
DEPMOD ?= depmod

# plain su leaves depmod and similar programs out of PATH
export PATH := $(PATH):/usr/sbin:/sbin

top := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))
# The first line of the changelog is the one place of the version.
VERSION := $(shell sed -n '1s/.*(\([^-)]*\).*/\1/p' $(top)/debian/changelog)
build := $(if $(OUT),$(abspath $(OUT)),$(top))

# CONFIG_SMC selects the objects in net/smc/Makefile; smc_compat.h refuses a
# kernel whose own setting does not allow a module.
# STRICT=1 makes every warning of the compiler and of sparse an error.
kbuild = $(MAKE) -C $(KDIR) M=$(build) CONFIG_SMC=m CONFIG_SMC_DIAG=m SMC_VERSION=$(VERSION) \
	$(if $(SMC_OWN_OPTION),SMC_OWN_OPTION=1) \
	$(if $(STRICT),W=1 KCFLAGS=-Werror C=1 CHECK='sparse -Wsparse-error')
# as the kernel calls itself; kernelrelease of Debian's headers of 6.1 is another one
kver = $(shell sed -n 's/.*UTS_RELEASE "\(.*\)".*/\1/p' $(KDIR)/include/generated/utsrelease.h 2>/dev/null)
has_headers = [ -n "$(kver)" ] || { echo "no headers of a kernel in $(KDIR): install those" \
	"of $(KVER_RUNNING), or name others, KDIR=/usr/src/linux-headers-..."; exit 1; }
moddir = $(INSTALL_MOD_PATH)/lib/modules/$(kver)/updates/smc
dkms_moddir = $(INSTALL_MOD_PATH)/lib/modules/$(kver)/updates/dkms

all: modules

modules: $(if $(OUT),shadow)
	@$(has_headers)
	+$(kbuild) modules

# The sources of a build, without its output.
is_source = ! -name '*.mod.c' ! -name smc_probe.h \
	\( -name '*.[chS]' -o -name 'K*' -o -name Makefile -o -name probe \)

# kbuild writes next to the sources. With OUT it gets a directory of links that
# mirrors the sources; links to deleted files are deleted. A link that changes its
# target may point to an older file, which make would regard as already built: so
# all objects are deleted then.
shadow:
	@mkdir -p $(build)
	@cd $(top) && find Kbuild Kconfig include net scripts/probe -type f \
		$(is_source) -print | \
	while read -r file; do \
		link=$(build)/$$file; \
		[ "$$(readlink "$$link")" = "$(top)/$$file" ] && continue; \
		[ -n "$$changed" ] || [ ! -d $(build)/net ] || \
			find $(build)/net -name '*.o' -delete; \
		changed=1; \
		mkdir -p "$${link%/*}" && ln -sfn "$(top)/$$file" "$$link"; \
	done
	@find $(build) -xtype l -delete

tools:
	+$(MAKE) -C $(top)/tools/smc $(if $(OUT),OUT=$(build)/tools/smc)

install: install-modules install-tools

check-tools:
	+$(MAKE) -C $(top)/tools/smc check $(if $(OUT),OUT=$(build)/tools/smc)

# updates/ precedes the distribution's own modules in depmod's search order, so
# modprobe always loads ours. Modules of DKMS precede updates/.
install-modules: modules
	@[ -z "$(wildcard $(dkms_moddir)/smc.ko*)" ] || \
		{ echo "dkms remove smc/$(VERSION) --all first: $(dkms_moddir)"; exit 1; }
	install -d $(moddir)
	install -m 644 $(build)/net/smc/smc.ko $(build)/net/smc/smc_diag.ko $(moddir)
	$(DEPMOD) -b $(INSTALL_MOD_PATH)/ $(kver)

install-tools: tools
	+$(MAKE) -C $(top)/tools/smc install PREFIX=$(PREFIX) DESTDIR=$(DESTDIR) \
		$(if $(OUT),OUT=$(build)/tools/smc)

uninstall:
	@$(has_headers)
	rm -f $(moddir)/smc.ko $(moddir)/smc_diag.ko
	if [ -d $(moddir) ]; then rmdir $(moddir); fi
	$(DEPMOD) -b $(INSTALL_MOD_PATH)/ $(kver)
	+$(MAKE) -C $(top)/tools/smc uninstall PREFIX=$(PREFIX) DESTDIR=$(DESTDIR)

dkms_src = $(DESTDIR)/usr/src/smc-$(VERSION)

# what DKMS builds the modules from
dkms-source:
	install -d $(dkms_src)
	cd $(top) && find Makefile Kbuild Kconfig debian/changelog include net scripts/probe \
		-type f \( $(is_source) -o -name changelog \) -print | cpio -pdm --quiet $(dkms_src)
	sed 's/#MODULE_VERSION#/$(VERSION)/' $(top)/dkms.conf >$(dkms_src)/dkms.conf

dkms:
	@[ ! -e $(moddir)/smc.ko ] || { echo "make uninstall first: $(moddir)"; exit 1; }
	dkms remove -m smc -v $(VERSION) --all 2>/dev/null || :
	rm -rf $(dkms_src)
	+$(MAKE) dkms-source
	dkms add -m smc -v $(VERSION)
	dkms install -m smc -v $(VERSION)

# copy_sources DIR - what packages are built from, so that the tree stays clean
define copy_sources
	rm -rf $(1)
	install -d $(1)
	cd $(top) && find Makefile Kbuild Kconfig README.md LICENSE dkms.conf Documentation debian \
		include net scripts/arch scripts/probe scripts/rpm tools/smc \
		-type f ! -name '*.o' -print | \
		cpio -pdm --quiet $(1)
	+$(MAKE) -C $(1)/tools/smc clean OUT=.
endef

deb_out = $(if $(OUT),$(build),$${SMC_CACHE:-$$HOME/.cache/smc-bench}/deb)

deb: deb-source
	cd "$(deb_out)/smc-ng" && env -u MAKEFLAGS -u OUT dpkg-buildpackage -us -uc
	lintian --fail-on error,warning "$(deb_out)"/smc-ng_$(VERSION)_*.changes
	@echo "packages: $(deb_out)"

deb-source:
	$(call copy_sources,"$(deb_out)/smc-ng")

rpm_out = $(if $(OUT),$(build),$${SMC_CACHE:-$$HOME/.cache/smc-bench}/rpm)
rpm_name = smc-ng-$(VERSION)

# Debian's rpm does not know which packages are installed.
rpm:
	$(call copy_sources,"$(rpm_out)/$(rpm_name)")
	sed -i 's/#VERSION#/$(VERSION)/' "$(rpm_out)/$(rpm_name)/scripts/rpm/smc-ng.spec"
	cd "$(rpm_out)" && tar -czf $(rpm_name).tar.gz $(rpm_name)
	env -u MAKEFLAGS -u OUT rpmbuild -ta $(if $(wildcard /etc/debian_version),--nodeps) \
		-D "_topdir $(rpm_out)" -D "kversion $(kver)" -D "kdir $(abspath $(KDIR))" \
		"$(rpm_out)/$(rpm_name).tar.gz"
	@echo "packages: $(rpm_out)/RPMS"

demo:
	$(top)/scripts/setup --demo
	$(top)/tools/demo/demo

check:
	$(top)/scripts/check

check-long:
	$(top)/scripts/check --long

check-native:
	$(top)/tools/testing/kunit/native/run

programs:
	$(top)/scripts/setup
	SMC_TABLE=$(top)/Documentation/programs.md SMC_SCP_MIB=$${SMC_SCP_MIB:-1024} \
		$(top)/tools/testing/vm/run --kernel stock --dialect deployed --long programs

soak:
	$(top)/scripts/setup
	$(top)/tools/testing/vm/run --kernel debug --hours $(or $(HOURS),1) \
		$(if $(SEED),--seed $(SEED)) soak

bench_out = $(if $(OUT),$(build),$${SMC_CACHE:-$$HOME/.cache/smc-bench}/bench)

bench:
	$(top)/scripts/setup
	@status=0; $(top)/tools/bench/bench --out "$(bench_out)" || status=1; \
	$(top)/tools/bench/bench --count --rounds 1 --only '^(ping|stream|conn|req)' \
		--out "$(bench_out)" || status=1; \
	$(top)/tools/bench/bench --count --rnic --rounds 1 --out "$(bench_out)" || status=1; \
	$(top)/tools/bench/bench --local --out "$(bench_out)" || status=1; \
	$(top)/tools/bench/bench --local --count --out "$(bench_out)" || status=1; exit $$status

bench-quick:
	$(top)/scripts/setup
	$(top)/tools/bench/bench --check

lint:
	$(top)/scripts/check --lint

clean: clean-modules
	+$(MAKE) -C $(top)/tools/smc clean $(if $(OUT),OUT=$(build)/tools/smc)

clean-modules:
	+$(if $(wildcard $(KDIR)/Makefile),$(kbuild) clean)

.PHONY: all modules shadow tools install install-modules install-tools \
	check-tools uninstall dkms dkms-source deb deb-source rpm demo check check-long check-native soak programs bench \
	bench-quick lint clean clean-modules
