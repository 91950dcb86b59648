#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""held_port - ports that stay free for a daemon.

    held_port.py N      prints N ports, a line each; holds them until killed

A port that was found free and let go is anybody's a moment later. One that is
bound and not listened on is given to nobody who asks for just any port, while
a daemon that binds with SO_REUSEADDR or SO_REUSEPORT, as ours, lighttpd and
llama-server do, gets it, and again after it was killed.
"""

import signal
import socket
import sys

_held = []


def held_port():
    """A port of 127.0.0.1, held as long as this process lives."""
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    s.bind(("127.0.0.1", 0))
    _held.append(s)
    return s.getsockname()[1]


if __name__ == "__main__":
    for _ in range(int(sys.argv[1])):
        print(held_port())
    sys.stdout.flush()
    signal.pause()
