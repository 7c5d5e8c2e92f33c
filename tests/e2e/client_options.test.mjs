// Validation before anything runs: each wrong option, tool, file and record is rejected by name, with the value it got and
// what is accepted. The client does all of that itself; no engine is needed.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { dist } from './lib/site.mjs';

const { Agent, DocsSite, exportTrajectory, importTrajectory, insight, listModels, renderMarkdown, replay } = await import(path.join(dist, 'turnwise/node.js'));

const message = (start) => (error) => {
  assert.ok(error instanceof TypeError, String(error));
  assert.ok(error.message.startsWith(start), error.message);
  return true;
};

const circle = {};
circle.self = circle;

const OPTIONS = [
  [{ maxTurns: '15' }, 'options.maxTurns: got "15"; expected a whole number, 1 or more'],
  [{ maxTurns: 1.5 }, 'options.maxTurns: got 1.5; expected a whole number, 1 or more'],
  [{ maxTurns: 2 ** 32 }, 'options.maxTurns: got 4294967296; expected a whole number, 1 or more'],
  [{ limits: { wallMs: 2 ** 53 } }, 'options.limits.wallMs: got 9007199254740992; expected a whole number, 1 or more'],
  [{ temperature: NaN }, 'options.temperature: got a non-finite number; expected a number, 0 or more'],
  [{ temperature: -1 }, 'options.temperature: got -1; expected a number, 0 or more'],
  [{ topP: 1.5 }, 'options.topP: got 1.5; expected a number from 0 to 1'],
  [{ reasoning: 'much' }, 'options.reasoning: got "much"; expected \'none\' or \'minimal\' or \'low\' or \'medium\' or \'high\' or \'xhigh\' or \'max\''],
  [{ toolChoice: 'any' }, 'options.toolChoice: got "any"; expected \'auto\', \'none\', \'required\' or { tool: name }'],
  [{ toolChoice: { tool: 5 } }, 'options.toolChoice: got an object; expected \'auto\''],
  [{ toolChoice: { tool: 'now', name: 'now' } }, 'options.toolChoice: got an object; expected \'auto\''],
  [{ provider: { kind: 'openai', providerOptions: [] } }, 'options.provider.providerOptions: got an array; expected a JSON object'],
  [{ provider: { kind: 'openai', providerOptions: circle } }, 'options.provider.providerOptions: got an object; expected a JSON object'],
  [{ system: null }, 'options.system: got null; expected a string'],
  [{ system: 5n }, 'options.system: got something else; expected a string'],
  [{ system: () => '' }, 'options.system: got a function; expected a string'],
  [{ counter: { templates: { urgent: [] } } }, 'options.counter.templates.urgent: got an array; expected a string'],
  [{ counter: { modrateAt: 4 } }, 'options.counter.modrateAt: unknown option; did you mean moderateAt? options.counter takes moderateAt, urgentAt, templates'],
  [{ counter: null }, 'options.counter: got null; expected an object or false'],
  [{ synthesis: 'no' }, 'options.synthesis: got "no"; expected an object or false'],
  [{ synthesis: { role: 'tool' } }, 'options.synthesis.role: got "tool"; expected \'user\' or \'system\''],
  [{ preset: 'strict', synthesis: { attempts: 1 } }, 'options.synthesis: got an object; expected nothing: the \'strict\' preset has no synthesis'],
  [{ agents: { a: { preset: 'loose' } } }, 'options.agents.a.preset: got "loose"; expected \'research\' or \'orchestrator\' or \'strict\''],
  [{ agents: { a: { counter: 0 } } }, 'options.agents.a.counter: got 0; expected true or false'],
  [{ agents: { a: { tools: ['now', 5] } } }, 'options.agents.a.tools: got an array; expected an array of tool names'],
  [{ agents: [] }, 'options.agents: got an array; expected an object of agent kinds by name'],
  [{ limits: { children: -1 } }, 'options.limits.children: got -1; expected a whole number, 0 or more'],
  [{ retry: { baseMs: -1 } }, 'options.retry.baseMs: got -1; expected a whole number, 0 or more'],
  [{ report: { format: 'text' } }, 'options.report: got an object; expected nothing: only the \'strict\' preset asks for a final report'],
  [{ preset: 'strict', report: { format: 'pdf' } }, 'options.report.format: got "pdf"; expected \'text\' or \'markdown\' or \'json\' or \'slack\''],
  [{ preset: 'strict', report: { schema: {} } }, 'options.report.schema: got an object; expected nothing: only a \'json\' report has a schema'],
  [{ preset: 'strict', report: { format: 'json', schema: circle } }, 'options.report.schema: got an object; expected a JSON Schema'],
  [{ preset: 'loose' }, 'options.preset: got "loose"; expected '],
  [{ preset: '😀'.repeat(70) }, `options.preset: got "${'😀'.repeat(59)}…; expected `],
  [{ provider: {} }, 'options.provider.kind: missing; expected \'demo\' or \'openai\''],
  [{ provider: [] }, 'options.provider: got an empty array; expected an object, or an array of one or more'],
  [{ provider: { kind: 'antropic' } }, 'options.provider.kind: got "antropic"; expected \'demo\' or \'openai\' or \'openai-responses\''],
  [{ provider: { kind: 'openai', apiKey: {} } }, 'options.provider.apiKey: got an object; expected a string'],
  [{ provider: [{ kind: 'demo' }, { kind: 'openai', apiKey: 12345678 }] }, 'options.provider[1].apiKey: got a number; expected a string'],
  [{ provider: { kind: 'openai', baseUrl: '/v1' } }, 'options.provider.baseUrl: got "/v1"; expected an absolute URL such as \'https://api.example.com/v1\' (there is no page to resolve it against)'],
  [{ provider: { kind: 'openai', headers: { 'no good': 'x' } } }, 'options.provider.headers.no good: expected a valid header name and a string'],
  [{ provider: { kind: 'openai', headers: [] } }, 'options.provider.headers: got an array; expected an object of strings'],
  [{ provider: { kind: 'demo', price: { input: 1 } } }, 'options.provider.price.output: missing; expected US dollars per million tokens'],
  [{ provider: { kind: 'anthropic', demo: 'endless' } }, 'options.provider.demo: got "endless"; expected nothing: only the demo model has modes'],
  [{ provider: { kind: 'custom' } }, 'options.provider.complete: missing; expected a function that asks your model'],
  [{ provider: { kind: 'openai', complete: () => '' } }, 'options.provider.complete: got a function; expected nothing: only the \'custom\' kind has a function'],
  [{ tools: 'all' }, 'options.tools: got "all"; expected an array of search_files, read_file, list_files, write_file, edit_file, diff_files, query_table, query_json, read_result, calculate, now, progress_report, batch, spawn_subagents, run_code'],
  [{ tools: ['calculate', 'nope'] }, 'options.tools: got "nope"; expected an array of '],
  [{ seed: -1 }, 'options.seed: got -1; expected a whole number, 0 or more'],
  [{ workerUrl: 5 }, 'options.workerUrl: got 5; expected a string or a URL'],
  [{ maxTruns: 3 }, 'options.maxTruns: unknown option; did you mean maxTurns? options takes preset, provider, '],
  [[], 'options: got an array; expected an object'],
  [null, 'options: got null; expected an object'],
  [() => {}, 'options: got a function; expected an object'],
];

