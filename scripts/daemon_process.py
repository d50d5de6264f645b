"""A daemon for as long as a measurement lasts, and what it takes of the machine."""

import json
import pathlib
import re
import signal
import subprocess
import tempfile
import time


class Failed(Exception):
    pass


class Daemon:
    """tensord from `folder`, on a unix socket and a free port, with these further arguments.

    With `has_metrics` the metrics page is at `self.metrics_address`.
    """

    def __init__(self, folder, arguments, has_metrics=False):
        self._state = tempfile.TemporaryDirectory()
        state = pathlib.Path(self._state.name)
        ports = state / "ports.json"
        self._log = state / "log"
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [folder / "tensord", "--listen", f"127.0.0.1:0,unix:{state}/socket",
                 "--metrics-listen", "127.0.0.1:0" if has_metrics else "off", "--port-file", ports, *arguments],
                stderr=log)
        while not ports.exists():
            if self.process.poll() is not None:
                raise Failed(f"the daemon ended with {self.process.returncode}: {self.log()[-1000:]}")
            time.sleep(0.02)
        written = json.loads(ports.read_text(encoding="utf-8"))
        self.address = {"unix" if address.startswith("unix:") else "tcp": address
                        for address in written["grpc"]}
        self.metrics_address = written.get("metrics")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait()
        self._state.cleanup()

    def stop(self, timeout):
        """SIGTERM. How long its end took, and the exit status; None if it did not end."""
        start = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            status = None
            self.process.kill()
        return time.monotonic() - start, status

    def log(self):
        return self._log.read_text(encoding="utf-8", errors="replace")

    def stopped(self):
        """What it told at its end, by name: how many of its runs succeeded, for one."""
        lines = [line for line in self.log().splitlines() if " stopped " in line]
        return dict(re.findall(r"(\w+)=(\w+)", lines[-1])) if lines else {}

    def _status(self, key):
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii").splitlines():
            if line.startswith(f"{key}:"):
                return int(line.split()[1])
        return 0

    def peak_mb(self):
        return self._status("VmHWM") * 1024 / 1e6

    def usage(self):
        """Resident bytes, open files and threads now."""
        return {"rss_mb": self._status("VmRSS") * 1024 / 1e6,
                "files": len(list(pathlib.Path(f"/proc/{self.process.pid}/fd").iterdir())),
                "threads": self._status("Threads")}
