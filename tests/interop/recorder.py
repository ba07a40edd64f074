"""Stands between a client and the server and writes down every byte that passes, in both directions, in order.

    recorder.py http FILE URL -- COMMAND ...       runs COMMAND with @url@ in it replaced by a URL that leads to URL
    recorder.py stdio FOLDER -- COMMAND ...        runs COMMAND as a server over stdio; one file for each such process

It changes no byte and understands none: a connection is passed on as it is, its ends included. A recording has one
JSON text on each line: whose bytes, on which connection, and the bytes as Latin-1; without bytes when that side ended.
`recording.py` reads it. The exit code is that of COMMAND.
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit


class Log:
    def __init__(self, path):
        self.file = open(path, "w")
        self.lock = threading.Lock()

    def write(self, side, connection, data):
        with self.lock:
            entry = {"from": side, "connection": connection, **({"data": data.decode("latin-1")} if data else {})}
            print(json.dumps(entry), file=self.file, flush=True)


async def http(log, url, command):
    """Passes connections on to the server of the URL for as long as the command runs."""
    target, connections = urlsplit(url), 0

    async def passed(connection, side, reader, writer):
        with suppress(ConnectionError):
            while data := await reader.read(65536):
                log.write(side, connection, data)
                writer.write(data)
                await writer.drain()
        log.write(side, connection, b"")
        with suppress(ConnectionError, OSError):
            writer.write_eof()

    async def connected(reader, writer):
        nonlocal connections
        connections += 1
        try:
            server_reader, server_writer = await asyncio.open_connection(target.hostname, target.port)
        except OSError:
            return writer.close()  # as there is no server, there is no connection
        await asyncio.gather(passed(connections, "client", reader, server_writer),
                             passed(connections, "server", server_reader, writer))
        for end in (writer, server_writer):
            end.close()

    listener = await asyncio.start_server(connected, "127.0.0.1", 0)
    ours = target._replace(netloc="127.0.0.1:%d" % listener.sockets[0].getsockname()[1]).geturl()
    process = await asyncio.create_subprocess_exec(*[word.replace("@url@", ours) for word in command])
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    return await process.wait()


def stdio(log, command):
    """Passes this process's input and output on to a server, and signals too."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())

    def passed(side, source, sink):
        with suppress(OSError):
            while data := os.read(source, 65536):
                log.write(side, 1, data)
                while data:
                    data = data[os.write(sink, data):]
        log.write(side, 1, b"")

    def asked():
        passed("client", 0, process.stdin.fileno())
        process.stdin.close()

    threading.Thread(target=asked, daemon=True).start()
    passed("server", process.stdout.fileno(), 1)
    process.stdout.close()
    return process.wait()


if __name__ == "__main__":
    split = sys.argv.index("--")
    kind, target, *url = sys.argv[1:split]
    command = sys.argv[split + 1:]
    if kind == "http":
        code = asyncio.run(http(Log(target), *url, command))
    else:
        code = stdio(Log(Path(target) / f"{time.time_ns()}.jsonl"), command)
    sys.stdout.flush()
    os._exit(code if code >= 0 else 128 - code)  # a thread may still wait for input
