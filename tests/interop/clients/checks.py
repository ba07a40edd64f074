"""The checks every Python client goes through, once for each line, and the report they leave.

usage of a client script: python SCRIPT --era legacy|auto --mode plain|direct|compact --expect VERSION
    (--url URL | -- COMMAND ARGUMENT ...)
A check that the server or the client line cannot do is reported as a skip with the reason, never left out.
Results are compared in their wire form (`wire`), so that the checks do not depend on one line's names.
"""

import argparse
import asyncio
import json
import sys
import time
from contextlib import AsyncExitStack
from importlib.metadata import version

TIMEOUT = 15.0
WRONG_TOOL = "no_such_tool"


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--url")
    parser.add_argument("--era", required=True)
    parser.add_argument("--mode", required=True)
    parser.add_argument("--expect", required=True)
    parser.add_argument("stdio", nargs="*")
    return parser.parse_args()


def wire(value):
    """A result of any line as the JSON it was on the wire."""
    return value.model_dump(by_alias=True, mode="json", exclude_none=True)


def must(condition, message):
    if not condition:
        raise AssertionError(message)


def text(result):
    return "\n".join(block["text"] for block in result["content"] if block["type"] == "text")


def innermost(error):
    """The error that an exception group was wrapped around."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


async def code_of(call):
    """The JSON-RPC code that a call ends with."""
    try:
        return f"an answer: {await call}"
    except Exception as error:
        return getattr(getattr(error, "error", None), "code", repr(error))


async def until(condition, message):
    for _ in range(100):
        if await condition():
            return
        await asyncio.sleep(0.05)
    raise AssertionError(message)


def fill(schema):
    """Content that satisfies the flat schemas a form may have."""

    def sample(property):
        if "default" in property:
            return property["default"]
        if "enum" in property:
            return property["enum"][0]
        return {"boolean": True, "integer": 1, "number": 1, "array": []}.get(property.get("type"), "Alice")

    return {name: sample(property) for name, property in schema["properties"].items()}


class Client:
    """What a client line has to offer; a line without `ask` or `listen` leaves them as they are.

    `open(stack)` connects and returns the negotiated version; the other methods return wire forms.
    `session_id` is what the server gave over HTTP, if it did.
    """

    package: str
    ask = None
    listen = None
    modern = False
    session_id = None

    def __init__(self, options):
        self.options = options
        self.plan, self.forms, self.changes = "accept", 0, 0

    def form(self):
        """Notes that a form came and returns what the user does with it."""
        self.forms += 1
        return self.plan


class Server:
    """What the server can do, as its mode shows it: as tools, or behind the three tools of compact mode."""

    def __init__(self, client):
        self.client, self.mode = client, client.options.mode

    def shown(self, name, args):
        """The tool to call for an operation, and its arguments."""
        return ("call_tool", {"name": name, "arguments": args}) if self.mode == "compact" else (name, args)

    async def call(self, name, args, progress=None):
        return await self.client.call(*self.shown(name, args), progress)

    async def ask(self, name, args, responses=None, state=None):
        return await self.client.ask(*self.shown(name, args), responses, state)

    async def offers(self, name):
        if self.mode == "compact":
            return not (await self.client.call("get_tool_details", {"name": name})).get("isError")
        return any(tool["name"] == name for tool in await self.client.tools())

    def value(self, result):
        """The structured value of a result. Wherever it is wrapped, the text is a copy of the whole."""
        value = result["structuredContent"]
        if self.mode == "plain":
            return value
        must(json.loads(result["content"][-1]["text"]) == value, result)
        return value["value"]

    def failure(self, result):
        """The code of a failure; its message has to be in the text."""
        must(result["isError"] is True, result)
        value, told = result["structuredContent"], result["content"][-1]["text"]
        must(told == value["failure"]["message"] if self.mode == "plain" else json.loads(told) == value, result)
        return value["failure"]["code"]


class Report:
    def __init__(self):
        self.checks = []

    def skip(self, name, why):
        self.checks.append({"name": name, "status": "skip", "detail": why})

    async def run(self, name, body):
        """Runs one check within a time limit; what it raises is its failure."""
        start, status = time.monotonic(), "pass"
        try:
            async with asyncio.timeout(2 * TIMEOUT):
                detail = await body
        except Exception as error:
            error = innermost(error)
            status, detail = "fail", f"{type(error).__name__}: {error}"
        took = round((time.monotonic() - start) * 1000)
        self.checks.append({"name": name, "status": status, "ms": took, "detail": detail})
        return status == "pass"


def run_checks(client):
    """Runs all checks on a client, prints the report and exits."""
    report, options = Report(), client.options
    try:
        asyncio.run(main(client, report))
    except BaseException as error:  # some lines raise from their background tasks only at the end
        report.checks.append({"name": "close", "status": "fail", "detail": repr(innermost(error))})
    summary = {"client": f"python {client.package}", "version": version(client.package),
               "protocol": options.expect, "checks": report.checks}
    print(json.dumps(summary))
    sys.exit(any(check["status"] == "fail" for check in report.checks))


async def main(client, report):
    stack = AsyncExitStack()

    async def connect():
        negotiated = await client.open(stack)
        must(negotiated == client.options.expect, f"negotiated {negotiated}, not {client.options.expect}")

    if await report.run("connect", connect()):
        server = Server(client)
        for group in (listing, using, finding, calling, cancelling, asking, changing):
            await group(client, report, server)
        await report.run("close", stack.aclose())


async def listing(client, report, server):
    """Everything the server lists, seen through this client."""

    async def tools():
        tools = await client.tools()
        names = [tool["name"] for tool in tools]
        if server.mode == "compact":
            must(names == ["search_tools", "get_tool_details", "call_tool"], f"the tools are {names}")
        else:
            must(names[:1] == ["test_simple_text"], f"the first tool is {names[:1]}")
        must(all(tool["inputSchema"]["type"] == "object" for tool in tools), "an input schema that is no object")
        return f"{len(tools)} tools"

    async def lists(call, key, expected):
        found = [entry[key] for entry in await call()]
        must(expected in found, f"{expected} is missing in {found}")
        return f"{len(found)} listed"

    await report.run("alive", client.alive())
    await report.run("list_tools", tools())
    await report.run("list_resources", lists(client.resources, "uri", "test://static-text"))
    await report.run("list_templates", lists(client.templates, "uriTemplate", "test://template/{id}/data"))
    await report.run("list_prompts", lists(client.prompts, "name", "test_simple_prompt"))


async def using(client, report, _):
    """Resources, prompts and completion."""

    async def read(uri, media, field, part):
        content = (await client.read(uri))["contents"][0]
        must(content["uri"] == uri and content["mimeType"] == media and part in content[field], content)

    async def missing():
        code = await code_of(client.read("test://no-such-resource"))
        must(code == (-32602 if client.modern else -32002), f"got {code}")

    async def prompt():
        messages = (await client.prompt("test_prompt_with_arguments", {"arg1": "one", "arg2": "two"}))["messages"]
        must("one" in messages[0]["content"]["text"] and "two" in messages[0]["content"]["text"], messages)

    async def complete():
        result = await client.complete("test_prompt_with_arguments", {"name": "arg1", "value": ""})
        must(isinstance(result["completion"]["values"], list), result)

    await report.run("read_resource", read("test://static-text", "text/plain", "text", ""))
    await report.run("read_binary", read("test://static-binary", "image/png", "blob", ""))
    await report.run("read_template", read("test://template/123/data", "application/json", "text", "123"))
    await report.run("read_missing", missing())
    await report.run("get_prompt", prompt())
    await report.run("complete", complete())


async def finding(client, report, server):
    """The two tools of compact mode with which a client finds operations."""

    async def found(tool, args):
        return (await client.call(tool, args))["structuredContent"]["value"]

    async def search():
        operations = (await found("search_tools", {"query": "greet somebody", "limit": 2}))["operations"]
        must(operations[0]["name"] == "greet" and operations[0]["description"], operations)
        must(len(operations) <= 2 and "inputSchema" not in operations[0], operations)

    async def details():
        details = await found("get_tool_details", {"name": "greet"})
        must(details["name"] == "greet" and details["inputSchema"]["required"] == ["name"], details)
        must((await client.call("get_tool_details", {"name": WRONG_TOOL}))["isError"] is True, "details of no operation")

    if server.mode == "compact":
        await report.run("search_tools", search())
        await report.run("get_tool_details", details())


async def calling(client, report, server):
    """Calls of operations: results of each kind, failures, progress."""

    async def simple():
        result = await server.call("test_simple_text", {})
        must(not result.get("isError") and text(result) == "This is a simple text response for testing.", result)

    async def mixed():
        kinds = [block["type"] for block in (await server.call("test_multiple_content_types", {}))["content"]]
        must(kinds == ["text", "image", "resource"], kinds)

    async def structured():
        value = server.value(await server.call("cancel_stats", {}))
        must(isinstance(value["started"], int), value)

    async def failing(code, name, args):
        failure = server.failure(await server.call(name, args))
        must(failure == code, f"got {failure}")

    async def unknown():
        code = await code_of(client.call(WRONG_TOOL, {}))
        must(code == -32602, f"got {code}")
        if server.mode == "compact":
            await failing("unavailable", WRONG_TOOL, {})

    async def progress():
        seen = []

        async def step(progress, total, message):
            seen.append(progress)

        result = await server.call("test_tool_with_progress", {}, step)
        must(not result.get("isError"), text(result))
        await asyncio.sleep(0.1)  # the last step may be handled after the result
        must(seen == [0, 50, 100], f"progress was {seen}")

    await report.run("call_tool", simple())
    await report.run("call_mixed", mixed())
    await report.run("call_structured", structured())
    await report.run("call_error", failing("intended", "test_error_handling", {}))
    await report.run("call_invalid", failing("invalid_arguments", "greet", {"name": 7}))
    await report.run("call_unknown", unknown())
    await report.run("progress", progress())


async def cancelling(client, report, server):
    """A call given up: by closing its stream in the modern era over HTTP, by a notice that names it elsewhere."""

    async def stats():
        return server.value(await server.call("cancel_stats", {}))

    async def cancel():
        before = await stats()

        async def more(counter):
            return (await stats())[counter] > before[counter]

        call = asyncio.ensure_future(server.call("slow_cancellable", {"seconds": 60}))
        await until(lambda: more("started"), "the call never started")
        call.cancel()
        await asyncio.wait([call], timeout=5)
        must(call.cancelled() or (call.done() and call.exception()), "the cancelled call did not end, or had an answer")
        await until(lambda: more("cancelled"), "the server saw no cancelling")

    if client.options.url and not client.modern and not client.session_id:
        report.skip("cancel", "the server gave no session in which a notice could name the call")
    else:
        await report.run("cancel", cancel())


async def asking(client, report, server):
    """Forms: the same question is a server request in the legacy era, an input_required result in the modern one."""
    tool, args = "test_elicitation", {"message": "who are you?"}
    if client.modern:
        tool, args = "test_input_required_result_elicitation", {}
    offered = await server.offers(tool)

    async def elicit(plan):
        client.plan, client.forms, result = plan, 0, None
        try:
            result = await server.call(tool, args)
        except Exception:
            if plan == "accept":  # a refusal may end the call in an error
                raise
        must(client.forms, "the form never came")
        if plan == "accept":
            must(not result.get("isError") and "Alice" in text(result), result)
        return f"{client.forms} forms"

    async def manual():
        first = await server.ask(tool, args)
        must(first["resultType"] == "input_required", first)
        responses = {key: {"action": "accept", "content": fill(request["params"]["requestedSchema"])}
                     for key, request in first["inputRequests"].items()}
        last = await server.ask(tool, args, responses, first.get("requestState"))
        must("Alice" in text(last), last)

    for plan in ("accept", "decline", "cancel"):
        if offered:
            await report.run(f"elicit_{plan}", elicit(plan))
        else:
            report.skip(f"elicit_{plan}", f"the server offers no {tool}")
    if not client.ask:
        report.skip("manual_input_required", "this client line hands out no input_required results")
    elif not client.modern:
        report.skip("manual_input_required", "the legacy era has no input_required results")
    elif not offered:
        report.skip("manual_input_required", f"the server offers no {tool}")
    else:
        await report.run("manual_input_required", manual())


async def changing(client, report, server):
    """Changes of the tool list, where the server says that it tells of them."""

    async def changed():
        async with AsyncExitStack() as stack:
            if client.modern:
                await client.listen(stack)
            before = client.changes
            await server.call("test_trigger_tool_change", {})

            async def more():
                return client.changes > before

            await until(more, "no notifications/tools/list_changed came")

    if client.modern and not client.listen:
        report.skip("list_changed", "this client line has no subscriptions in the modern era")
    elif not client.capabilities().get("tools", {}).get("listChanged"):
        report.skip("list_changed", "the server does not declare tools.listChanged")
    else:
        await report.run("list_changed", changed())
