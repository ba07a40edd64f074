"""Reads what recorder.py wrote: what was said, as events in the order in which they happened.

An event is `(SENT, exchange)` when a client asked or told something, `(ANSWERED, exchange)` when it had its answer,
`(LEFT, exchange)` when it did not wait for that, or `(TOLD, line)` when a server over stdio said anything else.
"""

import json
import re
from dataclasses import dataclass, field

SENT, ANSWERED, LEFT, TOLD = "sent", "answered", "left", "told"


@dataclass
class Message:
    """A request or a response over HTTP; over stdio, a line."""

    start: bytes
    headers: list
    body: bytes
    raw: bytes = field(repr=False)

    def header(self, name):
        return dict((key.lower(), value) for key, value in self.headers).get(name)


@dataclass(eq=False)
class Exchange:
    request: Message
    answer: Message = None


def entries(path):
    """The entries of a recording: side, connection, bytes."""
    for line in path.read_text().splitlines():
        entry = json.loads(line)
        yield entry["from"], entry["connection"], entry.get("data", "").encode("latin-1")


def http(path):
    """The events of a recording over HTTP."""
    events, buffers, waiting, left = [], {}, {}, set()
    for side, connection, data in entries(path):
        if connection in left:
            continue  # what the client did not wait for says nothing: it came or did not in time
        buffer = buffers.setdefault((connection, side), bytearray())
        buffer += data
        exchanges = waiting.setdefault(connection, [])
        while message := parsed(buffer, ended=not data and side == "server"):
            if side == "client":
                exchanges.append(Exchange(message))
                events.append((SENT, exchanges[-1]))
            else:
                exchange = exchanges.pop(0)
                exchange.answer = message
                events.append((ANSWERED, exchange))
        if not data and side == "client":
            events += [(LEFT, exchange) for exchange in exchanges]
            left.add(connection)
    return events


def parsed(buffer, ended=False):
    """Takes the first whole HTTP/1.1 message out of a buffer; None while there is none."""
    head, found, rest = bytes(buffer).partition(b"\r\n\r\n")
    if not found:
        return None
    start, *lines = head.split(b"\r\n")
    headers = [tuple(part.strip().decode("latin-1") for part in line.split(b":", 1)) for line in lines]
    message = Message(start, headers, b"", b"")
    body, used = body_of(message, rest, ended)
    if body is None:
        return None
    message.body = body
    message.raw = bytes(buffer[: len(head) + 4 + used])
    del buffer[: len(message.raw)]
    return message


def body_of(message, rest, ended):
    """The body that follows a head and how long it was on the wire; None while its end is not there."""
    if message.header("transfer-encoding") == "chunked":
        return unchunked(rest)
    if length := message.header("content-length"):
        length = int(length)
        return (rest[:length], length) if length <= len(rest) else (None, 0)
    if message.start.startswith(b"HTTP/") and not re.match(rb"HTTP/1.1 (1|204|304)", message.start):
        return (rest, len(rest)) if ended else (None, 0)
    return b"", 0


def unchunked(data):
    """The content of a chunked body and how long that was; None while its end is not there."""
    body, at = bytearray(), 0
    while (line := data.find(b"\r\n", at)) >= 0:
        size = int(data[at:line].split(b";")[0], 16)
        end = line + 2 + size
        if len(data) < end + 2:
            break
        body += data[line + 2 : end]
        at = end + 2
        if size == 0:
            return bytes(body), at
    return None, 0


def stdio(path):
    """The events of a recording over stdio."""
    events, rest, waiting = [], {"client": b"", "server": b""}, {}
    for side, _, data in entries(path):
        *lines, rest[side] = (rest[side] + data).split(b"\n")
        for line in lines:
            identifier = id_of(line)
            if side == "client":
                exchange = Exchange(Message(b"", [], line, line + b"\n"))
                waiting[identifier] = exchange
                events.append((SENT, exchange))
            elif identifier in waiting and identifier is not None:
                exchange = waiting.pop(identifier)
                exchange.answer = Message(b"", [], line, line + b"\n")
                events.append((ANSWERED, exchange))
            else:
                events.append((TOLD, line))
    return events


def id_of(line):
    """The id of a question or an answer, as it is in JSON; None for a notice."""
    identifier = json.loads(line).get("id")
    return None if identifier is None else json.dumps(identifier)


def lists_of_tools(events):
    """What was answered to `tools/list`: the version and the message without its id, once for each request."""
    negotiated = None
    for event, exchange in events:
        if event != ANSWERED or not exchange.request.body:
            continue
        question = json.loads(exchange.request.body)
        for line in exchange.answer.body.split(b"\n"):
            line = line.removeprefix(b"data:").strip()
            if question["method"] == "initialize" and line.startswith(b"{"):
                negotiated = json.loads(line)["result"]["protocolVersion"]
            if question["method"] == "tools/list" and line.startswith(b"{"):
                said = question.get("params", {}).get("_meta", {}).get("io.modelcontextprotocol/protocolVersion")
                yield said or negotiated, without_id(line, question["id"])


def without_id(line, identifier):
    """A message without its id, every other byte as it was."""
    text, member = line.decode(), f'"id":{json.dumps(identifier)},'
    if text.count(member) != 1:
        raise ValueError(f"{text} does not have {member} once")
    return text.replace(member, "")
