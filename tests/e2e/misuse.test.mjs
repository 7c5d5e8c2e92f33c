// What newcomers get wrong, and what they are told: where it is (the option's path, or the tool's name), what it got, what it takes, and
// what was probably meant. A row: what was done, and patterns that the message has to match. Nothing of this may end in a request, a
// message of JavaScript itself, or silence.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import * as z from 'zod';

const of = (name) => import(pathToFileURL(path.resolve(process.env.SITE ?? 'dist', `turnwise/${name}.js`)).href);
const sdk = await of('index.node');
const { Agent, anthropic, chrome, configure, custom, demo, exportTrajectory, gemini, inBrowser, inMemory, jsonSchema, listModels, llamacpp, ollama, openai, openrouter, otlp, replay, summarize, tool, toolContent } = sdk;
const { fromAiSdk } = await of('ai-sdk');

const KEY = 'sk-live-0123456789abcdef';
/** A model that nobody may ask. */
const unasked = custom(() => { throw Object.assign(new Error('the model was asked'), { status: 400 }); });
const execute = () => 'fine';
const make = (options) => () => new Agent({ model: unasked, ...options });
const ofTool = (one) => make({ tools: { weather: one } });
const run = (options, ...given) => () => new Agent({ model: unasked, ...options }).generate(...(given.length ? given : ['Hello']));
const record = async () => (await new Agent({ model: custom(() => 'fine') }).generate('Hello')).trajectory;
class Weather { city = ''; }
/** Keys and values by methods, as `localStorage` has them. */
const localStorage = { getItem() {}, setItem() {}, removeItem() {}, clear() {}, key() {}, length: 0 };
/** The client of OpenAI's own package, as far as it can be told. */
class OpenAI { chat = { completions: { create() {} } }; apiKey = KEY; }
const aiSdkModel = { specificationVersion: 'v4', provider: 'openai.chat', modelId: 'gpt-5', doGenerate() {}, doStream() {} };

