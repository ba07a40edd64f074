// The checks every TypeScript client goes through, once for each SDK line, and the report they leave.
//
// usage of a client script: node SCRIPT --mode legacy|auto --expect VERSION (--url URL | -- COMMAND ARGUMENT ...)
// A check that the server or the client line cannot do is reported as a skip with the reason, never left out.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

export const identity = { name: 'portcullis-interop', version: '1.0.0' };
export const timeout = 15_000;
const wrongTool = 'no_such_tool';

export function options() {
  const string = { type: 'string' };
  const { values, positionals } = parseArgs({ options: { url: string, mode: string, expect: string }, allowPositionals: true });
  const [command, ...args] = positionals;
  return { ...values, stdio: { command, args, stderr: 'inherit' } };
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

// Runs all checks on a client and exits. The client has:
//   connect() -> version, modern(), capabilities(), alive(), close(), answers, changes (a counter),
//   tools() resources() templates() prompts() -> arrays, call(name, args, {signal, onprogress}),
//   read(uri), prompt(name, args), complete(params), sessionId(), missing (the code of a resource that is not there),
//   and where its line can do it: ask(params), listen().
export async function runChecks(client, { package: name, mode, expect, transport }) {
  const report = new Report();
  await report.run('connect', async () => {
    const version = await client.connect();
    must(version === expect, `negotiated ${version}, not ${expect}`);
    return version;
  });
  if (report.checks[0].status === 'pass') {
    await listing(client, report);
    await using(client, report);
    await calling(client, report);
    await cancelling(client, report, transport);
    await asking(client, report);
    await changing(client, report);
    await report.run('close', () => client.close());
  }
  const summary = { client: name, version: packageVersion(name), mode, transport, protocol: expect, checks: report.checks };
  process.stdout.write(`${JSON.stringify(summary)}\n`);
  process.exit(report.checks.some(check => check.status === 'fail') ? 1 : 0);
}

// Everything the server lists, seen through this client.
async function listing(client, report) {
  await report.run('alive', () => client.alive());
  await report.run('list_tools', async () => {
    const tools = await client.tools();
    must(tools[0]?.name === 'test_simple_text', `the first tool is ${tools[0]?.name}`);
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

// Calls of tools: results of each kind, failures, progress.
async function calling(client, report) {
  await report.run('call_tool', async () => {
    const result = await client.call('test_simple_text', {});
    must(!result.isError && text(result) === 'This is a simple text response for testing.', JSON.stringify(result));
  });
  await report.run('call_mixed', async () => {
    const kinds = (await client.call('test_multiple_content_types', {})).content.map(block => block.type);
    must(kinds.join() === 'text,image,resource', kinds.join());
  });
  await report.run('call_error', async () => {
    const result = await client.call('test_error_handling', {});
    must(result.isError === true && text(result).length > 0, JSON.stringify(result));
  });
  await report.run('call_unknown', async () => {
    const code = await client.call(wrongTool, {}).then(() => 'an answer', error => error.code);
    must(code === -32602, `got ${code}`);
  });
  await report.run('progress', async () => {
    const seen = [];
    const result = await client.call('test_tool_with_progress', {}, { onprogress: step => seen.push(step.progress) });
    must(!result.isError, text(result));
    must(seen.join() === '0,50,100', `progress was ${seen}`);
  });
}

// A call given up: by closing its stream in the modern era over HTTP, by a notice that names it everywhere else.
async function cancelling(client, report, transport) {
  if (transport === 'http' && !client.modern() && !client.sessionId()) {
    report.skip('cancel', 'the server gave no session in which a notice could name the call');
    return;
  }
  await report.run('cancel', async () => {
    const stats = async () => JSON.parse(text(await client.call('cancel_stats', {})));
    const before = await stats();
    const controller = new AbortController();
    const call = client.call('slow_cancellable', { seconds: 60 }, { signal: controller.signal });
    const outcome = call.then(() => 'an answer', () => 'rejected');
    await until(async () => (await stats()).started > before.started, 'the call never started');
    controller.abort('the user changed their mind');
    must((await outcome) === 'rejected', 'the cancelled call had an answer');
    await until(async () => (await stats()).cancelled > before.cancelled, 'the server saw no cancelling');
  });
}

// Forms: the same question is a server request in the legacy era and an input_required result in the modern one.
async function asking(client, report) {
  const [tool, args] = client.modern()
    ? ['test_input_required_result_elicitation', {}]
    : ['test_elicitation', { message: 'who are you?' }];
  const listed = (await client.tools()).some(({ name }) => name === tool);
  for (const plan of ['accept', 'decline', 'cancel']) {
    if (!listed) {
      report.skip(`elicit_${plan}`, `the server lists no ${tool}`);
      continue;
    }
    await report.run(`elicit_${plan}`, async () => {
      const { answers } = client;
      answers.plan = plan;
      answers.forms = [];
      const result = await client.call(tool, args).catch(error => {
        if (plan === 'accept') throw error; // a refusal may end the call in an error
      });
      must(answers.forms.length > 0, 'the form never came');
      if (plan === 'accept') must(!result.isError && text(result).includes('Alice'), JSON.stringify(result));
      return `${answers.forms.length} forms`;
    });
  }
  if (!client.ask) report.skip('manual_input_required', 'this client line hands out no input_required results');
  else if (!client.modern()) report.skip('manual_input_required', 'the legacy era has no input_required results');
  else if (!listed) report.skip('manual_input_required', `the server lists no ${tool}`);
  else
    await report.run('manual_input_required', async () => {
      const first = await client.ask({ name: tool, arguments: args });
      must(first.resultType === 'input_required', JSON.stringify(first));
      const { inputRequests, requestState } = first;
      const inputResponses = Object.fromEntries(Object.entries(inputRequests).map(([key, { params }]) =>
        [key, { action: 'accept', content: fill(params.requestedSchema) }]));
      const last = await client.ask({ name: tool, arguments: args, inputResponses, requestState });
      must(text(last).includes('Alice'), JSON.stringify(last));
    });
}

// Changes of the tool list, where the server says that it tells of them.
async function changing(client, report) {
  if (!client.capabilities().tools?.listChanged) {
    report.skip('list_changed', 'the server does not declare tools.listChanged');
    return;
  }
  await report.run('list_changed', async () => {
    const before = client.changes;
    const subscription = client.modern() ? await client.listen() : undefined;
    await client.call('test_trigger_tool_change', {});
    await until(() => client.changes > before, 'no notifications/tools/list_changed came');
    await subscription?.close();
  });
}
