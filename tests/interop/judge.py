"""Holds what a run reported against what the tree says it may report, and prints the verdict.

    judge.py clients REPORTS                REPORTS/CLIENT ERA TRANSPORT MODE.json against expected-skips
    judge.py suite REVISION RESULTS SUITE   the suite's result folders against baseline/REVISION
    judge.py lists RECORDINGS               what clients were told of the tools of compact mode: always the same bytes

Both files have lines of the form `WORDS  # reason`. What no line excuses fails, and so does a line that excuses nothing
any more: it never outlives its reason. A word may be `*`, for all of its column; such a line has to hold for all.
"""

import json
import re
import sys
from collections import Counter
from pathlib import Path

import recording

HERE = Path(__file__).parent

CLIENT = """connect alive list_tools list_resources list_templates list_prompts read_resource read_binary read_template
    read_missing get_prompt complete call_tool call_mixed call_structured call_error call_invalid call_unknown progress
    cancel elicit_accept elicit_decline elicit_cancel manual_input_required list_changed close""".split()
COMPACT = "search_tools get_tool_details".split()
INSPECTOR = "list_tools call_tool strict_schemas".split()

# What the suite writes down about the traffic; any other check that is not a success needs its line, for an INFO says
# that the suite could not look: a server without sessions, say, has nothing for a scenario about sessions.
TRACE = re.compile("(incoming|outgoing)-|stream-closed$|server-info$")


def excuses(path):
    """The excused keys of a file, each with its reason."""
    found = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        key, _, reason = (part.strip() for part in line.partition("#"))
        if not key:
            continue
        key = " ".join(key.split())
        if not reason or key in found:
            raise SystemExit(f"{path.name}:{number}: {'a second line for' if reason else 'no reason for'} {key}")
        found[key] = reason
    return found


def clients(reports, expected):
    """Judges client reports: {(client, era, transport, mode): report or None}; returns lines to print, failures, counts."""
    lines, failures, counts, verdicts, totals = [], [], Counter(), {}, {}
    for run, report in reports.items():
        name = " ".join(run)
        if not report:
            failures.append(f"{name}: no report")
            counts["fail"] += 1
            continue
        checks = {check["name"]: check for check in report["checks"]}
        here = Counter(check["status"] for check in report["checks"])
        counts += here
        totals.setdefault(run[2:], Counter()).update(here)
        lines.append(f"{name:36} {report['client'] + ' ' + report['version']:36} {report['protocol']}  "
                     f"{here['pass']} pass, {here['fail']} fail, {here['skip']} skip")
        for missing in demanded(*run) - set(checks):
            failures.append(f"{name} {missing}: not reported")
            counts["fail"] += 1
        for check in report["checks"]:
            verdicts[*run, check["name"]] = check["status"]
            if check["status"] == "fail":
                failures.append(f"{name} {check['name']}: {check['detail']}")
            elif check["status"] == "skip" and not any(covers(key, (*run, check["name"])) for key in expected):
                failures.append(f"{name} {check['name']}: a skip that expected-skips does not name: {check['detail']}")
    lines += [f"{mode} over {transport}: {here['pass']} pass, {here['fail']} fail, {here['skip']} skip"
              for (transport, mode), here in totals.items()]
    return lines, failures + stale(expected, reports, verdicts), counts


def demanded(client, era, transport, mode):
    """The checks that a run has to report."""
    return set(INSPECTOR) if client.startswith("inspector") else set(CLIENT + COMPACT * (mode == "compact"))


def covers(key, words):
    """Whether the key of a line stands for these words."""
    return all(part in ("*", word) for part, word in zip(key.split(" "), words, strict=True))


def stale(expected, reports, verdicts):
    """What is wrong with the lines of expected-skips, as far as their transports and modes were asked for."""
    asked = [{"*", *column} for column in zip(*(run[2:] for run in reports))]
    failures = []
    for key in expected:
        covered = [check for check in verdicts if covers(key, check)]
        if not covered and all(word in words for word, words in zip(key.split(" ")[2:4], asked)):
            failures.append(f"{key}: expected-skips names a check that nothing reports")
        for check in covered:
            if verdicts[check] != "skip":
                failures.append(f"{key}: expected-skips names a skip that did not happen: {' '.join(check)}")
            if others := [other for other in expected if other < key and covers(other, check)]:
                failures.append(f"{key}: a second line for {' '.join(check)}, beside {others[0]}")
    return failures


