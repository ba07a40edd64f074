"""Holds what a run reported against what the tree says it may report, and prints the verdict.

    judge.py clients REPORTS                     REPORTS/CLIENT MODE TRANSPORT.json against expected-skips
    judge.py suite REVISION RESULTS SUITE        the suite's result folders against baseline/REVISION

Both files have lines of the form `WORDS  # reason`. A line excuses exactly one thing; a thing that no line excuses
fails, and so does a line that excuses nothing any more: it never outlives its reason.
"""

import json
import re
import sys
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent

CLIENT = """connect alive list_tools list_resources list_templates list_prompts read_resource read_binary read_template
    read_missing get_prompt complete call_tool call_mixed call_error call_unknown progress cancel elicit_accept
    elicit_decline elicit_cancel manual_input_required list_changed close""".split()
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
    """Judges client reports: {(client, mode, transport): report or None}; returns lines to print, failures, counts."""
    lines, failures, counts, used = [], [], Counter(), set()
    for run, report in reports.items():
        name = " ".join(run)
        if not report:
            failures.append(f"{name}: no report")
            counts["fail"] += 1
            continue
        checks = {check["name"]: check for check in report["checks"]}
        here = Counter(check["status"] for check in report["checks"])
        counts += here
        lines.append(f"{name:30} {report['client'] + ' ' + report['version']:36} {report['protocol']}  "
                     f"{here['pass']} pass, {here['fail']} fail, {here['skip']} skip")
        for missing in set(INSPECTOR if run[0].startswith("inspector") else CLIENT) - set(checks):
            failures.append(f"{name} {missing}: not reported")
            counts["fail"] += 1
        for check in report["checks"]:
            key = f"{name} {check['name']}"
            if check["status"] == "skip":
                used.add(key)
                if key not in expected:
                    failures.append(f"{key}: a skip that expected-skips does not name: {check['detail']}")
            elif check["status"] == "fail":
                failures.append(f"{key}: {check['detail']}")
    transports = {transport for _, _, transport in reports}
    for key in expected:
        if key not in used and key.split(" ")[2] in transports:
            failures.append(f"{key}: expected-skips names a skip that did not happen")
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


def main(kind, *args):
    if kind == "clients":
        label = "interop"
        reports = {tuple(path.stem.split()): json.loads(path.read_text() or "null")
                   for path in sorted(Path(args[0]).glob("*.json"))}
        lines, failures, counts = clients(reports, excuses(HERE / "expected-skips"))
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
