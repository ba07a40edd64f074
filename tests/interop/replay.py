"""Says again what was recorded, to fresh servers, and compares every byte that they answer with the recording.

    replay.py EVERYTHING RECORDINGS       RECORDINGS/RUN/TRANSPORT MODE/..., as `run` and `conformance` leave them

Everything is said twice: to the server as it was recorded, and to one with a layer that does nothing on every plane. So
the two answer alike, too. Only the date of an HTTP answer may differ. What overlapped in the recording overlaps here.
"""

import os
import re
import socket
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Timer
from urllib.parse import urlsplit

import recording
from recording import ANSWERED, LEFT, SENT

SIDES = {"as recorded": [], "with identity layers": ["--identity-layers"]}
PLANES = "layer_http layer_frame layer operation_layer".split()
PATIENCE = 20.0  # seconds for an answer over HTTP, and for one that changes
LIFE = 60.0  # seconds for a server over stdio
MANY = 3  # differences after which a server is not asked any more
AT_ONCE = 12  # most of them wait, as the recorded tools do
ENOUGH = {"http": 600, "stdio": 500}  # with fewer answers, the recordings are not what they should be


class HttpServer:
    """A server over HTTP. Every exchange has a connection of its own."""

    def __init__(self, program, options):
        self.process = subprocess.Popen([program, "--listen", "127.0.0.1:0", *options], stderr=subprocess.PIPE, text=True)
        url = urlsplit(re.search(r"http://\S+", self.process.stderr.readline())[0])
        self.address = url.hostname, url.port
        self.open = {}

    def send(self, exchange):
        self.open[exchange] = socket.create_connection(self.address, timeout=PATIENCE)
        self.open[exchange].sendall(exchange.request.raw)

    def leave(self, exchange):
        self.open.pop(exchange).close()

    def answer(self, exchange):
        buffer = bytearray()
        with self.open.pop(exchange) as connection:
            while True:
                data = connection.recv(65536)
                buffer += data
                if message := recording.parsed(buffer, ended=not data):
                    return self.shown(message)
                if not data:
                    return f"an end within {bytes(buffer)}"

    @staticmethod
    def shown(message):
        """All of an answer but its date."""
        return message.start, [header for header in message.headers if header[0].lower() != "date"], message.body

    def end(self):
        self.process.terminate()
        self.process.communicate()
        return []


