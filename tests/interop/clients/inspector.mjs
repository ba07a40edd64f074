// Drives a server with the command line of the Inspector, one process per check, and leaves the report of checks.mjs.
import { spawnSync } from 'node:child_process';
import { options, packageVersion } from './checks.mjs';

const name = '@modelcontextprotocol/inspector';
const launcher = new URL(`node_modules/${name}/clients/launcher/build/index.js`, import.meta.url).pathname;
const { url, stdio, mode, expect } = options();
const target = url ? [url] : ['--', stdio.command, ...stdio.args];
const checks = [];

// One command; `judge` gets what it printed as JSON and throws what is wrong with it.
function check(name, args, judge) {
  const start = Date.now();
  const run = spawnSync(
    process.execPath,
    [launcher, '--cli', '--quiet', '--format', 'json', '--protocol-era', mode, ...args, ...target],
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

function listed({ tools }) {
  if (tools[0]?.name !== 'test_simple_text') throw new Error(`the first tool is ${tools[0]?.name}`);
}
function called({ content }) {
  if (content[0].text !== 'This is a simple text response for testing.') throw new Error(JSON.stringify(content));
}

check('list_tools', ['--method', 'tools/list'], listed);
check('call_tool', ['--method', 'tools/call', '--tool-name', 'test_simple_text'], called);
// Exits with a status of its own when a schema is not one that all model providers take.
check('strict_schemas', ['--method', 'tools/list', '--strict'], listed);

const transport = url ? 'http' : 'stdio';
const summary = { client: name, version: packageVersion(name), mode, transport, protocol: expect, checks };
process.stdout.write(`${JSON.stringify(summary)}\n`);
process.exit(checks.some(({ status }) => status === 'fail') ? 1 : 0);
