// A fleet of agents on Cloudflare Workers: tasks come from a queue, trajectories go to R2. The engine is the same as in a
// page; this file only determines where tasks come from and where records go.
//
//   POST /tasks          one JSON object per line, { "id": …, "task": … }: puts them into the queue
//   GET  /runs/ID        the trajectory of a task
//   GET  /stats          statistics over all runs so far
import init, { LowLevelAgent, exportTrajectory, insight, summarize } from 'turnwise/core';
import agent from 'turnwise/agent_bg.wasm';
import worker from 'turnwise/worker_bg.wasm';

// A Worker cannot start Web Workers: the engine and its tools run in its only thread.
const start = () => init({ agent, worker });

const text = (value) => String(value ?? '').trim();
const count = [(value) => /^\d{1,9}$/.test(text(value)), 'a whole number'];
/** The requirements for each variable; if one is not met, no tasks are accepted or run. */
const VARIABLES = {
  ACCESS_TOKEN: [text, 'a secret, set with wrangler secret put'],
  PROVIDER: [text, 'a kind of provider, such as openai'],
  BASE_URL: [(value) => /^https?:$/.test(URL.parse(value)?.protocol), 'an address that begins with https:// or http://'],
  MODEL: [text, 'the name of a model'],
  MAX_RETRIES: count, RETRY_SECONDS: count,
};

/** Returns a description of a fault in the configuration, if there is one. */
function misconfigured(env) {
  const [name, [, wanted]] = Object.entries(VARIABLES).find(([variable, [fits]]) => !fits(env[variable])) ?? ['', []];
  return name && `This fleet is not set up: ${name} must be ${wanted}.`;
}

/** The fleet's own tools: its agents can reach whatever it can reach. */
const hostTools = (env) => [{
  name: 'lookup',
  description: 'Looks a key up in the fleet\'s own data',
  parameters: { type: 'object', properties: { key: { type: 'string' } }, required: ['key'], additionalProperties: false },
  execute: async ({ key }) => (await env.RUNS.get(`data/${key}`).then((object) => object?.text())) ?? 'There is nothing of that name.',
}];

/** Failures that are worth a later retry; the engine has already retried immediately. */
const LATER = new Set(['rate_limited', 'provider_error', 'network_error', 'timeout', 'stream_cut']);

async function runTask(id, { task, expect, ...options }, env) {
  const agent = new LowLevelAgent({
    tools: ['calculate', 'now'],
    ...options,
    provider: { kind: env.PROVIDER, baseUrl: env.BASE_URL, model: env.MODEL, ...(env.API_KEY ? { apiKey: env.API_KEY } : {}) },
    limits: { wallMs: 10 * 60_000, ...options.limits }, // a consumer has 15 minutes for its batch
  });
  try {
    hostTools(env).forEach((tool) => agent.registerTool(tool));
    return await agent.run(task);
  } finally {
    agent.free();
  }
}

async function take(message, env) {
  const { id, ...task } = message.body;
  const key = `runs/${id}.json`;
  // A queue may deliver a message twice; a task with a record is already done.
  if (await env.RUNS.head(key)) return message.ack();
  const trajectory = await runTask(id, task, env);
  const last = trajectory.turns.at(-1)?.attempts.at(-1);
  if (trajectory.outcome === 'failed' && LATER.has(last?.slugs[0]) && message.attempts <= Number(env.MAX_RETRIES)) {
    return message.retry({ delaySeconds: Math.min(Number(env.RETRY_SECONDS) * 2 ** (message.attempts - 1), 900) });
  }
  await env.RUNS.put(key, await exportTrajectory(trajectory, 'native'), { customMetadata: { summary: JSON.stringify(await summarize(trajectory)) } });
  return message.ack();
}

export default {
  async queue(batch, env) {
    const wrong = misconfigured(env);
    if (wrong) throw new Error(wrong); // the tasks stay with the queue
    await start();
    // One after the other: a Worker has one thread and limited memory.
    for (const message of batch.messages) await take(message, env);
  },

  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    const wrong = misconfigured(env);
    if (wrong) return new Response(`${wrong}\n`, { status: 503 });
    if (request.headers.get('authorization') !== `Bearer ${env.ACCESS_TOKEN}`) return new Response('Not allowed.\n', { status: 401 });
    if (request.method === 'POST' && pathname === '/tasks') {
      const tasks = (await request.text()).split('\n').filter((line) => line.trim()).map((line) => JSON.parse(line));
      const wrong = tasks.find(({ id, task }) => !/^[\w][\w.-]{0,119}$/.test(id) || typeof task !== 'string');
      if (wrong) return new Response(`Each line needs an id of letters, digits, ".", "_", "-" and a task: ${JSON.stringify(wrong)}\n`, { status: 400 });
      for (let at = 0; at < tasks.length; at += 100) await env.TASKS.sendBatch(tasks.slice(at, at + 100).map((body) => ({ body })));
      return Response.json({ queued: tasks.length }, { status: 202 });
    }
    const [, id] = /^\/runs\/([\w.-]+)$/.exec(pathname) ?? [];
    if (id) {
      const object = await env.RUNS.get(`runs/${id}.json`);
      return object ? new Response(object.body, { headers: { 'content-type': 'application/json' } }) : new Response('Not there yet.\n', { status: 404 });
    }
    if (pathname === '/stats') {
      await start();
      const summaries = [];
      for (let cursor, page; page === undefined || page.truncated; cursor = page.cursor) {
        page = await env.RUNS.list({ prefix: 'runs/', include: ['customMetadata'], cursor });
        summaries.push(...page.objects.map(({ customMetadata }) => JSON.parse(customMetadata.summary)));
      }
      return Response.json(await insight(summaries));
    }
    return new Response('There is POST /tasks, GET /runs/ID and GET /stats.\n', { status: 404 });
  },
};
