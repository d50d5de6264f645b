"""Serves a metrics page that is made anew for each scrape, from the seconds since the first one was asked for."""

import gzip
import http.server
import json
import threading
import time


class Recording:
    """What record_pages.py wrote. After its end the last page stays."""

    def __init__(self, path):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            self._pages = [json.loads(line) for line in file]

    @property
    def seconds(self):
        return self._pages[-1][0]

    def page_at(self, seconds):
        return next((page for when, page in reversed(self._pages) if when <= seconds), self._pages[0][1])


class PageServer:
    """On a free port, from a thread of its own. `page_at(seconds)` is called on threads of the server."""

    def __init__(self, page_at):
        self.start_time = None
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                body = page_at(server.seconds()).encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def seconds(self):
        if self.start_time is None:
            self.start_time = time.monotonic()
        return time.monotonic() - self.start_time

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
