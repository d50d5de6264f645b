"""A connection to a daemon that is slower than the machine's own: what it has sent stays with it for a while."""

import socket
import threading
import time

# At most 16 MB a second.
CHUNK_BYTES = 64 << 10
PAUSE_S = 0.004


class SlowLink:
    """Relays connections; what the daemon answers comes slowly. A context manager."""

    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self._target = (host, int(port))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self._listener.getsockname()[1]
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # Closing alone would not wake the thread.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join()

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            daemon = socket.socket()
            # Otherwise this process would be the one that keeps the answers.
            daemon.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, CHUNK_BYTES)
            try:
                daemon.connect(self._target)
            except OSError:
                client.close()
                continue
            for pair in ((client, daemon, 0), (daemon, client, PAUSE_S)):
                self._threads.append(threading.Thread(target=self._relay, args=pair))
                self._threads[-1].start()

    @staticmethod
    def _relay(source, target, pause):
        try:
            while data := source.recv(CHUNK_BYTES):
                target.sendall(data)
                time.sleep(pause)
        except OSError:
            pass
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # the other direction was first
