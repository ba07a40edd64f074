"""Drives a server with the Python SDK 1.x, which only knows the initialize handshake."""

import asyncio
from datetime import timedelta

import checks
import mcp.types as types
from checks import TIMEOUT, fill, wire
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client


class Mcp1(checks.Client):
    package = "mcp"

    async def open(self, stack):
        options = self.options
        if options.url:
            transport = streamable_http_client(options.url)
        else:
            transport = stdio_client(StdioServerParameters(command=options.stdio[0], args=options.stdio[1:]))
        read, write, *session = await stack.enter_async_context(transport)
        self.client = await stack.enter_async_context(ClientSession(
            read, write, read_timeout_seconds=timedelta(seconds=TIMEOUT), elicitation_callback=self.on_form,
            sampling_callback=self.on_sample, list_roots_callback=self.on_roots, message_handler=self.on_message))
        self.initialized = wire(await self.client.initialize())
        self.session_id = session[0]() if session else None
        return self.initialized["protocolVersion"]

    async def on_form(self, context, params):
        action = self.form()
        return types.ElicitResult(action=action, content=fill(params.requestedSchema) if action == "accept" else None)

    async def on_sample(self, context, params):
        content = types.TextContent(type="text", text="sampled")
        return types.CreateMessageResult(role="assistant", model="none", content=content, stopReason="endTurn")

    async def on_roots(self, context):
        return types.ListRootsResult(roots=[types.Root(uri="file:///interop", name="interop")])

    async def on_message(self, message):
        self.changes += isinstance(getattr(message, "root", None), types.ToolListChangedNotification)

    def capabilities(self):
        return self.initialized["capabilities"]

    async def alive(self):
        await self.client.send_ping()

    async def tools(self):
        return wire(await self.client.list_tools())["tools"]

    async def resources(self):
        return wire(await self.client.list_resources())["resources"]

    async def templates(self):
        return wire(await self.client.list_resource_templates())["resourceTemplates"]

    async def prompts(self):
        return wire(await self.client.list_prompts())["prompts"]

    async def call(self, name, args, progress=None):
        identifier = self.client._request_id  # the one that the call is about to take
        try:
            return wire(await self.client.call_tool(name, args, progress_callback=progress))
        except asyncio.CancelledError:
            # This line tells the server nothing when its task is cancelled; a host has to do it.
            params = types.CancelledNotificationParams(requestId=identifier, reason="the user changed their mind")
            notification = types.CancelledNotification(method="notifications/cancelled", params=params)
            await asyncio.shield(self.client.send_notification(types.ClientNotification(notification)))
            raise

    async def read(self, uri):
        return wire(await self.client.read_resource(uri))

    async def prompt(self, name, args):
        return wire(await self.client.get_prompt(name, args))

    async def complete(self, prompt, argument):
        return wire(await self.client.complete(types.PromptReference(type="ref/prompt", name=prompt), argument))


if __name__ == "__main__":
    checks.run_checks(Mcp1(checks.options()))
