// The checks every TypeScript client goes through, once for each SDK line, and the report they leave.
//
// usage of a client script: node SCRIPT --era legacy|auto --mode plain|direct|compact --expect VERSION
//   (--url URL | -- COMMAND ARGUMENT ...)
// A check that the server or the client line cannot do is reported as a skip with the reason, never left out.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

export const identity = { name: 'portcullis-interop', version: '1.0.0' };
export const timeout = 15_000;
const wrongTool = 'no_such_tool';

export function options() {
  const string = { type: 'string' };
  const { values, positionals } = parseArgs({
    options: { url: string, era: string, mode: string, expect: string },
    allowPositionals: true,
  });
  const [command, ...args] = positionals;
  const transport = values.url ? 'http' : 'stdio';
  return { ...values, transport, stdio: { command, args, stderr: 'inherit' } };
}

// What the SDK's own package says, found beside the script (the modules are linked there).
export function packageVersion(name) {
  return JSON.parse(readFileSync(new URL(`node_modules/${name}/package.json`, import.meta.url), 'utf8')).version;
}

// How the client answers what the server asks; `plan` is what the user does with a form.
export class Answers {
  plan = 'accept';
  forms = [];

  elicit(params) {
    this.forms.push(params);
    return this.plan === 'accept' ? { action: 'accept', content: fill(params.requestedSchema) } : { action: this.plan };
  }
  sample() {
    return { role: 'assistant', model: 'none', content: { type: 'text', text: 'sampled' }, stopReason: 'endTurn' };
  }
  roots() {
    return { roots: [{ uri: 'file:///interop', name: 'interop' }] };
  }
}

// Content that satisfies the flat schemas a form may have.
function fill(schema) {
  const sample = property =>
    property.default ?? property.enum?.[0] ?? property.oneOf?.[0].const ??
    { boolean: true, integer: 1, number: 1, array: [] }[property.type] ?? 'Alice';
  return Object.fromEntries(Object.entries(schema.properties).map(([name, property]) => [name, sample(property)]));
}

class Report {
  checks = [];