test('wrong options are named with what they got and what they take', () => {
  for (const [options, expected] of OPTIONS) assert.throws(() => new Agent(options), message(expected), expected);
});

test('every option can be given', () => {
  const all = {
    preset: 'orchestrator',
    provider: [
      { kind: 'demo', demo: 'endless' },
      { kind: 'openai', baseUrl: 'http://127.0.0.1:9/v1', model: 'm', apiKey: 'k', headers: { a: 'b' }, maxOutputTokens: 5, price: { input: 1, output: 2, cached: 0 }, providerOptions: { seed: 1 } },
      { kind: 'openai', baseUrl: 'api.example.com/v1' }, { kind: 'custom', complete: () => '' }, { kind: 'prompt-api' },
    ],
    system: 's', temperature: 0.5, topP: 1, reasoning: 'none', toolChoice: { tool: 'calculate' }, maxTurns: 3, maxAttempts: 2,
    counter: { moderateAt: 2, urgentAt: 1, templates: { normal: 'n', moderate: 'm', urgent: 'u' } },
    synthesis: { role: 'user', numbered: true, prompt: 'p', onError: 'message', attempts: 2 }, tools: ['calculate'],
    agents: { reader: { description: 'd', preset: 'strict', system: 's', tools: ['calculate'], maxTurns: 2, counter: false } },
    permissions: { network: 'ask', tools: { calculate: 'allow' } },
    limits: {
      toolTimeoutMs: 1, parallelTools: 1, toolCallsPerTurn: 1, maxResultChars: 1, children: 0, childMs: 1, headersMs: 1, firstTokenMs: 1,
      requestMs: 1, idleMs: 1, wallMs: 1, tokens: 1, cost: 0.5, contextTokens: 1,
    },
    retry: { baseMs: 0, capMs: 0, rateLimitMs: 0, retryAfterCapMs: 0 }, seed: 7, web: { maxBytes: 1, timeoutMs: 1 }, workerUrl: new URL('http://127.0.0.1:9/w.js'),
  };
  for (const options of [all, { counter: false, synthesis: false }, { preset: 'strict', report: { format: 'json', schema: { type: 'object' } } }, { system: undefined }, {}, undefined]) {
    new Agent(options).free();
  }
  // These are all there are. `report` is for another preset.
  assert.throws(() => new Agent({ maxTruns: 3 }), ({ message }) => {
    assert.deepEqual(message.replace('options.maxTruns: unknown option; did you mean maxTurns? options takes ', '').split(', ').sort(), [...Object.keys(all), 'report'].sort());
    return true;
  });
});

