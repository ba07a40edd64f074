// Drives a server with the command line of the Inspector, one process per check, and leaves the report of checks.mjs.
import { spawnSync } from 'node:child_process';
import { leave, mustShow, options } from './checks.mjs';

const name = '@modelcontextprotocol/inspector';
const launcher = new URL(`node_modules/${name}/clients/launcher/build/index.js`, import.meta.url).pathname;
const { url, stdio, era, mode, expect } = options();
const target = url ? [url] : ['--', stdio.command, ...stdio.args];
const checks = [];

// One command; `judge` gets what it printed as JSON and throws what is wrong with it.
function check(name, args, judge) {
  const start = Date.now();
  const run = spawnSync(
    process.execPath,
    // An option that takes more than one value would take the target, too: they stand before the others.
    [launcher, '--cli', ...args, '--quiet', '--format', 'json', '--protocol-era', era, ...target],
    { encoding: 'utf8', timeout: 30_000 },
  );
  let [status, detail] = ['pass', undefined];
  try {
    if (run.status !== 0) throw new Error(`exit ${run.status ?? run.signal}: ${run.stderr}`);
    judge(JSON.parse(run.stdout).result);
  } catch (error) {
    [status, detail] = ['fail', error.message];
  }
  checks.push({ name, status, ms: Date.now() - start, detail });
}

// A call of an operation, as the mode shows it.
function call(operation, args) {
  const shown = Object.entries(mode === 'compact' ? { name: operation, arguments: args } : args);
  const pairs = shown.map(([key, value]) => `${key}=${JSON.stringify(value)}`);
  return ['--method', 'tools/call', '--tool-name', mode === 'compact' ? 'call_tool' : operation, '--tool-arg', ...pairs];
}

check('list_tools', ['--method', 'tools/list'], ({ tools }) => mustShow(mode, tools));
check('call_tool', call('greet', { name: 'Ada' }), ({ content }) => {
  if (content[0].text !== 'Hello, Ada!') throw new Error(JSON.stringify(content));
});
// Exits with a status of its own when a schema is not one that all model providers take.
check('strict_schemas', ['--method', 'tools/list', '--strict'], ({ tools }) => mustShow(mode, tools));

leave(name, expect, checks);
