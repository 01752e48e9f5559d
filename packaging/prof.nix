# prof for Nix, from the archive of `make dist`, which needs neither npm nor clang:
#
#     nix-build -E 'with import <nixpkgs> { }; callPackage ./packaging/prof.nix { archive = ./dist/prof-VERSION.tar.gz; }'
{ lib, stdenv, archive, pkg-config, capstone, cjson, curl, elfutils, isa-l, libiberty, libmicrohttpd, libunwind, xz, zstd }:

stdenv.mkDerivation {
  pname = "prof";
  version = lib.removePrefix "prof-" (lib.removeSuffix ".tar.gz" (baseNameOf archive));
  src = archive;

  nativeBuildInputs = [ pkg-config ];
  buildInputs = [ capstone cjson elfutils isa-l libiberty libmicrohttpd libunwind xz zstd ];
  makeFlags = [ "PREFIX=$(out)" ];
  enableParallelBuilding = true;

  # prof loads these libraries at run time.
  postFixup = ''
    patchelf --add-rpath ${lib.makeLibraryPath [ capstone curl elfutils libmicrohttpd libunwind ]} $out/bin/prof
  '';

  meta = {
    description = "Sampling profiler for Linux programs";
    license = lib.licenses.mit;
    mainProgram = "prof";
    platforms = [ "aarch64-linux" "x86_64-linux" ];
  };
}
