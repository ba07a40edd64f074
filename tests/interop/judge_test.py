"""The judge judged: what has to fail fails."""

import unittest

from judge import CLIENT, clients, suite

RUN = ("py", "auto", "http")


def report(**other):
    checks = [{"name": name, "status": other.get(name, "pass"), "detail": "why"} for name in CLIENT]
    return {"client": "x", "version": "1", "protocol": "p", "checks": [check for check in checks if check["status"]]}


def failures(expected=(), **other):
    return clients({RUN: report(**other)}, expected)[1]


def verdict(baseline, *checks, scenarios=("s",)):
    results = {"s": [{"id": name, "status": status} for name, status in checks]}
    return suite(scenarios, results, baseline)[1]


class Clients(unittest.TestCase):
    def test_all_passing_is_fine(self):
        self.assertEqual(failures(), [])

    def test_a_failure_fails_even_when_a_line_names_it(self):
        self.assertEqual(len(failures(cancel="fail")), 1)
        self.assertEqual(len(failures({"py auto http cancel": "later"}, cancel="fail")), 2)

    def test_a_skip_needs_its_line(self):
        self.assertEqual(len(failures(cancel="skip")), 1)
        self.assertEqual(failures({"py auto http cancel": "later"}, cancel="skip"), [])

    def test_a_line_without_its_skip_fails(self):
        self.assertEqual(len(failures({"py auto http cancel": "later"})), 1)
        self.assertEqual(len(failures({"no-such-client auto http cancel": "later"})), 1)

    def test_a_line_of_a_transport_that_was_not_asked_for_is_left_alone(self):
        self.assertEqual(failures({"py auto stdio cancel": "later"}), [])

    def test_a_check_or_a_report_that_is_missing_fails(self):
        self.assertEqual(len(failures(cancel=None)), 1)
        self.assertEqual(len(clients({RUN: None}, {})[1]), 1)


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
