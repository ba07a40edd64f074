"""The reader of recordings tried on bytes as they come: in pieces, and with clients that leave."""

import json
import tempfile
import unittest
from pathlib import Path

import recording
from recording import ANSWERED, LEFT, SENT, TOLD

CLIENT, SERVER = "client", "server"
QUESTION = b'POST /mcp HTTP/1.1\r\ncontent-length: 31\r\n\r\n{"id":7, "method":"tools/list"}'
ANSWER = b'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n8\r\n{"id":7,\r\n5\r\n"r":1\r\n1\r\n}\r\n0\r\n\r\n'


def read(reader, *entries):
    """What a reader makes of entries (side, connection, bytes)."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "recording"
        path.write_text("".join(
            json.dumps({"from": side, "connection": connection, "data": data.decode("latin-1")}) + "\n"
            for side, connection, data in entries))
        return reader(path)


class Http(unittest.TestCase):
    def test_messages_come_in_pieces(self):
        for cut in range(1, min(len(QUESTION), len(ANSWER))):
            events = read(recording.http, (CLIENT, 1, QUESTION[:cut]), (CLIENT, 1, QUESTION[cut:]),
                          (SERVER, 1, ANSWER[:cut]), (SERVER, 1, ANSWER[cut:]))
            self.assertEqual([what for what, _ in events], [SENT, ANSWERED])
            exchange = events[0][1]
            self.assertEqual((exchange.request.raw, exchange.answer.raw), (QUESTION, ANSWER))
            self.assertEqual(exchange.answer.body, b'{"id":7,"r":1}')

    def test_connections_cross_and_are_used_again(self):
        events = read(recording.http, (CLIENT, 1, QUESTION), (CLIENT, 2, QUESTION), (SERVER, 2, ANSWER),
                      (CLIENT, 2, QUESTION), (SERVER, 1, ANSWER), (SERVER, 2, ANSWER))
        order = [what for what, _ in events]
        self.assertEqual(order, [SENT, SENT, ANSWERED, SENT, ANSWERED, ANSWERED])
        self.assertIs(events[0][1], events[4][1])

    def test_a_client_that_leaves_is_not_answered(self):
        events = read(recording.http, (CLIENT, 1, QUESTION), (SERVER, 1, ANSWER[:40]), (CLIENT, 1, b""),
                      (SERVER, 1, ANSWER[40:]))
        self.assertEqual([what for what, _ in events], [SENT, LEFT])

    def test_answers_without_a_length_end_with_the_connection(self):
        events = read(recording.http, (CLIENT, 1, QUESTION), (SERVER, 1, b"HTTP/1.1 200 OK\r\n\r\nall"), (SERVER, 1, b""))
        self.assertEqual(events[1][1].answer.body, b"all")


class Stdio(unittest.TestCase):
    def test_lines_come_in_pieces_and_answers_in_any_order(self):
        events = read(recording.stdio, (CLIENT, 1, b'{"id":1}\n{"id":'), (CLIENT, 1, b'"1"}\n{"m":1}\n'),
                      (SERVER, 1, b'{"id":"1","r":2}\n{"n"'), (SERVER, 1, b':3}\n{"id":1,"r":4}\n'), (CLIENT, 1, b""))
        self.assertEqual([what for what, _ in events], [SENT, SENT, SENT, ANSWERED, TOLD, ANSWERED])
        self.assertIs(events[1][1], events[3][1])
        self.assertEqual((events[3][1].answer.body, events[4][1]), (b'{"id":"1","r":2}', b'{"n":3}'))


class Lists(unittest.TestCase):
    ASK = b'{"id":"x","method":"tools/list"}'
    STATELESS = b'{"id":7,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"w"}}}'

    def told(self, *entries):
        return list(recording.lists_of_tools(read(recording.stdio, *entries)))

    def test_they_are_told_without_their_ids_every_other_byte_as_it_was(self):
        told = self.told((CLIENT, 1, self.STATELESS + b"\n"), (SERVER, 1, b'{"id":7,"r": [1]}\n'))
        self.assertEqual(told, [("w", '{"r": [1]}')])

    def test_where_a_question_has_no_version_it_is_the_negotiated_one(self):
        told = self.told((CLIENT, 1, b'{"id":1,"method":"initialize"}\n'),
                         (SERVER, 1, b'{"id":1,"result":{"protocolVersion":"v"}}\n'),
                         (CLIENT, 1, self.ASK + b"\n"), (SERVER, 1, b'{"id":"x","r":[1]}\n'))
        self.assertEqual(told, [("v", '{"r":[1]}')])

    def test_streams_are_looked_into(self):
        question = b"POST /mcp HTTP/1.1\r\ncontent-length: %d\r\n\r\n%b" % (len(self.STATELESS), self.STATELESS)
        answer = b'HTTP/1.1 200 OK\r\ncontent-length: 37\r\n\r\nevent: message\ndata: {"id":7,"r":1}\n\n'
        events = read(recording.http, (CLIENT, 1, question), (SERVER, 1, answer))
        self.assertEqual(list(recording.lists_of_tools(events)), [("w", '{"r":1}')])


if __name__ == "__main__":
    unittest.main()
