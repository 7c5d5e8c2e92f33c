// node benches/same-agent/prefix.mjs [SITE]: what three libraries send in a run of thirty turns with twelve tool calls each, until its
// limit: how much of each prompt the next one begins with, so that a service has it in its cache. SITE: a build of ours, dist/ by default.
// Prints the table in docs/comparison.md. In Node.js, over Chat Completions on loopback.
import http from 'node:http';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { Agent as OpenAIAgent, MaxTurnsExceededError, OpenAIProvider, Runner, tool as agentTool } from '@openai/agents';
import { ToolLoopAgent, isStepCount, tool as aiTool } from 'ai';
import OpenAI from 'openai';
import * as z from 'zod';
import { HEADERS, framed } from '../server.mjs';

const [TURNS, CALLS] = [30, 12];
const INSTRUCTIONS = 'Look up what you need, then answer.';
const PROMPT = 'Which files mention the lamp?';
const DESCRIPTION = 'Searches the files for a word.';
const FOUND = 'src/lamp.js:12: export const lamp = { euros: 12, pieces: 3 };\n'.repeat(8);
const schema = z.object({ word: z.string() });

/** A model that always calls twelve tools, unless it may call none. */
async function startModel() {
  const requests = [];
  const server = http.createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    const body = JSON.parse(Buffer.concat(parts).toString());
    requests.push(body);
    const mayCall = body.tools?.length && body.tool_choice !== 'none';
    const call = (delta, index) => delta({ tool_calls: [{ index, id: `call_${requests.length}_${index}`, type: 'function', function: { name: 'search', arguments: '{"word":"lamp"}' } }] });
    const events = framed(`chatcmpl-${requests.length}`, (delta) => (mayCall
      ? [delta({ content: 'I look.' }), ...Array.from({ length: CALLS }, (_, index) => call(delta, index)), delta({}, 'tool_calls')]
      : [delta({ content: 'src/lamp.js' }), delta({}, 'stop')]));
    response.writeHead(200, { ...HEADERS, 'content-type': 'text/event-stream' }).end(events.join(''));
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  return { baseURL: `http://127.0.0.1:${server.address().port}/v1`, requests, close: () => server.close() };
}

const PROGRAMS = {
  // By the kind of a server that respects the choice `none`: on a server that is not known, the last request has no tools.
  Turnwise: async ({ baseURL }, site) => {
    const { Agent, openrouter, tool } = await import(pathToFileURL(path.join(site, 'turnwise/index.node.js')));
    const search = tool({ description: DESCRIPTION, inputSchema: schema, execute: () => FOUND });
    const agent = new Agent({ model: openrouter('openai/bench-1', { baseUrl: baseURL, apiKey: 'none' }), instructions: INSTRUCTIONS, tools: { search }, maxTurns: TURNS });
    const { text } = await agent.generate(PROMPT);
    return text;
  },
  'AI SDK': async ({ baseURL }) => {
    const provider = createOpenAICompatible({ name: 'bench', baseURL, apiKey: 'none' });
    const search = aiTool({ description: DESCRIPTION, inputSchema: schema, execute: () => FOUND });
    const agent = new ToolLoopAgent({ model: provider('bench-1'), instructions: INSTRUCTIONS, tools: { search }, stopWhen: isStepCount(TURNS) });
    const stream = await agent.stream({ prompt: PROMPT });
    await stream.consumeStream();
    return (await stream.text) || 'no answer';
  },
  'OpenAI Agents SDK': async ({ baseURL }) => {
    const runner = new Runner({ modelProvider: new OpenAIProvider({ openAIClient: new OpenAI({ baseURL, apiKey: 'none' }), useResponses: false }), tracingDisabled: true });
    const search = agentTool({ name: 'search', description: DESCRIPTION, parameters: schema, execute: () => FOUND });
    try {
      const stream = await runner.run(new OpenAIAgent({ name: 'bench', model: 'bench-1', instructions: INSTRUCTIONS, tools: [search] }), PROMPT, { stream: true, maxTurns: TURNS });
      await stream.completed;
      return stream.finalOutput;
    } catch (error) {
      if (error instanceof MaxTurnsExceededError) return 'an error';
      throw error;
    }
  },
};

/** The prompt as services have it: the tools, then the messages. */
const promptOf = ({ tools = [], messages }) => [...tools, ...messages].map((part) => JSON.stringify(part));
const size = (parts) => parts.reduce((sum, part) => sum + part.length, 0);

/** The share of each prompt that the next one begins with. */
function kept(requests) {
  const prompts = requests.map(promptOf);
  return prompts.slice(1).map((next, at) => {
    const same = prompts[at].findIndex((part, place) => part !== next[place]);
    return size(same < 0 ? prompts[at] : prompts[at].slice(0, same)) / size(prompts[at]);
  });
}

const site = path.resolve(process.argv[2] ?? path.join(import.meta.dirname, '../../dist'));
const percent = (share) => (share === undefined ? '–' : `${(share * 100).toFixed(1)} %`);
console.log('| | requests | least share of a prompt kept by the next, in the turns | at the limit | ends with |\n| --- | ---: | ---: | ---: | --- |');
for (const [name, run] of Object.entries(PROGRAMS)) {
  const model = await startModel();
  const end = await run(model, site);
  const shares = kept(model.requests);
  console.log(`| ${name} | ${model.requests.length} | ${percent(Math.min(...shares.slice(0, TURNS - 1)))} | ${percent(shares[TURNS - 1])} | ${end} |`);
  model.close();
}
process.exit();
