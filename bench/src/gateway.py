"""A fastmcp proxy in front of a server, tuned for speed.

With `--kept`, all requests share one upstream session; otherwise each has its own, as by default.
"""

import argparse
import socket

from fastmcp import Client
from fastmcp.server import create_proxy


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("upstream")
    parser.add_argument("--kept", action="store_true")
    parser.add_argument("--listen", required=True)
    return parser.parse_args()


def bound(address):
    host, port = address.rsplit(":", 1)
    listener = socket.socket()
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    listener.bind((host, int(port)))
    listener.listen(1024)
    return listener


async def serve(target, listener):
    proxy = create_proxy(target, name="gateway")
    print("listening on http://%s:%d/mcp" % listener.getsockname(), flush=True)
    await proxy.run_http_async(
        sockets=[listener],
        path="/mcp",
        show_banner=False,
        log_level="error",
        # Connections are idle while other servers are measured.
        uvicorn_config={"log_level": "error", "access_log": False, "timeout_keep_alive": 3600},
        json_response=True,
        stateless_http=True,
    )


async def main():
    wanted = arguments()
    listener = bound(wanted.listen)
    if not wanted.kept:
        return await serve(wanted.upstream, listener)
    async with Client(wanted.upstream, mode="2026-07-28") as client:
        await serve(client, listener)


if __name__ == "__main__":
    import uvloop

    uvloop.run(main())
