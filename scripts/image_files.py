#!/usr/bin/python3
"""Looks at every file of a container image for what must not be there.

    scripts/image_files.py ROOT

ROOT is the folder of an unpacked image. Prints one line for each fault, and ends with 1 if there is any.
"""

import os
import pathlib
import re
import stat
import sys

# Paths are told as in the image, so all begin with "/".
TOOLS = re.compile(
    r"/(usr/)?(local/)?bin/([\w-]+-linux-gnu-)?"
    r"(cc|c\+\+|gcc|g\+\+|cpp|clang|clang\+\+|nvcc|ptxas|as|ld|gold|ar|make|cmake|ninja|ccache|gdb|strace|python3?|pip3?|"
    r"git|curl|wget|ssh|glslc|protoc)(-?\d+(\.\d+)?)?$"
    r"|/(cc1|cc1plus|collect2|lto1|cicc)$")
HEADER = re.compile(r"\.(h|hh|hpp|hxx|cuh|inc|proto)$|^/usr/include/")
SOURCE = re.compile(r"\.(c|cc|cpp|cxx|cu|comp|py|cmake)$")
LINK_TIME = re.compile(r"\.(a|o|la)$|/pkgconfig/")
TEST_DATA = re.compile(r"/(test_data_set_\d+|testdata|libonnx-testdata)(/|$)|_test$|lib(gtest|gmock|benchmark)|/tests?/")
CACHE = re.compile(r"^/var/(lib/apt/lists|cache/apt)/.*[^/]$|\.deb$|^/var/log/.|/\.git(/|$)")
SECRET = re.compile(r"/(id_(rsa|ed25519|ecdsa)|\.netrc|\.npmrc|\.docker/config\.json)$|\.(key|p12|pfx)$")
# Debian's own, which are data or documentation whatever their names say.
EXCEPTIONS = re.compile(
    r"^/usr/share/(perl5|doc|mime|locale)/|^/usr/lib/(x86_64-linux-gnu/)?perl"
    r"|^/var/cache/apt/(archives/)?(lock|partial)$|^/var/lib/apt/lists/(lock|partial|auxfiles)$")
# The daemon's folder, and who may change what is in it: root alone.
PROGRAMS = "/usr/lib/tensord"
# The paths where the daemon's user may write.
WRITABLE = ("/var/lib/tensord",)


def files(root):
    """(path in the image, path here, lstat) of everything below root, without leaving its file system."""
    device = os.lstat(root).st_dev
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = [name for name in subfolders
                         if os.lstat(os.path.join(folder, name)).st_dev == device]
        for name in subfolders + names:
            here = pathlib.Path(folder, name)
            yield "/" + str(here.relative_to(root)), here, here.lstat()


def faults_of_name(path):
    if EXCEPTIONS.search(path):
        return
    for pattern, what in ((TOOLS, "a tool that an attacker would like"), (HEADER, "a header"),
                          (SOURCE, "source text"), (LINK_TIME, "for linking only"), (TEST_DATA, "test data"),
                          (CACHE, "a cache or a log"), (SECRET, "perhaps a secret")):
        if pattern.search(path):
            yield what


def faults_of_mode(path, status):
    mode = status.st_mode
    if stat.S_ISLNK(mode):
        return
    is_sticky_folder = stat.S_ISDIR(mode) and mode & stat.S_ISVTX
    if mode & stat.S_IWOTH and not is_sticky_folder and not stat.S_ISCHR(mode):
        yield "writable for everybody"
    if stat.S_ISREG(mode) and mode & (stat.S_ISUID | stat.S_ISGID):
        yield "runs with another user's rights (setuid or setgid)"
    if status.st_uid != 0 and not path.startswith(WRITABLE):
        yield f"belongs to user {status.st_uid} and not to root"


def has_debugging_symbols(here):
    """Whether an ELF file has a section .debug_info: read from the section names, which are text near its end."""
    content = here.read_bytes()
    return content[:4] == b"\x7fELF" and b".debug_info\0" in content


def missing_files(root):
    for path in (f"{PROGRAMS}/tensord", f"{PROGRAMS}/tensordctl", "/usr/share/doc/tensord/LICENSE",
                 "/usr/share/doc/tensord/NOTICE", "/usr/share/tensord/models/digits/model.onnx"):
        if not (root / path[1:]).is_file():
            yield f"{path}: is missing"
    status = root / "var/lib/dpkg/status"
    if status.is_file():
        for package in re.findall(r"^Package: (\S+)$", status.read_text(encoding="utf-8"), re.MULTILINE):
            if not (root / "usr/share/doc" / package / "copyright").exists():
                yield f"{package}: its licence /usr/share/doc/{package}/copyright is missing"


def faults(root):
    """Every fault as a line of text."""
    root = pathlib.Path(root)
    for path, here, status in files(root):
        for what in (*faults_of_name(path), *faults_of_mode(path, status)):
            yield f"{path}: {what}"
        if path.startswith(PROGRAMS) and stat.S_ISREG(status.st_mode) and has_debugging_symbols(here):
            yield f"{path}: has debugging symbols"
    yield from missing_files(root)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    count = 0
    for fault in faults(sys.argv[1]):
        print(fault)
        count += 1
    sys.exit(1 if count else 0)


if __name__ == "__main__":
    main()