const TOOLS = [
  [{ name: 'no spaces', execute() {} }, 'tool.name: got "no spaces"; expected 1 to 64 of A-Z, a-z, 0-9, _ and -'],
  [{ name: 'x'.repeat(65), execute() {} }, 'tool.name: got "xxx'],
  [{ name: 'line\n', execute() {} }, 'tool.name: got "line\\n"'],
  [{ execute() {} }, 'tool.name: missing; expected 1 to 64 of'],
  [{ name: 'x' }, 'tool.execute: missing; expected a function'],
  [{ name: 'x', execute() {}, parameters: { type: 'array' } }, 'tool.parameters: got an object; expected a JSON Schema with type: \'object\''],
  [{ name: 'x', execute() {}, parameters: circle }, 'tool.parameters: got an object; expected a JSON Schema with type: \'object\''],
  [{ name: 'x', execute() {}, sideEffect: 'much' }, 'tool.sideEffect: got "much"; expected \'none\' or \'workspace\' or \'folder\' or \'network\' or \'page\''],
  [{ name: 'x', execute() {}, mayFinish: 1 }, 'tool.mayFinish: got 1; expected true or false'],
  [{ name: 'x', run() {} }, 'tool.run: unknown option; did you mean execute? tool takes name, description, parameters, mayFinish, sideEffect, execute'],
  [5, 'tool: got 5; expected an object'],
];

test('wrong tools are refused', () => {
  const agent = new Agent();
  for (const [tool, expected] of TOOLS) assert.throws(() => agent.registerTool(tool), message(expected), expected);
  agent.registerTool({ name: 'x_1-Y', execute() {} });
  agent.free();
});

const PATHS = [
  ['../up', 'path: the path contains `..`; it must stay inside the workspace'],
  ['a/../b', 'path: the path contains `..`'],
  ['', 'path: the path is empty'],
  [' ./. ', 'path: the path is empty'],
  ['/etc/passwd', 'path: the path is absolute; give one relative to the workspace, such as docs/a.md'],
  ['\\x', 'path: the path is absolute'],
  ['C:\\x', 'path: the path is absolute'],
  ['https://example.com/a', 'path: the path is absolute'],
  ['a\u0007b', 'path: the path contains a control character'],
  ['ä'.repeat(513), 'path: the path is longer than 1024 bytes'],
];

test('files are put, listed, read and removed', async () => {
  const agent = new Agent();
  const { files } = agent;
  assert.equal(files.put('b/./c.md', 'text'), 'b/c.md');
  assert.equal(files.put(' b \\ d:1.md ', ''), 'b/d:1.md');
  files.put('a.bin', new Blob(['x']));
  assert.deepEqual(files.list(), ['a.bin', 'b/c.md', 'b/d:1.md']);
  assert.equal(await files.get('b//c.md').text(), 'text');
  assert.equal(files.get('b/c.md').type, 'text/plain');
  files.remove('./a.bin');
  files.remove('../a.bin');
  assert.equal(files.get('a.bin'), undefined);
  assert.equal(files.get('../up'), undefined);
  for (const [at, expected] of PATHS) assert.throws(() => files.put(at, 'x'), message(expected), expected);
  assert.throws(() => files.put('a', 5), message('content: got 5; expected a string or a Blob'));
  assert.equal(agent.files, files);
  agent.free();
});

