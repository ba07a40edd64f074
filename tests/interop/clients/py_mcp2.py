"""Drives a server with the Python SDK 2.x, which speaks both eras."""

import asyncio

import checks
import mcp_types as types
from checks import TIMEOUT, fill, wire
from httpx2 import AsyncClient
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client


class Mcp2(checks.Client):
    package = "mcp"

    async def open(self, stack):
        options = self.options
        if options.url:
            http = await stack.enter_async_context(AsyncClient(timeout=TIMEOUT, event_hooks={"response": [self.on_response]}))
            target = streamable_http_client(options.url, http_client=http)
        else:
            target = StdioServerParameters(command=options.stdio[0], args=options.stdio[1:])
        self.client = await stack.enter_async_context(Client(
            target, mode=options.era, read_timeout_seconds=TIMEOUT, elicitation_callback=self.on_form,
            sampling_callback=self.on_sample, list_roots_callback=self.on_roots, message_handler=self.on_message))
        negotiated = self.client.protocol_version
        self.modern = negotiated >= "2026-07-28"
        return negotiated

    async def on_response(self, response):
        self.session_id = response.headers.get("mcp-session-id", self.session_id)

    async def on_form(self, context, params):
        action = self.form()
        return types.ElicitResult(action=action, content=fill(params.requested_schema) if action == "accept" else None)

    async def on_sample(self, context, params):
        content = types.TextContent(type="text", text="sampled")
        return types.CreateMessageResult(role="assistant", model="none", content=content, stop_reason="endTurn")

    async def on_roots(self, context):
        return types.ListRootsResult(roots=[types.Root(uri="file:///interop", name="interop")])

    async def on_message(self, message):
        self.changes += getattr(message, "method", "") == "notifications/tools/list_changed"

    def capabilities(self):
        return wire(self.client.server_capabilities)

    async def alive(self):
        # The modern era has no ping; its discovery answers at any time.
        await (self.client.session.discover() if self.modern else self.client.send_ping())

    async def tools(self):
        return wire(await self.client.list_tools())["tools"]

    async def resources(self):
        return wire(await self.client.list_resources())["resources"]

    async def templates(self):
        return wire(await self.client.list_resource_templates())["resourceTemplates"]

    async def prompts(self):
        return wire(await self.client.list_prompts())["prompts"]

    async def call(self, name, args, progress=None):
        return wire(await self.client.call_tool(name, args, progress_callback=progress))

    async def ask(self, name, args, responses=None, state=None):
        responses = responses and {key: types.ElicitResult(**value) for key, value in responses.items()}
        return wire(await self.client.session.call_tool(
            name, args, input_responses=responses, request_state=state, allow_input_required=True))

    async def read(self, uri):
        return wire(await self.client.read_resource(uri))

    async def prompt(self, name, args):
        return wire(await self.client.get_prompt(name, args))

    async def complete(self, prompt, argument):
        return wire(await self.client.complete(types.PromptReference(type="ref/prompt", name=prompt), argument))

    async def listen(self, stack):
        subscription = await stack.enter_async_context(self.client.listen(tools_list_changed=True))

        async def count():
            async for _ in subscription:
                self.changes += 1

        stack.callback(asyncio.ensure_future(count()).cancel)


if __name__ == "__main__":
    checks.run_checks(Mcp2(checks.options()))
