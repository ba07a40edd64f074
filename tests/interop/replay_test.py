"""The comparison tried on servers that do not answer as they did."""

import unittest

from recording import ANSWERED, LEFT, SENT, TOLD, Exchange, Message
from replay import replay, steady, wavering


def asked(question, answer=None):
    message = lambda text: text and Message(b"", [], text, text)
    return Exchange(message(question), message(answer))


class Parrot:
    """Answers every question as it was recorded, or, when it is asked for the nth time, as it is told to."""

    def __init__(self, other=None):
        self.other, self.said, self.times = other or {}, [], 0

    def send(self, exchange):
        self.said.append(exchange.request.body)

    def leave(self, exchange):
        self.said.append(b"left " + exchange.request.body)

    def answer(self, exchange):
        self.times += 1
        return self.other.get(self.times, exchange.answer.body)

    def line(self, identifier):
        return b"a notice"

    @staticmethod
    def shown(message):
        return message.body


def differences(server, events):
    found = []
    return replay(server, events, found), found


ONE, TWO = asked(b'{"id":1,"m":"a"}', b'{"id":1,"r":1}'), asked(b'{"id":2,"m":"b"}', b'{"id":2,"r":2}')
FAR = [asked(b'{"id":%d,"m":"how far"}' % n, b'{"id":%d,"r":%d}' % (n, n // 3)) for n in (1, 2, 3, 4)]


class Replay(unittest.TestCase):
    def test_the_same_answers_are_fine(self):
        events = [(SENT, ONE), (SENT, TWO), (ANSWERED, TWO), (TOLD, b"a notice"), (ANSWERED, ONE)]
        self.assertEqual(differences(Parrot(), events), (2, []))

    def test_another_answer_or_notice_is_a_difference(self):
        events = [(SENT, ONE), (ANSWERED, ONE), (SENT, TWO), (ANSWERED, TWO)]
        self.assertEqual(len(differences(Parrot({2: b'{"id":2,"r":2 }'}), events)[1]), 1)
        self.assertEqual(len(differences(Parrot(), [(TOLD, b"another notice")])[1]), 1)

    def test_questions_that_are_left_are_left_in_their_place(self):
        server = Parrot()
        differences(server, [(SENT, ONE), (SENT, TWO), (ANSWERED, TWO), (LEFT, ONE), (SENT, TWO)])
        self.assertEqual(server.said, [ONE.request.body, TWO.request.body, b"left " + ONE.request.body, TWO.request.body])


class HowFar(unittest.TestCase):
    """A question with more than one answer is about how far something else is."""

    def events(self):
        return [(SENT, FAR[0]), (SENT, ONE), (ANSWERED, FAR[0]), (SENT, FAR[1]), (ANSWERED, FAR[1]), (SENT, FAR[2]),
                (ANSWERED, FAR[2]), (SENT, TWO), (SENT, FAR[3]), (ANSWERED, FAR[3])]

    def test_only_the_last_time_before_something_else_counts_and_it_counts_from_its_answer(self):
        events = steady(self.events(), wavering(self.events()))
        self.assertEqual(events, [(SENT, ONE), (SENT, FAR[2]), (ANSWERED, FAR[2]),
                                  (SENT, TWO), (SENT, FAR[3]), (ANSWERED, FAR[3])])

    def test_it_is_asked_until_the_answer_is_the_recorded_one(self):
        compared, found = differences(Parrot({1: b"not yet", 2: b"not yet"}), self.events())
        self.assertEqual((compared, found), (2, []))

    def test_a_question_with_one_answer_is_asked_once(self):
        events = [(SENT, ONE), (ANSWERED, ONE), (SENT, ONE), (ANSWERED, ONE)]
        self.assertEqual(steady(events, wavering(events)), events)
        self.assertEqual(len(differences(Parrot({1: b"not yet"}), events)[1]), 1)


if __name__ == "__main__":
    unittest.main()
