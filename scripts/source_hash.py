"""Hashes of source files together with the project files that they are made of.

An include counts when it is written #include "..." and names a file of the repository, from the
root or beside the including file. System and generated headers are not project text: they are
covered by the build id (compiler, library versions) or by what generates them. What a header
declares is defined in the source of the same name beside it, if there is one: that counts too, with
what it includes.
"""

import glob
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


def implementations(root, path):
    """The sources that define what the header at `path` declares: none, one, or C++ beside CUDA.

    Shaders (conv.comp, conv_direct.comp) are parts of the source beside them that launches them (conv.cc).
    """
    stem, extension = os.path.splitext(path)
    if extension == ".cc":
        shaders = glob.glob(glob.escape(os.path.join(root, stem)) + "*.comp")
        return sorted(os.path.relpath(name, root) for name in shaders)
    if extension != ".h":
        return []
    candidates = (stem + suffix for suffix in (".cc", ".cu"))
    return [name for name in candidates if os.path.isfile(os.path.join(root, name))]


def with_parts(root, path, cache=None):
    """The file itself, then all it is made of, directly or not, sorted.

    `cache`, a dict, keeps each file's own parts from one call to the next.
    """
    cache = {} if cache is None else cache
    seen = set()
    waiting = [path]
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        if current not in cache:
            cache[current] = included_files(root, current) + implementations(root, current)
        waiting.extend(cache[current])
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