class StdioServer:
    """A server over stdio. Answers to questions that overlap may come in any order."""

    def __init__(self, program, options):
        self.process = subprocess.Popen([program, "--stdio", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.unread = []
        self.watch = Timer(LIFE, self.process.kill)
        self.watch.start()

    def send(self, exchange):
        self.process.stdin.write(exchange.request.raw)
        self.process.stdin.flush()

    def answer(self, exchange):
        return self.line(recording.id_of(exchange.request.body))

    def line(self, identifier):
        """The next line that has this id, or that is a notice."""
        for line in self.unread:
            if recording.id_of(line) == identifier:
                self.unread.remove(line)
                return line
        while line := self.process.stdout.readline().removesuffix(b"\n"):
            if recording.id_of(line) == identifier:
                return line
            self.unread.append(line)
        return "an end"

    @staticmethod
    def shown(message):
        return message.body

    def end(self):
        self.process.stdin.close()
        rest = self.process.stdout.read()
        self.process.wait()
        self.watch.cancel()
        return self.unread + rest.splitlines()


def question(exchange):
    """What was asked, whichever id it has."""
    return exchange.request.start + without_numbers(exchange.request.body)


def without_numbers(text):
    """A message without its id, by which its progress may be named, too."""
    return re.sub(rb'"(id|progressToken)": ?("[^"]*"|\d+)', rb'"\1":0', text)


def wavering(events):
    """The questions that had more than one answer: a client asked how far something else was."""
    answers = {}
    for event, exchange in events:
        if event == ANSWERED:
            answers.setdefault(question(exchange), set()).add(without_numbers(exchange.answer.body))
    return {asked for asked, found in answers.items() if len(found) > 1}


def steady(events, unsure):
    """The events without what was chance. A client that asks how far something is asks again until it is far enough: only
    the last time counts, and it counts from when it was answered."""
    found = []
    for event, exchange in events:
        if event not in (SENT, ANSWERED) or not exchange.answer or question(exchange) not in unsure:
            found.append((event, exchange))
        elif event == ANSWERED:
            if found and found[-1][0] == ANSWERED and question(found[-1][1]) == question(exchange):
                del found[-2:]
            found += [(SENT, exchange), (ANSWERED, exchange)]
    return found


def replay(server, events, differences):
    """Replays one recording and returns how many answers were compared; adds to the differences."""
    compared, unsure = 0, wavering(events)
    for event, exchange in steady(events, unsure):
        if len(differences) >= MANY:
            break
        if event == SENT:
            server.send(exchange)
        elif event == LEFT:
            server.leave(exchange)
        elif event == ANSWERED:
            expected, answer, deadline = server.shown(exchange.answer), server.answer(exchange), time.monotonic() + PATIENCE
            while answer != expected and question(exchange) in unsure and time.monotonic() < deadline:
                time.sleep(0.01)  # it is not as far as it was
                server.send(exchange)
                answer = server.answer(exchange)
            compared += 1
            if answer != expected:
                differences.append(f"{exchange.request.raw}\n  answered {answer}\n  recorded {expected}")
        elif (line := server.line(None)) != exchange:
            differences.append(f"a notice\n  told {line}\n  recorded {exchange}")
    return compared


def lanes(recordings):
    """What one server was there for: its transport, its mode and its recordings in order."""
    for folder in sorted(recordings.glob("*/* *")):
        transport, mode = folder.name.split()
        if transport == "http":
            yield transport, mode, sorted(folder.glob("*.jsonl"))
        else:
            for path in sorted(folder.glob("*/*.jsonl")):
                yield transport, mode, [path]


def replay_lane(program, transport, mode, paths, side):
    """Replays a lane to a fresh server; returns how many answers were compared and what differed."""
    start, read = {"http": (HttpServer, recording.http), "stdio": (StdioServer, recording.stdio)}[transport]
    server = start(program, ["--mode", mode, *SIDES[side]])
    compared, differences = 0, []
    try:
        for path in paths:
            compared += replay(server, read(path), differences)
    except OSError as error:
        differences.append(repr(error))
    differences += [f"also told {line}" for line in server.end()]
    return compared, [f"{' '.join(path.parts[-3:])}, {side}: {what}" for what in differences]


def describes_identity_layers(program):
    """Whether the option does what it is for: the server says of which layers it is made."""
    told = subprocess.run([program, "--stdio", "--identity-layers"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          env={**os.environ, "RUST_LOG": "info"}, text=True, timeout=LIFE).stderr
    return all(f"[{plane}: Stack<Identity, Identity>]" in told for plane in PLANES)


def main(program, recordings):
    failures, counts = [], {side: Counter() for side in SIDES}
    if not describes_identity_layers(program):
        failures.append("the server does not say that there is an identity layer on every plane")
    with ThreadPoolExecutor(AT_ONCE) as pool:
        parts = [(lane, side, pool.submit(replay_lane, program, *lane, side))
                 for lane in lanes(recordings) for side in SIDES]
        for (transport, _, paths), side, part in parts:
            compared, differences = part.result()
            counts[side][transport] += compared
            failures += differences if compared else [*differences, f"{paths[0]}: nothing was compared"]
    for side, count in counts.items():
        print(f"replay: {side}: " + ", ".join(f"{count[transport]} answers over {transport}" for transport in ENOUGH))
        failures += [f"{side}: fewer than {least} answers over {transport}" for transport, least in ENOUGH.items()
                     if count[transport] < least]
    for failure in failures[:20]:
        print(f"FAIL {failure}")
    print(f"replay: {sum(sum(count.values()) for count in counts.values())} compared, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(os.path.realpath(sys.argv[1]), Path(sys.argv[2])))
