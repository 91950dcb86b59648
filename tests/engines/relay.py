# SPDX-License-Identifier: Apache-2.0
"""relay - a provider's front end that does not pass on what it is given.

Comes in: requests on its own port. Goes out: the same to the engine, and its
answers back, each through a function that may change it. What clients (and the
tap) see is this side.
"""

import http.client
import http.server
import threading


def as_it_is(path, body):
    return body


class Relay:
    """request, answer: (path, bytes) -> bytes. An answer is sent whole."""

    def __init__(self, port, engine_port, request=as_it_is, answer=as_it_is):
        relay = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status, kind, body = relay.pass_on(self.path, body)
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.engine_port = engine_port
        self.request, self.answer = request, answer
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port),
                                                      Handler)
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()

    def pass_on(self, path, body):
        engine = http.client.HTTPConnection("127.0.0.1", self.engine_port)
        try:
            engine.request("POST", path, self.request(path, body),
                           {"Content-Type": "application/json"})
            answer = engine.getresponse()
            return (answer.status, answer.getheader("Content-Type"),
                    self.answer(path, answer.read()))
        finally:
            engine.close()

    def close(self):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()