const ROWS = [
  // The model.
  ['no options', () => new Agent(), /options\.model: missing/, /openai\('/],
  ['a name as the model', make({ model: 'gpt-5' }), /options\.model: got "gpt-5"/, /openai\('gpt-5'/],
  ['a name of another provider', make({ model: 'claude-sonnet-5' }), /options\.model/, /anthropic\('claude-sonnet-5'/],
  ['a name with its vendor', make({ model: 'openai/gpt-5' }), /options\.model/, /openrouter\('openai\/gpt-5'/],
  ['a model of the AI SDK', make({ model: aiSdkModel }), /options\.model: got a model of the AI SDK/, /fromAiSdk\(model\).*turnwise\/ai-sdk/],
  ['a client of OpenAI\'s package', make({ model: new OpenAI() }), /options\.model: got an OpenAI/, /openai\('/],
  ['a function that was not called', make({ model: openai }), /options\.model: got a function/, /openai\('/],
  ['a promise of a model', make({ model: Promise.resolve(unasked) }), /options\.model: got a Promise/, /await/],
  ['null as the model', make({ model: null }), /options\.model: got null/, /openai\('/],
  ['an empty list of models', make({ model: [] }), /options\.model: got an empty array/],
  ['a name in a list of models', make({ model: [unasked, 'gpt-5'] }), /options\.model\[1\]: got "gpt-5"/, /openai\('gpt-5'/],
  ['the model under another name', () => new Agent({ provider: unasked }), /options\.provider: unknown option/, /did you mean model\?/],
  ['a key as the second argument', () => new Agent({ model: openai('m', KEY) }), /openai\(\): settings: got a string/, /\{ apiKey/],
  ['no name of a model', () => new Agent({ model: openai() }), /openai\(\): model: got nothing/, /openai\('/],
  ['settings as the first argument', () => new Agent({ model: anthropic({ model: 'm', apiKey: KEY }) }), /anthropic\(\): model: got an object/, /anthropic\('/],
  ['an empty name of a model', () => new Agent({ model: ollama('') }), /ollama\(\): model: got ""/],
  ['a setting in other letters', make({ model: openai('m', { apikey: KEY }) }), /options\.model\.apikey: unknown option/, /did you mean apiKey\?/],
  ['a setting of another package', make({ model: openai('m', { baseURL: 'https://api.example.com/v1' }) }), /options\.model\.baseURL/, /did you mean baseUrl\?/],
  ['an option of the agent as a setting', make({ model: gemini('m', { temperature: 1 }) }), /options\.model\.temperature: unknown option/, /options\.model takes/],
  ['a key that is no text', make({ model: openai('m', { apiKey: { key: KEY } }) }), /options\.model\.apiKey: got an object/, /a string/],
  ['a URL without a scheme', make({ model: ollama('m', { baseUrl: 'my-server/v1' }) }), /options\.model\.baseUrl: got "my-server\/v1"/, /https?:\/\/my-server\/v1/],
  ['a URL with a scheme that is none of the web', make({ model: openai('m', { baseUrl: 'ftp://api.example.com/v1' }) }), /options\.model\.baseUrl: got "ftp:/, /https?:/],
  ['a scheme with a letter missing', make({ model: openai('m', { baseUrl: 'htp://api.example.com/v1' }) }), /options\.model\.baseUrl: got "htp:/, /https?:/],
  ['a scheme with a slash missing', make({ model: openai('m', { baseUrl: 'http:/localhost:1234/v1' }) }), /options\.model\.baseUrl: got "http:\/localhost/, /http:\/\/localhost:1234\/v1/],
  ['headers as an object of the web', make({ model: openai('m', { headers: new Headers({ a: 'b' }) }) }), /options\.model\.headers: got a Headers/, /Object\.fromEntries/],
  ['a price that is a number', make({ model: openai('m', { price: 5 }) }), /options\.model\.price: got 5/, /\{ input, output/],
  ['custom() without its function', () => custom(), /custom\(\): complete: got nothing/, /a function/],
  ['custom() with an object', () => custom({ complete: execute }), /custom\(\): complete: got an object/, /a function/],
  ['custom() that returns a number', run({ model: custom(() => 7) }), /returned 7/, /a string, a chat completion/],
  ['custom() that returns nothing', run({ model: custom(() => {}) }), /returned nothing/, /a string, a chat completion/],
  ['custom() that returns an object of its own', run({ model: custom(() => ({ answer: 'x' })) }), /returned an object/, /choices/],
  ['custom() that returns an array', run({ model: custom(() => [{ role: 'assistant', content: 'x' }]) }), /returned an array/, /a string, a chat completion/],
  ['chrome() in Node.js', run({ model: chrome() }), /chrome\(\)/, /a page of a browser/],
  ['a mode of the demo that it has not', () => new Agent({ model: demo('endles') }), /options\.model\.demo: got "endles"/, /did you mean 'endless'\?/],
  ['fromAiSdk() with a name', () => fromAiSdk('gpt-5'), /fromAiSdk/, /got "gpt-5"/, /version v3 or v4/],

  // The options of an agent.
  ['a letter missing', make({ maxTruns: 3 }), /options\.maxTruns: unknown option/, /did you mean maxTurns\?/],
  ['the name of the AI SDK for turns', make({ maxSteps: 3 }), /options\.maxSteps: unknown option/, /did you mean maxTurns\?/],
  ['the name of the AI SDK for instructions', make({ system: 'Be brief.' }), /options\.system: unknown option/, /did you mean instructions\?/],
  ['the name of others for a schema of the result', make({ outputType: z.object({}) }), /options\.outputType/, /did you mean output\?/],
  ['the name of others for sub-agents', make({ handoffs: [] }), /options\.handoffs/, /did you mean subagents\?/],
  ['the name of a wrong case', make({ builtinTools: [] }), /options\.builtinTools/, /did you mean builtInTools\?/],
  ['instructions that are a list', make({ instructions: ['Be brief.'] }), /options\.instructions: got an array/, /a string/],
  ['turns as a text', make({ maxTurns: '5' }), /options\.maxTurns: got "5"/, /a whole number/],
  ['a temperature as a text', make({ temperature: '0.5' }), /options\.temperature: got "0\.5"/, /a number/],
  ['an effort that there is not', make({ reasoning: 'hihg' }), /options\.reasoning: got "hihg"/, /did you mean 'high'\?/],
  ['files as a list of names', make({ files: ['a.md'] }), /options\.files: got an array/, /an object of contents by path/, /\{ 'a\.md':/],
  ['a file as bytes', make({ files: { 'a.md': new Uint8Array([1]) } }), /options\.files\.a\.md: got an? (Uint8Array|object)/, /new Blob/],
  ['a file outside the workspace', make({ files: { '../a.md': '' } }), /options\.files\.\.\.\/a\.md/, /inside the workspace/],
  ['a built-in tool of another name', make({ builtInTools: ['read_files'] }), /options\.builtInTools: got "read_files"/, /did you mean 'read_file'\?/],
  ['all built-in tools', make({ builtInTools: 'all' }), /options\.builtInTools: got "all"/, /'safe'/],
  ['a budget as a number', make({ budget: 1 }), /options\.budget: got 1/, /\{ usd, tokens, ms \}|usd, tokens, ms/],
  ['a budget in another unit', make({ budget: { dollars: 1 } }), /options\.budget\.dollars: unknown option/, /did you mean usd\?/],
  ['a budget as a text', make({ budget: { usd: '1' } }), /options\.budget\.usd: got "1"/, /a number/],
  ['a limit that the budget has', make({ limits: { wallMs: 1000 } }), /options\.limits\.wallMs/, /options\.budget\.ms/],
  ['a limit in other letters', make({ limits: { toolTimeout: 1000 } }), /options\.limits\.toolTimeout: unknown option/, /did you mean toolTimeoutMs\?/],
  ['a class as the output', make({ output: Weather }), /options\.output: got the class Weather/, /Zod/],
  ['the shape of an output', make({ output: { city: z.string() } }), /options\.output: got an object of Zod schemas|options\.output: got an object of schemas/, /z\.object\(/],
  ['an output as a name', make({ output: 'json' }), /options\.output: got "json"/, /JSON Schema/],
  ['an output that is no JSON Schema', make({ output: { city: 'string' } }), /options\.output: got an object/, /type: 'object'/],
  ['an output with the preset research', make({ preset: 'research', output: z.object({}) }), /options\.preset: got "research"/, /'strict'/],
  ['a preset that there is not', make({ preset: 'strikt' }), /options\.preset: got "strikt"/, /did you mean 'strict'\?/],
  ['approve as true', make({ approve: true }), /options\.approve: got true/, /'all'/],
  ['approve as a list of tools', make({ approve: ['weather'] }), /options\.approve: got an array/, /a function or 'all'/],
  ['a permission that is no rule', make({ permissions: { network: 'yes' } }), /options\.permissions\.network: got "yes"/, /'allow'/],
  ['a rule for a tool in other letters', run({ tools: { send_mail: tool({ execute }) }, permissions: { tools: { sendMail: 'deny' } } }), /options\.permissions\.tools: got "sendMail"/, /did you mean 'send_mail'\?/],
  ['a choice of a tool that there is not', run({ tools: { weather: tool({ execute }) }, toolChoice: { tool: 'wether' } }), /options\.toolChoice\.tool: got "wether"/, /one of the tools: weather/, /did you mean 'weather'\?/],
  ['a choice of a tool where there is none', run({ toolChoice: { tool: 'zzz' } }), /options\.toolChoice\.tool: got "zzz"/, /no tools/],
  ['a choice of a tool as the AI SDK has it', make({ toolChoice: { type: 'tool', toolName: 'weather' } }), /options\.toolChoice/, /\{ tool: "weather" \}/],
  ['a choice by name alone', make({ tools: { weather: tool({ execute }) }, toolChoice: 'weather' }), /options\.toolChoice: got "weather"/, /\{ tool: "weather" \}/],
  ['an unknown tool of a sub-agent', run({ tools: { weather: tool({ execute }) }, subagents: { reader: { tools: ['wether'] } } }), /options\.subagents\.reader\.tools: got "wether"/, /did you mean 'weather'\?/],
  ['tools of a sub-agent as an object', make({ subagents: { reader: { tools: { weather: tool({ execute }) } } } }), /options\.subagents\.reader\.tools: got an object/, /tool names/],
  ['a sub-agent that is an agent', make({ subagents: { reader: new Agent({ model: unasked }) } }), /options\.subagents\.reader: got an? /, /an object with description/],
  ['guardrails as a list', make({ guardrails: [() => true] }), /options\.guardrails: got an array/, /input, output/],
  ['a guardrail without its list', make({ guardrails: { input: () => true } }), /options\.guardrails\.input: got a function/, /an array of functions/],
  ['guardrails of another name', make({ guardrails: { inputs: [] } }), /options\.guardrails\.inputs: unknown option/, /did you mean input\?/],
  ['a guardrail that returns false', run({ guardrails: { input: [() => false] } }), /guardrails\.input\[0\] returned false/, /\{ slug, message \}/],
  ['telemetry that is options', make({ telemetry: { url: 'http://localhost:4318' } }), /options\.telemetry: got an object/, /otlp\(/],

  // Tools.
  ['tools as a list', make({ tools: [tool({ execute })] }), /options\.tools: got an array/, /by name/],
  ['a function as a tool', ofTool(() => 'fine'), /tools\.weather: got a function/, /tool\(\{ .*execute/],
  ['a name with a space', make({ tools: { 'get weather': tool({ execute }) } }), /tools\.get weather/, /get_weather/],
  ['parameters in place of inputSchema', ofTool({ parameters: z.object({}), execute }), /tools\.weather\.parameters: unknown option/, /did you mean inputSchema\?/],
  ['another name for execute', ofTool({ handler: execute }), /tools\.weather\.handler: unknown option/, /did you mean execute\?/],
  ['a tool without a function', ofTool({ description: 'x' }), /tools\.weather\.execute: got nothing/, /a function/],
  ['the shape of the arguments', ofTool({ inputSchema: { city: z.string() }, execute }), /tools\.weather\.inputSchema: got an object of/, /z\.object\(/],
  ['arguments that are no object', ofTool({ inputSchema: z.string(), execute }), /tools\.weather\.inputSchema/, /an object/, /"string"/],
  ['a JSON Schema without its type', ofTool({ inputSchema: { city: { type: 'string' } }, execute }), /tools\.weather\.inputSchema: got an object/, /type: 'object'/, /properties/],
  ['a class as the arguments', ofTool({ inputSchema: Weather, execute }), /tools\.weather\.inputSchema: got the class Weather/],
  ['a description that is no text', ofTool({ description: ['x'], execute }), /tools\.weather\.description: got an array/, /a string/],
  ['touches as a text', ofTool({ touches: 'network', execute }), /tools\.weather\.touches: got "network"/, /\['network'\]/],
  ['touches in other letters', ofTool({ touches: ['netwrok'], execute }), /tools\.weather\.touches: got "netwrok"/, /did you mean 'network'\?/],
  ['needsApproval as a text', ofTool({ needsApproval: 'always', execute }), /tools\.weather\.needsApproval: got "always"/, /true, false, 'once' or a function/],
  ['tool() with its name first', () => tool('weather', { execute }), /tool\(\): got "weather"/, /tools: \{ weather: tool\(/],
  ['addTool() with the tool alone', () => new Agent({ model: unasked }).addTool(tool({ execute })), /addTool\(\): name: got an object/, /addTool\('/],
  ['toolContent() with a number', () => toolContent(7), /toolContent\(\): got 7/, /an array of parts/],
  ['jsonSchema() with a text', () => jsonSchema('{}'), /jsonSchema\(\): got "\{\}"/, /type: 'object'/],

  // Runs.
  ['no prompt', run({}, undefined), /prompt: got nothing/, /a string/],
  ['an empty prompt', run({}, ' '), /prompt: got " "/],
  ['a prompt in an object', run({}, { prompt: 'Hello' }), /prompt: got an object/, /a string, or an array of parts/],
  ['messages as the prompt', run({}, [{ role: 'user', content: 'Hello' }]), /prompt\[0\]: got a message/, /messages/],
  ['a signal of another name', run({}, 'Hello', { abortSignal: AbortSignal.timeout(1000) }), /options\.abortSignal: unknown option/, /did you mean signal\?/],
  ['a controller as the signal', run({}, 'Hello', { signal: new AbortController() }), /options\.signal: got an AbortController/, /\.signal/],
  ['options of the agent in a run', run({}, 'Hello', { maxTurns: 3 }), /options\.maxTurns: unknown option/, /new Agent/],
  ['resume() of nothing', () => new Agent({ model: unasked }).resume(undefined).result, /trajectory: got nothing/],
  ['resume() of an id', () => new Agent({ model: unasked }).resume('run_1').result, /trajectory: got "run_1"/, /a trajectory/],
  ['resume() of a result', async () => new Agent({ model: unasked }).resume({ trajectory: await record(), text: 'x' }).result, /trajectory: got a result/, /result\.trajectory/],
  ['resume() of a promise', () => new Agent({ model: unasked }).resume(record()).result, /trajectory: got a Promise/, /await/],
  ['branch() with an edit that is a text', async () => new Agent({ model: unasked }).branch(await record(), { turn: 1, edit: 'say more' }).result, /options\.edit: got "say more"/, /callId, result, reply/],
  ['branch() with an empty edit', async () => new Agent({ model: unasked }).branch(await record(), { turn: 1, edit: {} }).result, /options\.edit: got no change/, /one change: \{ callId/],
  ['branch() with two edits', async () => new Agent({ model: unasked }).branch(await record(), { turn: 1, edit: { say: 'x', system: 'y' } }).result, /options\.edit: got system and say/, /one change/],
  ['branch() with the edit beside', async () => new Agent({ model: unasked }).branch(await record(), { turn: 1, say: 'x' }).result, /options\.say: unknown option/, /edit: \{ say/],
  ['branch() with an edit in other letters', async () => new Agent({ model: unasked }).branch(await record(), { edit: { sya: 'x' } }).result, /options\.edit\.sya: unknown option/, /did you mean say\?/],
  ['branch() with half an edit', async () => new Agent({ model: unasked }).branch(await record(), { edit: { callId: 'c' } }).result, /options\.edit: got callId/, /\{ callId, result \}/],
  ['replay() of a result', async () => replay({ trajectory: await record(), text: 'x' }), /trajectory: got a result/, /result\.trajectory/],
  ['exportTrajectory() of a result', async () => exportTrajectory({ trajectory: await record(), text: 'x' }, 'html'), /trajectory: got a result/, /result\.trajectory/],
  ['summarize() of a result', async () => summarize({ trajectory: await record(), text: 'x' }), /trajectory: got a result/, /result\.trajectory/],
  ['a format that there is not', async () => exportTrajectory(await record(), 'markdwon'), /format: got "markdwon"/, /did you mean 'markdown'\?/],
  ['listModels() with a name', () => listModels('openai'), /provider: got "openai"/, /openai\('/],

  // Chats.
  ['localStorage as the storage', () => new Agent({ model: unasked }).chat({ storage: localStorage }), /options\.storage: got an object without get\(\)/, /inBrowser\(\)/],
  ['a storage that was not called', () => new Agent({ model: unasked }).chat({ storage: inBrowser }), /options\.storage: got a function/, /inBrowser\(\)/],
  ['a name as the storage', () => new Agent({ model: unasked }).chat({ storage: 'browser' }), /options\.storage: got "browser"/, /inBrowser\(\)/],
  ['the id alone', () => new Agent({ model: unasked }).chat('room'), /options: got "room"/, /\{ id: 'room' \}|an object/],
  ['an id that is a number', () => new Agent({ model: unasked }).chat({ id: 5 }), /options\.id: got 5/, /a string/],
  ['an option of a chat in other letters', () => new Agent({ model: unasked }).chat({ storgae: inMemory() }), /options\.storgae: unknown option/, /did you mean storage\?/],
  ['messages of a chat', () => new Agent({ model: unasked }).chat().send('Hello', { messages: [] }), /options\.messages: unknown option/, /the chat has its own/],
  ['inBrowser() in Node.js', () => new Agent({ model: custom(() => 'fine') }).chat({ storage: inBrowser() }).send('Hello').result, /inBrowser\(\) needs IndexedDB/, /inMemory\(\)/],
  ['inBrowser() with options', () => inBrowser({ name: 'chats' }), /inBrowser\(\): name: got an object/, /a string/],

  // Telemetry and the rest.
  ['otlp() without an address', () => otlp(), /otlp\(\): got nothing/, /\{ url/],
  ['otlp() with an address alone', () => otlp('http://localhost:4318/v1/traces'), /otlp\(\): got "http:\/\/localhost:4318\/v1\/traces"/, /\{ url/],
  ['otlp() with no address', () => otlp({ url: 'collector' }), /otlp\(\): url: got "collector"/, /http:\/\/localhost:4318\/v1\/traces/],
  ['otlp() with an address without a scheme', () => otlp({ url: 'localhost:4318' }), /otlp\(\): url: got "localhost:4318"/, /http:\/\/localhost:4318\/v1\/traces/],
  ['otlp() with a name of others', () => otlp({ endpoint: 'http://localhost:4318' }), /otlp\(\)\.endpoint: unknown option/, /did you mean url\?/],
  ['configure() with an option in other letters', () => configure({ asset: '/x/' }), /configure\(\)\.asset: unknown option/, /did you mean assets\?/],
];

/** What somebody is told: the message, and the kind of the error. */
async function told(act) {
  try {
    const done = await act();
    return { silent: true, message: `accepted: ${typeof done === 'object' ? Object.prototype.toString.call(done) : String(done)}` };
  } catch (error) {
    return { message: error.message, kind: error.name };
  }
}

if (process.env.SHOW) for (const [title, act] of ROWS) console.log(`${title}\t${JSON.stringify(await told(act))}`);

test('each misuse is told where it is, what it got, what it takes and what was meant', async (t) => {
  assert.ok(ROWS.length >= 60);
  for (const [title, act, ...patterns] of ROWS) {
    await t.test(title, async () => {
      const { silent, message, kind } = await told(act);
      assert.ok(!silent, message);
      assert.match(kind, /^(TypeError|TurnwiseError)$/, message);
      assert.doesNotMatch(message, /undefined|\[object|is not a function|is not iterable|Cannot (read|destructure)/);
      assert.ok(!message.includes(KEY) && message.length < 600, message);
      for (const pattern of patterns) assert.match(message, pattern);
    });
  }
});
