"""The judge judged: what has to fail fails."""

import unittest

from judge import CLIENT, COMPACT, clients, lists, suite

RUN = ("py", "auto", "http", "plain")


def report(names, **other):
    checks = [{"name": name, "status": other.get(name, "pass"), "detail": "why"} for name in names]
    return {"client": "x", "version": "1", "protocol": "p", "checks": [check for check in checks if check["status"]]}


def failures(expected=(), **other):
    return clients({RUN: report(CLIENT, **other)}, expected)[1]


def verdict(baseline, *checks, scenarios=("s",)):
    results = {"s": [{"id": name, "status": status} for name, status in checks]}
    return suite(scenarios, results, baseline)[1]


class Clients(unittest.TestCase):
    def test_all_passing_is_fine(self):
        self.assertEqual(failures(), [])

    def test_a_failure_fails_even_when_a_line_names_it(self):
        self.assertEqual(len(failures(cancel="fail")), 1)
        self.assertEqual(len(failures({"py auto http plain cancel": "later"}, cancel="fail")), 2)

    def test_a_skip_needs_its_line(self):
        self.assertEqual(len(failures(cancel="skip")), 1)
        for line in ("py auto http plain cancel", "* auto http plain cancel", "py * * * cancel"):
            self.assertEqual(failures({line: "later"}, cancel="skip"), [])

    def test_a_line_without_its_skip_fails(self):
        self.assertEqual(len(failures({"py auto http plain cancel": "later"})), 1)
        self.assertEqual(len(failures({"no-such-client auto http plain cancel": "later"})), 1)
        self.assertEqual(len(failures({"* * * * no_such_check": "later"})), 1)

    def test_a_line_for_all_has_to_hold_for_all(self):
        reports = {RUN: report(CLIENT, cancel="skip"), ("py", "legacy", "http", "plain"): report(CLIENT)}
        self.assertEqual(clients(reports, {"py auto http plain cancel": "later"})[1], [])
        self.assertEqual(len(clients(reports, {"py * http plain cancel": "later"})[1]), 1)

    def test_a_second_line_for_a_skip_fails(self):
        self.assertEqual(len(failures({"py auto http plain cancel": "a", "* auto * * cancel": "b"}, cancel="skip")), 1)

    def test_a_line_of_what_was_not_asked_for_is_left_alone(self):
        for line in ("py auto stdio plain cancel", "py auto http direct cancel", "* * * compact cancel"):
            self.assertEqual(failures({line: "later"}), [])

    def test_a_check_or_a_report_that_is_missing_fails(self):
        self.assertEqual(len(failures(cancel=None)), 1)
        self.assertEqual(len(clients({RUN: None}, {})[1]), 1)

    def test_compact_mode_has_checks_of_its_own(self):
        compact = (*RUN[:3], "compact")
        self.assertEqual(len(clients({compact: report(CLIENT)}, {})[1]), len(COMPACT))
        self.assertEqual(clients({compact: report(CLIENT + COMPACT)}, {})[1], [])


class Lists(unittest.TestCase):
    def test_the_same_bytes_at_each_version_are_fine(self):
        self.assertEqual(lists({"a": [("1", "x"), ("2", "y")], "b": [("1", "x"), ("1", "x")]})[1], [])

    def test_other_bytes_fail(self):
        self.assertEqual(len(lists({"a": [("1", "x")], "b": [("1", "x"), ("1", "x ")]})[1]), 1)

    def test_a_client_that_was_told_nothing_fails(self):
        self.assertEqual(len(lists({"a": [("1", "x")], "b": []})[1]), 1)


class Suite(unittest.TestCase):
    def test_passing_checks_and_traces_are_fine(self):
        self.assertEqual(verdict({}, ("a", "SUCCESS"), ("outgoing-request", "INFO")), [])

    def test_whatever_is_no_success_needs_a_line(self):
        for status in ("FAILURE", "WARNING", "SKIPPED", "INFO"):
            self.assertEqual(len(verdict({}, ("a", status))), 1)
            self.assertEqual(verdict({"s:a": "later"}, ("a", status)), [])

    def test_a_line_whose_check_passes_or_is_gone_fails(self):
        self.assertEqual(len(verdict({"s:a": "later"}, ("a", "SUCCESS"))), 1)
        self.assertEqual(len(verdict({"s:b": "later"}, ("a", "SUCCESS"))), 1)

    def test_a_scenario_without_checks_fails(self):
        self.assertEqual(len(verdict({}, ("a", "SUCCESS"), scenarios=("s", "t"))), 1)


if __name__ == "__main__":
    unittest.main()
