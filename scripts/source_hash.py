"""Hashes of source files together with the project headers that they include.

An include counts when it is written #include "..." and names a file of the repository, from the
root or beside the including file. System and generated headers are not project text: they are
covered by the build id (compiler, library versions) or by what generates them.
"""

import hashlib
import os
import re

_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)


def included_files(root, path):
    """Paths, relative to the root, that the file at `path` includes directly."""
    with open(os.path.join(root, path), "rb") as file:
        names = [name.decode() for name in _INCLUDE.findall(file.read())]
    found = []
    for name in names:
        for base in ("", os.path.dirname(path)):
            candidate = os.path.normpath(os.path.join(base, name))
            if not candidate.startswith("..") and os.path.isfile(os.path.join(root, candidate)):
                found.append(candidate)
                break
    return found


def with_headers(root, path):
    """The file itself, then all it includes, directly or not, sorted."""
    seen = set()
    waiting = [path]
    while waiting:
        current = waiting.pop()
        if current not in seen:
            seen.add(current)
            waiting.extend(included_files(root, current))
    return [path] + sorted(seen - {path})


def digest(root, paths, facts=()):
    """SHA-256 over names, lengths and bytes, so that no text can move between two files unseen."""
    sha = hashlib.sha256()
    for fact in facts:
        sha.update(b"fact %d\0" % len(fact.encode()))
        sha.update(fact.encode())
    for path in paths:
        with open(os.path.join(root, path), "rb") as file:
            text = file.read()
        sha.update(b"file %s %d\0" % (path.encode(), len(text)))
        sha.update(text)
    return sha.digest()


def relative_paths(root, files):
    return sorted(os.path.relpath(os.path.abspath(name), root) for name in files)


def write_if_changed(path, text):
    """Leaves the time of an unchanged file alone, so that nothing is compiled again for it."""
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    try:
        with open(path, encoding="utf-8") as file:
            if file.read() == text:
                return
    except FileNotFoundError:
        pass
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
