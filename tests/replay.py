"""The program as it replays recorded calls: no socket may be opened, and nothing that could ask a service is loaded.

python tests/replay.py ARGUMENTS OF THE PROGRAM
"""

from __future__ import annotations

import socket
import sys
from typing import Never

from nclue_build.cli.boundary import run_command


def refuse(*_: object, **__: object) -> Never:
    """Stand for everything that begins to talk."""
    raise AssertionError("a replay opened a socket")


if __name__ == "__main__":
    for owner, name in ((socket.socket, "connect"), (socket, "create_connection"), (socket, "getaddrinfo")):
        setattr(owner, name, refuse)
    code = run_command(sys.argv[1:])
    assert not {"anthropic", "tenacity", "httpx2", "httpx"} & {name.partition(".")[0] for name in sys.modules}
    raise SystemExit(code)