def lists(told):
    """Judges the lists of tools that clients were told of in compact mode, {client: [(version, text without its id)]}."""
    lines, failures, counts, first = [], [], Counter(), {}
    for client, answers in told.items():
        if not answers:
            failures.append(f"{client}: asked for no list of tools")
        for version, text in answers:
            origin, expected = first.setdefault(version, (client, text))
            counts["pass"] += text == expected
            if text != expected:
                failures.append(f"{client}: at {version} the list of tools is another one than for {origin}:\n"
                                f"{text}\n{expected}")
    for version, (_, text) in sorted(first.items()):
        asked = [client for client, answers in told.items() if version in dict(answers)]
        times = sum(version == answered for answers in told.values() for answered, _ in answers)
        lines.append(f"{version}: the same {len(text)} bytes {times} times for {len(asked)} runs of clients")
    return lines, failures, counts


def suite(scenarios, results, baseline):
    """Judges suite results, {scenario: [checks]}, for all `scenarios`; returns lines to print, failures, counts."""
    failures, counts, used = [], Counter(), set()
    for scenario in scenarios:
        if not results.get(scenario):
            failures.append(f"{scenario}: no check ran")
            counts["fail"] += 1
    for scenario, checks in results.items():
        if scenario not in scenarios:
            failures.append(f"{scenario}: not in the requirements")
        for check in checks:
            key, status = f"{scenario}:{check['id']}", check["status"]
            if TRACE.match(check["id"]):
                continue
            if status == "SUCCESS":
                counts["pass"] += 1
            elif key in baseline:
                counts["skip"] += 1
                used.add(key)
            else:
                counts["fail"] += 1
                failures.append(f"{key}: {status}: {check.get('errorMessage') or check.get('description')}")
    failures += [f"{key}: the baseline names a check that does not fail" for key in baseline if key not in used]
    return [f"{len(results)} scenarios"], failures, counts


def required(requirements):
    """The server scenarios of a requirements file, scored and unscored: a flat YAML with three lists."""
    scored = re.search(r"^server:\n((?:\s+- .*\n)+)", requirements, re.M)[1]
    unscored = re.findall(r"- scenario: (\S+)\n\s+leg: server\n", requirements)
    return re.findall(r"- (\S+)", scored) + unscored


def suite_results(folder):
    """Reads RESULTS/server-SCENARIO-TIMESTAMP/checks.json."""
    return {re.fullmatch(r"server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z", path.parent.name)[1]: json.loads(path.read_text())
            for path in sorted(folder.glob("*/checks.json"))}


def lists_told(recordings):
    """The lists of tools in the recordings of compact mode, by run of a client."""
    told = {}
    for path in sorted(recordings.glob("http compact/*.jsonl")):
        told[f"http {path.stem}"] = list(recording.lists_of_tools(recording.http(path)))
    for folder in sorted(recordings.glob("stdio compact/*")):
        told[f"stdio {folder.name}"] = [answer for path in sorted(folder.glob("*.jsonl"))
                                        for answer in recording.lists_of_tools(recording.stdio(path))]
    return told


def main(kind, *args):
    if kind == "clients":
        label = "interop"
        reports = {tuple(path.stem.split()): json.loads(path.read_text() or "null")
                   for path in sorted(Path(args[0]).glob("*.json"))}
        lines, failures, counts = clients(reports, excuses(HERE / "expected-skips"))
    elif kind == "lists":
        label = "tools/list in compact mode"
        lines, failures, counts = lists(lists_told(Path(args[0])))
    else:
        revision, results, package = args
        label = f"conformance-{revision}"
        scenarios = required((Path(package) / "requirements" / f"{revision}.yaml").read_text())
        lines, failures, counts = suite(scenarios, suite_results(Path(results)), excuses(HERE / "baseline" / revision))
    for line in lines:
        print(f"{label}: {line}")
    for failure in failures:
        print(f"FAIL {failure}")
    print(f"{label}: {counts['pass']} passed, {max(counts['fail'], len(failures))} failed, {counts['skip']} skipped")
    return 1 if failures or not counts["pass"] else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
