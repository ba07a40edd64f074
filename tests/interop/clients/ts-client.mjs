// Drives a server with the TypeScript client 2.x, which speaks both eras.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Answers, identity, options, runChecks, timeout } from './checks.mjs';

const wanted = options();
const { url, stdio } = wanted;
const limit = { timeout };
const answers = new Answers();
const transport = url ? new StreamableHTTPClientTransport(new URL(url)) : new StdioClientTransport({ ...stdio, env: process.env });
const client = new Client(identity, {
  capabilities: { elicitation: { form: {} }, sampling: {}, roots: {} },
  versionNegotiation: { mode: wanted.era },
});
client.setRequestHandler('elicitation/create', async request => answers.elicit(request.params));
client.setRequestHandler('sampling/createMessage', async () => answers.sample());
client.setRequestHandler('roots/list', async () => answers.roots());

const adapter = {
  answers,
  changes: 0,
  async connect() {
    await client.connect(transport, limit);
    return client.getNegotiatedProtocolVersion();
  },
  modern: () => client.getProtocolEra() === 'modern',
  sessionId: () => transport.sessionId,
  // This line shows the legacy code as the modern one, when the error names the resource.
  missing: () => -32602,
  capabilities: () => client.getServerCapabilities() ?? {},
  // The modern era has no ping; its discovery answers at any time.
  alive: async () => void (await (adapter.modern() ? client.discover(limit) : client.ping(limit))),
  tools: async () => (await client.listTools(undefined, { ...limit, cacheMode: 'refresh' })).tools,
  resources: async () => (await client.listResources(undefined, limit)).resources,
  templates: async () => (await client.listResourceTemplates(undefined, limit)).resourceTemplates,
  prompts: async () => (await client.listPrompts(undefined, limit)).prompts,
  call: (name, args, extra) => client.callTool({ name, arguments: args }, { ...limit, ...extra }),
  ask: params => client.callTool(params, { ...limit, allowInputRequired: true }),
  read: uri => client.readResource({ uri }, limit),
  prompt: (name, args) => client.getPrompt({ name, arguments: args }, limit),
  complete: params => client.complete(params, limit),
  listen: () => client.listen({ toolsListChanged: true }, limit),
  async close() {
    if (transport.sessionId) await transport.terminateSession();
    await client.close();
  },
};
client.setNotificationHandler('notifications/tools/list_changed', () => void adapter.changes++);

await runChecks(adapter, '@modelcontextprotocol/client', wanted);
