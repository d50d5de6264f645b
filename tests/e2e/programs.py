"""Starts the daemon and the command line tool as a user would, for the tests in this folder."""

import collections
import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import threading
import urllib.request

ROOT = os.environ.get("TENSORD_SOURCE_DIR") or os.path.abspath(
    os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
BIN = os.environ.get("TENSORD_BIN_DIR") or os.path.join(ROOT, "build/debug/bin")
SHARED = os.environ.get("TENSORD_SHARED_DIR")

# Long enough for a loaded machine under a sanitizer; nothing waits so long when all is well.
PATIENCE_S = 60

Outcome = collections.namedtuple("Outcome", "code out err")


class Daemon:
    """A daemon on free ports of this machine; a context manager that ends it by SIGTERM."""

    def __init__(self, *options, enter=None):
        """`enter` is called in the new process before the program: to go into a control group, say."""
        self._process = subprocess.Popen(
            [os.path.join(BIN, "tensord"), "--listen", "127.0.0.1:0", "--metrics-listen",
             "127.0.0.1:0", *options],
            stderr=subprocess.PIPE, text=True, preexec_fn=enter)
        self.log = []
        self.address = self.metrics_url = None
        started = threading.Event()
        self._reader = threading.Thread(target=self._read_log, args=(started,))
        self._reader.start()
        started.wait(PATIENCE_S)
        if self.address is None:
            self.stop()
            raise RuntimeError("the daemon did not start:\n" + "".join(self.log))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        """The exit code. Does nothing for a daemon that has ended."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        code = self._process.wait(PATIENCE_S)
        self._reader.join()
        self._process.stderr.close()
        return code

    def _read_log(self, started):
        for line in self._process.stderr:
            self.log.append(line)
            serving = re.search(r" serving grpc=(\S+) metrics=(\S+)", line)
            if serving:
                self.address, self.metrics_url = serving.groups()
                started.set()
        started.set()  # it has ended

    def metric(self, name, **labels):
        """The sum of the samples that have these labels, right now."""
        with urllib.request.urlopen(self.metrics_url, timeout=PATIENCE_S) as page:
            text = page.read().decode()
        wanted = [f'{label}="{value}"' for label, value in labels.items()]
        samples = re.findall(rf"^{name}(?:\{{(.*)\}})? (\S+)$", text, re.MULTILINE)
        return sum(float(value) for found, value in samples
                   if all(label in found for label in wanted))

    def stopped(self):
        """What the daemon told at its end, by name."""
        line = next(line for line in self.log if " stopped " in line)
        return dict(re.findall(r"(\w+)=(\w+)", line))

    def ctl(self, *arguments):
        return ctl(*arguments, "--address", self.address)

    def ctl_json(self, *arguments):
        """The answer of a command that succeeds."""
        outcome = self.ctl(*arguments, "--json")
        if outcome.code != 0:
            raise AssertionError(f"{arguments}: exit code {outcome.code}: {outcome.err}")
        return json.loads(outcome.out)


def ctl(*arguments):
    done = subprocess.run([os.path.join(BIN, "tensordctl"), *arguments], capture_output=True,
                          text=True, timeout=PATIENCE_S)
    return Outcome(done.returncode, done.stdout, done.stderr)


def ctl_on_terminal(*arguments, columns, **variables):
    """What a terminal of so many columns gets, escapes included."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with subprocess.Popen([os.path.join(BIN, "tensordctl"), *arguments], stdin=follower,
                          stdout=follower, stderr=follower,
                          env={**os.environ, "TERM": "xterm", **variables}) as process:
        os.close(follower)
        chunks = []
        try:
            while chunk := os.read(leader, 65536):
                chunks.append(chunk)
        except OSError:
            pass  # how Linux says that the other side is closed
        process.wait(PATIENCE_S)
    os.close(leader)
    return b"".join(chunks).decode().replace("\r\n", "\n")


def source(*path):
    """A file of the repository."""
    return os.path.join(ROOT, *path)
