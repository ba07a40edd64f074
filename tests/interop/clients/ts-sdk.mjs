// Drives a server with the TypeScript SDK 1.x, which only knows the initialize handshake.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema, ElicitRequestSchema, ListRootsRequestSchema, ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { Answers, identity, options, runChecks, timeout } from './checks.mjs';

const wanted = options();
const { url, stdio } = wanted;
const limit = { timeout };
const answers = new Answers();
const transport = url ? new StreamableHTTPClientTransport(new URL(url)) : new StdioClientTransport({ ...stdio, env: process.env });
const client = new Client(identity, { capabilities: { elicitation: { form: {} }, sampling: {}, roots: {} } });
client.setRequestHandler(ElicitRequestSchema, async request => answers.elicit(request.params));
client.setRequestHandler(CreateMessageRequestSchema, async () => answers.sample());
client.setRequestHandler(ListRootsRequestSchema, async () => answers.roots());

// This line does not say which version it negotiated: it tells the transport.
let negotiated;
const tell = transport.setProtocolVersion;
transport.setProtocolVersion = version => {
  negotiated = version;
  tell?.call(transport, version);
};

const adapter = {
  answers,
  changes: 0,
  async connect() {
    await client.connect(transport, limit);
    return negotiated;
  },
  modern: () => false,
  sessionId: () => transport.sessionId,
  missing: () => -32002,
  capabilities: () => client.getServerCapabilities() ?? {},
  alive: async () => void (await client.ping(limit)),
  tools: async () => (await client.listTools(undefined, limit)).tools,
  resources: async () => (await client.listResources(undefined, limit)).resources,
  templates: async () => (await client.listResourceTemplates(undefined, limit)).resourceTemplates,
  prompts: async () => (await client.listPrompts(undefined, limit)).prompts,
  call: (name, args, extra) => client.callTool({ name, arguments: args }, undefined, { ...limit, ...extra }),
  read: uri => client.readResource({ uri }, limit),
  prompt: (name, args) => client.getPrompt({ name, arguments: args }, limit),
  complete: params => client.complete(params, limit),
  async close() {
    if (transport.sessionId) await transport.terminateSession();
    await client.close();
  },
};
client.setNotificationHandler(ToolListChangedNotificationSchema, () => void adapter.changes++);

await runChecks(adapter, '@modelcontextprotocol/sdk', wanted);
