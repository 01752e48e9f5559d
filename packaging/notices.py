#!/usr/bin/env python3
"""notices.py BINARY LIBRARIES ENGINE VERSION COMMIT TIME OUT: what the distribution of a binary needs beside it.

Writes OUT/prof.spdx.json, an SBOM in the format SPDX 2.3, of all that is linked into BINARY. For the portable binary, LIBRARIES
is the directory of packaging/static-libraries, and the script also writes OUT/LICENSES, the versions and license texts. For other
binaries, LIBRARIES is empty. ENGINE is the file engine-packages of the build. TIME is the time of COMMIT, in seconds.
"""

import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(__file__).parent.parent

# License of each source package, as SPDX expression, and Debian's package with its static library. None: built from source.
LIBRARIES = {
    "bzip2": ("bzip2-1.0.6", "libbz2-dev"),
    "c-ares": ("MIT", "libc-ares-dev"),
    "capstone": ("BSD-3-Clause", None),
    "cjson": ("MIT", None),
    "curl": ("curl", None),
    "elfutils": ("LGPL-3.0-or-later OR GPL-2.0-or-later", "libdw-dev"),
    "gcc-12": ("GPL-3.0-or-later WITH GCC-exception-3.1", "libgcc-12-dev"),
    "glibc": ("LGPL-2.1-or-later", "libc6-dev"),
    "libiberty": ("LGPL-2.0-or-later", "libiberty-dev"),
    "libisal": ("BSD-3-Clause", None),
    "libmicrohttpd": ("LGPL-2.1-or-later", None),
    "libunwind": ("MIT", "libunwind-dev"),
    "libzstd": ("BSD-3-Clause OR GPL-2.0-only", "libzstd-dev"),
    "mbedtls": ("Apache-2.0 OR GPL-2.0-or-later", "libmbedtls-dev"),
    "xz-utils": ("LicenseRef-public-domain", "liblzma-dev"),
    "zlib": ("Zlib", "zlib1g-dev"),
}
# Those of the engine of the page, whose texts `prof --licenses` prints.
ENGINE_LICENSES = {"llvm-toolchain": "Apache-2.0 WITH LLVM-exception", "wasi-libc": "CC0-1.0 AND MIT AND SunPro"}
COMMON_LICENSES = ("Apache-2.0", "GPL-2", "GPL-3", "LGPL-2", "LGPL-2.1", "LGPL-3")

RELINKING = """\
This file belongs to the portable binary of prof, which is linked statically. To link it with other versions of the libraries
under the LGPL, such as glibc, elfutils and libmicrohttpd, build prof from its source with `make portable`. packaging/sources
of prof's source has the versions and checksums of the source packages. All sources are in Debian 12.
"""


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def version_of(name, package):
    if package:
        return run("dpkg-query", "-W", "-f", "${source:Version}", package)
    return re.search(f"^{re.escape(name)} (.*)$", (TOP / "packaging/sources").read_text(), re.MULTILINE)[1]


def copyright_of(name, package, libraries):
    path = pathlib.Path("/usr/share/doc", package, "copyright") if package else libraries / "src" / name / "debian/copyright"
    return path.read_text(errors="replace")


def npm_packages(licenses):
    """Those whose licenses the binary prints: name, version, license."""
    packages = json.loads((TOP / "web/package-lock.json").read_text())["packages"]
    names = {path.removeprefix("node_modules/"): entry for path, entry in packages.items()}
    return [(name, names[name]["version"], names[name]["license"])
            for name in re.findall(r"^==== (\S+?),? ", licenses, re.MULTILINE) if name in names]


def spdx_package(identifier, name, version, license_name, **rest):
    return {"SPDXID": "SPDXRef-" + re.sub("[^A-Za-z0-9.-]", "-", identifier), "name": name, "versionInfo": version,
            "licenseDeclared": license_name, "licenseConcluded": license_name, "copyrightText": "NOASSERTION",
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False, **rest}


def purl(kind, name, version):
    return {"externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                              "referenceLocator": f"pkg:{kind}/{name.replace('@', '%40')}@{version.replace('+', '%2B')}"}]}


def engine_packages(path):
    """Those with code in the engine of the page: name, version, license."""
    for line in pathlib.Path(path).read_text().splitlines():
        name, version = line.split()
        yield name, version, ENGINE_LICENSES[re.sub(r"-\d+$", "", name)]


def dynamic_packages():
    """What a binary with shared libraries has of other packages: name, version, license."""
    yield "libiberty", version_of("libiberty", "libiberty-dev"), LIBRARIES["libiberty"][0]
    package = run("dpkg", "-S", os.path.realpath(run("gcc", "-print-libgcc-file-name").strip())).split(":")[0]
    yield run("dpkg-query", "-W", "-f", "${source:Package}", package), version_of("", package), LIBRARIES["gcc-12"][0]


binary, libraries, engine, out = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3], pathlib.Path(sys.argv[7])
prof_version, commit, time = sys.argv[4:7]
own_licenses = run(binary, "--licenses")
if libraries:
    packages = [(name, version_of(name, package), license_name) for name, (license_name, package) in LIBRARIES.items()]
    packages += engine_packages(engine)
    with open(out / "LICENSES", "w") as file:
        file.write(RELINKING + "\n")
        for name, version, license_name in packages:
            file.write(f"{name} {version}: {license_name}\n")
        file.write("\n" + own_licenses)
        for name, (_, package) in LIBRARIES.items():
            text = copyright_of(name, package, pathlib.Path(libraries))
            file.write(f"\n==== {name}, linked into the portable binary\n\n{text}")
        for name in COMMON_LICENSES:
            file.write(f"\n==== {name}\n\n" + pathlib.Path("/usr/share/common-licenses", name).read_text())
else:
    packages = [*dynamic_packages(), *engine_packages(engine)]

distribution = re.search("^ID=(.*)$", pathlib.Path("/etc/os-release").read_text(), re.MULTILINE)[1]
digest = hashlib.sha256(binary.read_bytes()).hexdigest()
prof = spdx_package("prof", "prof", f"{prof_version} ({commit})", "MIT",
                    checksums=[{"algorithm": "SHA256", "checksumValue": digest}])
linked = [spdx_package(name, name, version, license_name, **purl(f"deb/{distribution}", name, version))
          for name, version, license_name in packages]
bundled = [spdx_package(f"npm-{name}", name, version, license_name, **purl("npm", name, version))
           for name, version, license_name in npm_packages(own_licenses)]
document = {
    "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": binary.name,
    "documentNamespace": f"https://spdx.org/spdxdocs/prof-{prof_version}-{commit}-{digest[:16]}",
    "creationInfo": {"created": datetime.datetime.fromtimestamp(int(time), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
                     "creators": ["Tool: packaging/notices.py"]},
    "hasExtractedLicensingInfos": [{"licenseId": "LicenseRef-public-domain", "extractedText": "This is in the public domain."}],
    "packages": [prof, *linked, *bundled],
    "relationships": [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": prof["SPDXID"]}]
    + [{"spdxElementId": prof["SPDXID"], "relationshipType": "STATIC_LINK" if package in linked else "CONTAINS",
        "relatedSpdxElement": package["SPDXID"]} for package in linked + bundled],
}
(out / "prof.spdx.json").write_text(json.dumps(document, indent=1) + "\n")