  skip(name, why) {
    this.checks.push({ name, status: 'skip', detail: why });
  }
  // Runs one check within a time limit; what it throws is its failure.
  async run(name, body) {
    const start = Date.now();
    let timer;
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no end after ${2 * timeout} ms`)), 2 * timeout);
    });
    const done = (status, detail) => this.checks.push({ name, status, ms: Date.now() - start, detail });
    try {
      done('pass', await Promise.race([body(), late]));
    } catch (error) {
      done('fail', [error?.code, error?.message ?? String(error)].filter(Boolean).join(' '));
    } finally {
      clearTimeout(timer);
    }
  }
}

function must(condition, message) {
  if (!condition) throw new Error(message);
}
const text = result => result.content.filter(block => block.type === 'text').map(block => block.text).join('\n');
const pause = ms => new Promise(resolve => setTimeout(resolve, ms));
async function until(condition, message) {
  for (let tries = 0; tries < 100; tries++) {
    if (await condition()) return;
    await pause(50);
  }
  throw new Error(message);
}

// What the server can do, as its mode shows it: as tools, or behind the three tools of compact mode.
class Server {
  constructor(client, mode) {
    this.client = client;
    this.mode = mode;
  }

  // The tool to call for an operation, and its arguments.
  shown(name, args) {
    return this.mode === 'compact' ? ['call_tool', { name, arguments: args }] : [name, args];
  }
  call(name, args, extra) {
    return this.client.call(...this.shown(name, args), extra);
  }
  ask(name, args, rest) {
    const [tool, shown] = this.shown(name, args);
    return this.client.ask({ name: tool, arguments: shown, ...rest });
  }
  async offers(name) {
    if (this.mode !== 'compact') return (await this.client.tools()).some(tool => tool.name === name);
    return !(await this.client.call('get_tool_details', { name })).isError;
  }
  // The structured value of a result. Wherever it is wrapped, the text is a copy of the whole.
  value({ structuredContent, content }) {
    if (this.mode === 'plain') return structuredContent;
    must(content.at(-1).text === JSON.stringify(structuredContent), JSON.stringify(content));
    return structuredContent.value;
  }
  // The code of a failure; its message has to be in the text.
  failure({ isError, structuredContent, content }) {
    must(isError === true, 'no failure');
    const { code, message } = structuredContent.failure;
    const told = this.mode === 'plain' ? message : JSON.stringify(structuredContent);
    must(content.at(-1).text === told, JSON.stringify(content));
    return code;
  }
}

// Runs all checks on a client and exits. The client has:
//   connect() -> version, modern(), capabilities(), alive(), close(), answers, changes (a counter),
//   tools() resources() templates() prompts() -> arrays, call(name, args, {signal, onprogress}),
//   read(uri), prompt(name, args), complete(params), sessionId(), missing (the code of a resource that is not there),
//   and where its line can do it: ask(params), listen().
export async function runChecks(client, name, { era, mode, expect, transport }) {
  const report = new Report();
  const server = new Server(client, mode);
  await report.run('connect', async () => {
    const version = await client.connect();
    must(version === expect, `negotiated ${version}, not ${expect}`);
    return version;
  });
  if (report.checks[0].status === 'pass') {
    await listing(client, report, mode);
    await using(client, report);
    if (mode === 'compact') await finding(client, report);
    await calling(client, report, server);
    await cancelling(client, report, server, transport);
    await asking(client, report, server);
    await changing(client, report, server);
    await report.run('close', () => client.close());
  }
  leave(name, expect, report.checks);
}

// Prints the report and exits.
export function leave(name, protocol, checks) {
  process.stdout.write(`${JSON.stringify({ client: name, version: packageVersion(name), protocol, checks })}\n`);
  process.exit(checks.some(check => check.status === 'fail') ? 1 : 0);
}

// The tools have to be the ones that the mode shows first, and in compact mode no others.
export function mustShow(mode, tools) {
  const names = tools.map(tool => tool.name);
  if (mode === 'compact') must(names.join() === 'search_tools,get_tool_details,call_tool', `the tools are ${names}`);
  else must(names[0] === 'test_simple_text', `the first tool is ${names[0]}`);
}

// Everything the server lists, seen through this client.
async function listing(client, report, mode) {
  await report.run('alive', () => client.alive());
  await report.run('list_tools', async () => {
    const tools = await client.tools();
    mustShow(mode, tools);
    must(tools.every(tool => tool.inputSchema.type === 'object'), 'an input schema that is no object');
    return `${tools.length} tools`;
  });
  await report.run('list_resources', async () => {
    const resources = await client.resources();
    must(resources.some(({ uri }) => uri === 'test://static-text'), 'test://static-text is missing');
    return `${resources.length} resources`;
  });
  await report.run('list_templates', async () => {
    const templates = await client.templates();
    must(templates.some(({ uriTemplate }) => uriTemplate === 'test://template/{id}/data'), 'the template is missing');
    return `${templates.length} templates`;
  });
  await report.run('list_prompts', async () => {
    const prompts = await client.prompts();
    must(prompts.some(prompt => prompt.name === 'test_simple_prompt'), 'test_simple_prompt is missing');
    return `${prompts.length} prompts`;
  });
}

// Resources, prompts and completion.
async function using(client, report) {
  await report.run('read_resource', async () => {
    const [content] = (await client.read('test://static-text')).contents;
    must(content.text?.length > 0 && content.mimeType === 'text/plain', JSON.stringify(content));
  });
  await report.run('read_binary', async () => {
    const [content] = (await client.read('test://static-binary')).contents;
    must(content.blob?.length > 0 && content.mimeType === 'image/png', JSON.stringify(content));
  });
  await report.run('read_template', async () => {
    const [content] = (await client.read('test://template/123/data')).contents;
    must(content.uri === 'test://template/123/data' && content.text.includes('123'), JSON.stringify(content));
  });
  await report.run('read_missing', async () => {
    const code = await client.read('test://no-such-resource').then(() => 'an answer', error => error.code);
    must(code === client.missing(), `got ${code}`);
  });
  await report.run('get_prompt', async () => {
    const { messages } = await client.prompt('test_prompt_with_arguments', { arg1: 'one', arg2: 'two' });
    must(/one.*two/.test(messages[0].content.text), JSON.stringify(messages));
  });
  await report.run('complete', async () => {
    const ref = { type: 'ref/prompt', name: 'test_prompt_with_arguments' };
    const { completion } = await client.complete({ ref, argument: { name: 'arg1', value: '' } });
    must(Array.isArray(completion.values), JSON.stringify(completion));
  });
}

// The two tools of compact mode with which a client finds operations.
async function finding(client, report) {
  const found = async (tool, args) => (await client.call(tool, args)).structuredContent.value;
  await report.run('search_tools', async () => {
    const { operations } = await found('search_tools', { query: 'greet somebody', limit: 2 });
    must(operations[0].name === 'greet' && operations[0].description.length > 0, JSON.stringify(operations));
    must(operations.length <= 2 && !operations[0].inputSchema, JSON.stringify(operations));
  });
  await report.run('get_tool_details', async () => {
    const details = await found('get_tool_details', { name: 'greet' });
    must(details.name === 'greet' && details.inputSchema.required.join() === 'name', JSON.stringify(details));
    must((await client.call('get_tool_details', { name: wrongTool })).isError === true, 'details of no operation');
  });
}

// Calls of operations: results of each kind, failures, progress.
async function calling(client, report, server) {
  await report.run('call_tool', async () => {
    const result = await server.call('test_simple_text', {});
    must(!result.isError && text(result) === 'This is a simple text response for testing.', JSON.stringify(result));
  });
  await report.run('call_mixed', async () => {
    const kinds = (await server.call('test_multiple_content_types', {})).content.map(block => block.type);
    must(kinds.join() === 'text,image,resource', kinds.join());
  });
  await report.run('call_structured', async () => {
    const { started } = server.value(await server.call('cancel_stats', {}));
    must(Number.isInteger(started), `started is ${started}`);
  });
  await report.run('call_error', async () => {
    const code = server.failure(await server.call('test_error_handling', {}));
    must(code === 'intended', `got ${code}`);
  });
  await report.run('call_invalid', async () => {
    const code = server.failure(await server.call('greet', { name: 7 }));
    must(code === 'invalid_arguments', `got ${code}`);
  });
  await report.run('call_unknown', async () => {
    const code = await client.call(wrongTool, {}).then(() => 'an answer', error => error.code);
    must(code === -32602, `got ${code}`);
    if (server.mode !== 'compact') return;
    const failure = server.failure(await server.call(wrongTool, {}));
    must(failure === 'unavailable', `got ${failure}`);
  });
  await report.run('progress', async () => {
    const seen = [];
    const result = await server.call('test_tool_with_progress', {}, { onprogress: step => seen.push(step.progress) });
    must(!result.isError, text(result));
    must(seen.join() === '0,50,100', `progress was ${seen}`);
  });
}

// A call given up: by closing its stream in the modern era over HTTP, by a notice that names it everywhere else.
async function cancelling(client, report, server, transport) {
  if (transport === 'http' && !client.modern() && !client.sessionId()) {
    report.skip('cancel', 'the server gave no session in which a notice could name the call');
    return;
  }
  await report.run('cancel', async () => {
    const stats = async () => server.value(await server.call('cancel_stats', {}));
    const before = await stats();
    const controller = new AbortController();
    const call = server.call('slow_cancellable', { seconds: 60 }, { signal: controller.signal });
    const outcome = call.then(() => 'an answer', () => 'rejected');
    await until(async () => (await stats()).started > before.started, 'the call never started');
    controller.abort('the user changed their mind');
    must((await outcome) === 'rejected', 'the cancelled call had an answer');
    await until(async () => (await stats()).cancelled > before.cancelled, 'the server saw no cancelling');
  });
}

// Forms: the same question is a server request in the legacy era and an input_required result in the modern one.
async function asking(client, report, server) {
  const [tool, args] = client.modern()
    ? ['test_input_required_result_elicitation', {}]
    : ['test_elicitation', { message: 'who are you?' }];
  const offered = await server.offers(tool);
  for (const plan of ['accept', 'decline', 'cancel']) {
    if (!offered) {
      report.skip(`elicit_${plan}`, `the server offers no ${tool}`);
      continue;
    }
    await report.run(`elicit_${plan}`, async () => {
      const { answers } = client;
      answers.plan = plan;
      answers.forms = [];
      const result = await server.call(tool, args).catch(error => {
        if (plan === 'accept') throw error; // a refusal may end the call in an error
      });
      must(answers.forms.length > 0, 'the form never came');
      if (plan === 'accept') must(!result.isError && text(result).includes('Alice'), JSON.stringify(result));
      return `${answers.forms.length} forms`;
    });
  }
  if (!client.ask) report.skip('manual_input_required', 'this client line hands out no input_required results');
  else if (!client.modern()) report.skip('manual_input_required', 'the legacy era has no input_required results');
  else if (!offered) report.skip('manual_input_required', `the server offers no ${tool}`);
  else
    await report.run('manual_input_required', async () => {
      const first = await server.ask(tool, args);
      must(first.resultType === 'input_required', JSON.stringify(first));
      const { inputRequests, requestState } = first;
      const inputResponses = Object.fromEntries(Object.entries(inputRequests).map(([key, { params }]) =>
        [key, { action: 'accept', content: fill(params.requestedSchema) }]));
      const last = await server.ask(tool, args, { inputResponses, requestState });
      must(text(last).includes('Alice'), JSON.stringify(last));
    });
}

// Changes of the tool list, where the server says that it tells of them.
async function changing(client, report, server) {
  if (!client.capabilities().tools?.listChanged) {
    report.skip('list_changed', 'the server does not declare tools.listChanged');
    return;
  }
  await report.run('list_changed', async () => {
    const before = client.changes;
    const subscription = client.modern() ? await client.listen() : undefined;
    await server.call('test_trigger_tool_change', {});
    await until(() => client.changes > before, 'no notifications/tools/list_changed came');
    await subscription?.close();
  });
}
