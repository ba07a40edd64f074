"""Drives a server with the fastmcp 4.x client, which speaks both eras."""

import checks
import mcp_types as types
from checks import TIMEOUT, fill, wire
from fastmcp import Client
from fastmcp.client.elicitation import ElicitResult
from fastmcp.client.messages import MessageHandler
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport


class FastMcp(checks.Client, MessageHandler):
    package = "fastmcp"

    async def open(self, stack):
        options = self.options
        if options.url:
            transport = StreamableHttpTransport(options.url)
        else:
            transport = StdioTransport(command=options.stdio[0], args=options.stdio[1:], keep_alive=False)
        self.client = await stack.enter_async_context(Client(
            transport, mode=options.era, timeout=TIMEOUT, elicitation_handler=self.on_form,
            sampling_handler=self.on_sample, roots=["file:///interop"], message_handler=self))
        negotiated = self.client.protocol_version
        self.session_id = transport.get_session_id()
        self.modern = negotiated >= "2026-07-28"
        return negotiated

    async def on_form(self, message, response_type, params, context):
        action = self.form()
        return ElicitResult(action=action, content=fill(params.requested_schema) if action == "accept" else None)

    async def on_sample(self, messages, params, context):
        return "sampled"

    async def on_tool_list_changed(self, message):
        self.changes += 1

    def capabilities(self):
        return wire(self.client.server_capabilities)

    async def alive(self):
        # The modern era has no ping; its discovery answers at any time.
        await (self.client.session.discover() if self.modern else self.client.ping())

    async def tools(self):
        return wire(await self.client.list_tools_mcp())["tools"]

    async def resources(self):
        return wire(await self.client.list_resources_mcp())["resources"]

    async def templates(self):
        return wire(await self.client.list_resource_templates_mcp())["resourceTemplates"]

    async def prompts(self):
        return wire(await self.client.list_prompts_mcp())["prompts"]

    async def call(self, name, args, progress=None):
        return wire(await self.client.call_tool_mcp(name, args, progress_handler=progress))

    async def ask(self, name, args, responses=None, state=None):
        # Only through the session of the SDK below.
        responses = responses and {key: types.ElicitResult(**value) for key, value in responses.items()}
        return wire(await self.client.session.call_tool(
            name, args, input_responses=responses, request_state=state, allow_input_required=True))

    async def read(self, uri):
        return wire(await self.client.read_resource_mcp(uri))

    async def prompt(self, name, args):
        return wire(await self.client.get_prompt_mcp(name, args))

    async def complete(self, prompt, argument):
        return wire(await self.client.complete_mcp(types.PromptReference(type="ref/prompt", name=prompt), argument))


if __name__ == "__main__":
    checks.run_checks(FastMcp(checks.options()))
