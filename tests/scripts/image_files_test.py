"""scripts/image_files.py finds what must not be in an image: each kind is planted here, and told by name."""

import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../scripts"))
import image_files  # noqa: E402


class ImageFiles(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.root = pathlib.Path(self._folder.name)
        for path in ("usr/lib/tensord/tensord", "usr/lib/tensord/tensordctl", "usr/share/doc/tensord/LICENSE",
                     "usr/share/doc/tensord/NOTICE", "usr/share/doc/libc6/copyright", "usr/bin/sleep",
                     "usr/share/tensord/models/digits/model.onnx", "usr/lib/x86_64-linux-gnu/libgrpc.so.29"):
            self.put(path)
        self.put("var/lib/dpkg/status", "Package: libc6\nStatus: install ok installed\n")
        (self.root / "tmp").mkdir()
        (self.root / "tmp").chmod(0o1777)

    def put(self, path, content="", mode=0o644):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        if os.geteuid() == 0:
            os.chown(file, 0, 0)
        file.chmod(mode)  # last, since a new owner takes setuid away
        return file

    def faults(self):
        # An ordinary user's files cannot be root's.
        return [fault for fault in image_files.faults(self.root)
                if os.geteuid() == 0 or "belongs to user" not in fault]

    def test_a_clean_image_has_no_fault(self):
        self.assertEqual(self.faults(), [])

    def assert_caught(self, path, what):
        self.assertEqual(self.faults(), [f"/{path}: {what}"])

    def test_files_by_their_names(self):
        for path, what in (
                ("usr/bin/gcc-12", "a tool that an attacker would like"),
                ("usr/bin/x86_64-linux-gnu-g++", "a tool that an attacker would like"),
                ("usr/lib/gcc/x86_64-linux-gnu/12/cc1plus", "a tool that an attacker would like"),
                ("usr/bin/python3.11", "a tool that an attacker would like"),
                ("usr/lib/tensord/api.h", "a header"),
                ("usr/include/zlib", "a header"),
                ("usr/share/tensord/train.py", "source text"),
                ("usr/lib/x86_64-linux-gnu/libgrpc.a", "for linking only"),
                ("usr/share/tensord/models/digits/test_data_set_0", "test data"),
                ("usr/lib/tensord/pool_test", "test data"),
                ("var/lib/apt/lists/deb.debian.org_dists", "a cache or a log"),
                ("var/log/dpkg.log", "a cache or a log"),
                ("root/.ssh/id_ed25519", "perhaps a secret")):
            with self.subTest(path):
                file = self.put(path)
                self.assert_caught(path, what)
                file.unlink()

    def test_modes(self):
        for path, mode, what in (
                ("usr/lib/tensord/plugin.so", 0o666, "writable for everybody"),
                ("usr/bin/su", 0o4755, "runs with another user's rights (setuid or setgid)"),
                ("usr/bin/wall", 0o2755, "runs with another user's rights (setuid or setgid)")):
            with self.subTest(path):
                file = self.put(path, mode=mode)
                self.assert_caught(path, what)
                file.unlink()
        (self.root / "srv").mkdir()
        (self.root / "srv").chmod(0o777)
        self.assert_caught("srv", "writable for everybody")

    @unittest.skipUnless(os.geteuid() == 0, "only root may give files away")
    def test_owners(self):
        os.chown(self.root / "usr/lib/tensord/tensord", 10001, 10001)
        self.assert_caught("usr/lib/tensord/tensord", "belongs to user 10001 and not to root")
        os.chown(self.root / "usr/lib/tensord/tensord", 0, 0)
        state = self.root / "var/lib/tensord"
        state.mkdir()
        os.chown(state, 10001, 10001)
        self.assertEqual(self.faults(), [])

    def test_programs_are_stripped(self):
        self.put("usr/lib/tensord/tensord", b"\x7fELF\2\1\1\0.text\0.debug_info\0")
        self.assert_caught("usr/lib/tensord/tensord", "has debugging symbols")

    def test_what_must_be_there(self):
        (self.root / "usr/share/doc/tensord/LICENSE").unlink()
        self.assert_caught("usr/share/doc/tensord/LICENSE", "is missing")

    def test_every_package_has_its_licence(self):
        (self.root / "usr/share/doc/libc6/copyright").unlink()
        self.assertEqual(self.faults(),
                         ["libc6: its licence /usr/share/doc/libc6/copyright is missing"])


if __name__ == "__main__":
    unittest.main()