test('what is no record is refused', async () => {
  for (const value of [5, {}, { format: 'turnwise-trajectory', version: 99 }]) {
    await assert.rejects(exportTrajectory(value, 'native'), message('trajectory: got '));
  }
  await assert.rejects(exportTrajectory({}, 'native'), message('trajectory: got an object; expected a trajectory of version 1'));
  await assert.rejects(exportTrajectory({}, 'xml'), message('format: got "xml"; expected \'native\', \'html\', \'markdown\', \'atif\', \'otlp\', \'openai-jsonl\', \'mini-swe-agent\''));
  await assert.rejects(replay(5), message('trajectory: got 5; expected a trajectory'));
  await assert.rejects(importTrajectory(5), message('text: got 5; expected the text of a trajectory, of an HTML report, or of an ATIF file'));
  await assert.rejects(insight(5), message('summaries: got 5; expected an array of summaries'));
  await assert.rejects(insight([], 5), message('filter: got 5; expected an object'));
  assert.equal(await exportTrajectory({ format: 'turnwise-trajectory', version: 1 }, 'native'), '{\n  "format": "turnwise-trajectory",\n  "version": 1\n}');
});

test('wrong options of a run and of other questions are named', async () => {
  const agent = new Agent();
  const cases = [
    [() => agent.run(''), 'task: got ""; expected a non-empty string'],
    [() => agent.run(' \n'), 'task: got " \\n"; expected a non-empty string'],
    [() => agent.run(5), 'task: got 5; expected a non-empty string'],
    [() => agent.run('x', { onEvents: 1 }), 'options.onEvents: unknown option; did you mean onEvent? options takes onEvent, signal, approve, after, images'],
    [() => agent.run('x', { onEvent: 1 }), 'options.onEvent: got 1; expected a function'],
    [() => agent.run('x', { signal: {} }), 'options.signal: got an object; expected an AbortSignal'],
    [() => agent.run('x', { approve: 'some' }), 'options.approve: got "some"; expected a function or \'all\''],
    [() => agent.run('x', { after: 'text' }), 'options.after: got "text"; expected the trajectory of an earlier run'],
    [() => agent.run('x', { images: 'a' }), 'options.images: got "a"; expected an array of data URLs of pictures (image/png, image/jpeg, image/webp, image/gif) or PDFs (application/pdf)'],
    [() => agent.run('x', { images: ['data:image/svg+xml;base64,AA=='] }), 'options.images: expected an array of data URLs of pictures'],
    [() => agent.run('x', 5), 'options: got 5; expected an object'],
    [() => agent.grantTurns(0), 'turns: got 0; expected a whole number, 1 or more'],
    [() => agent.grantTurns(), 'turns: got nothing; expected a whole number, 1 or more'],
    [() => agent.grantTurns(1, { after: {} }), 'options.after: unknown option; options takes onEvent, signal, approve'],
    [() => agent.runPlan(undefined), 'plan: got nothing; expected an object'],
    [() => agent.runPlan({}, { from: 1 }), 'options.from: got 1; expected nothing without options.after'],
    [() => agent.runPlan({}, { parallel: 0 }), 'options.parallel: got 0; expected a whole number, 1 or more'],
    [() => DocsSite.open(5), 'page: got 5; expected the address of a page of the site'],
    [() => DocsSite.open('http://127.0.0.1:9/', { credentials: 'same-origin' }), 'options.credentials: got "same-origin"; expected \'omit\' or \'include\''],
    [() => renderMarkdown(5), 'text: got 5; expected a string'],
    [() => renderMarkdown('x', { worker: 1 }), 'options.worker: unknown option; options takes workerUrl'],
    [() => listModels({}), 'provider.kind: missing; expected '],
  ];
  for (const [ask, expected] of cases) {
    let asked;
    assert.doesNotThrow(() => { asked = ask(); }, expected);
    await assert.rejects(asked, message(expected), expected);
  }
  agent.free();
  await assert.rejects(agent.run('x'), { name: 'Error', message: 'this agent was freed' });
});
