// The worker in which the whole agent runs: the package, its loop, the docs. The page only draws what this one posts.
//
// Messages are plain JSON. From the page: { id, do, … }, answered by { id, ok } or { id, error }; { reply, … } answers a
// request to a model that lives in the page. To the page, without an id: { event, … }.
import init, * as turnwise from './turnwise.js';
import { asInPage, heardFromPage } from './page-model.js';
import { bridgeFetch, fetched } from './bridge.js';
import { demoFiles } from './demo-files.js';
import { painter } from './painter.js';
import { prompt } from './prompt.js';

const HERE = new URL('.', import.meta.url);
// Reads the docs, checks arguments and renders Markdown. What it lacks (calculation, colours of code, the demo model, files
// of other formats) is in the tools worker, which is twice the size and loaded when one of these is wanted.
const DOCS_WORKER = new URL('docs-worker.js', HERE).href;
const post = (message) => postMessage(message);

// A host that asks for Trusted Types asks it of workers made from blobs too. The policy passes the package's own worker
// and the blobs that import it (where the package is of another origin), and nothing else.
const mine = (url) => (url.startsWith('blob:') || url.startsWith(HERE.href) ? url : 'about:blank#refused');
let policy;
try {
  policy = globalThis.trustedTypes?.createPolicy('turnwise', { createScriptURL: mine });
} catch {
  // The host's `trusted-types` does not name it: starting the tools fails, and the violation says what to add.
}
globalThis[Symbol.for('turnwise.Worker')] = class {
  constructor(url, options) {
    return new Worker(policy ? policy.createScriptURL(String(url)) : url, options);
  }
};

addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) => post({ event: 'blocked', directive: effectiveDirective, uri: blockedURI }));

let ready; // of the package
let docs = Promise.resolve(undefined); // the site, or { failed: words }
let agent;
let made = ''; // the options that the agent was made with
let workerUrl; // of its tools; none: the tools worker
let last; // the trajectory that a follow-up goes on from
let shown; // the one of the last run, however it ended
let running = false;
let interrupt = () => {}; // ends waiting for the docs
let limit = 0; // turns a run has at first

const words = (error) => String(error?.message ?? error);

/** Starts the package, and reading the docs; the answer does not wait for the docs. */
async function start({ docs: wanted, page, html, after, bridged }) {
  if (bridged) bridgeFetch(post, new URL(page).origin);
  if (after) last = shown = JSON.parse(after); // before what is said next
  ready ??= init();
  await ready;
  if (wanted) docs = openDocs(wanted, page, html);
  return {};
}

async function openDocs(source, page, html) {
  try {
    const site = await turnwise.DocsSite.open(page, { html, source, workerUrl: DOCS_WORKER, onProgress: (progress) => post({ event: 'docs', progress }) });
    post({ event: 'docs', info: { ...plain(site.info) } });
    return site;
  } catch (error) {
    post({ event: 'docs', failed: words(error) });
    return { failed: words(error) };
  }
}

const plain = ({ kind, title, root, pages, sections, version, cached, complete }) => ({ kind, title, root, pages, sections, version, cached, complete });

function provided(provider) {
  return provider.kind === 'custom' ? { ...provider, complete: (request, options) => asInPage(post, request, options) } : provider;
}

/** One agent for a conversation; a new one where the page's settings changed. */
async function prepare({ provider, preset, maxTurns, system, headers }, task) {
  await ready;
  const site = await docs;
  const options = JSON.stringify([provider, preset, maxTurns, system, headers, Boolean(site), site?.failed]);
  if (!agent || made !== options) make({ provider, preset, maxTurns, system, headers, site });
  made = options;
  if (provider.kind === 'demo' && site?.tools) await demoFiles(agent, site, task);
}

function make({ provider, preset, maxTurns, system, headers, site }) {
  const demo = provider.kind === 'demo';
  workerUrl = site && !demo ? DOCS_WORKER : undefined;
  agent?.free();
  agent = undefined;
  agent = new turnwise.Agent({
    preset: preset || 'research',
    provider: provided(headers ? { ...provider, headers } : provider),
    system: prompt({ site, own: system }),
    maxTurns,
    workerUrl,
    tools: demo ? ['calculate', 'list_files', 'read_file', 'search_files'] : site ? ['read_result'] : ['calculate', 'read_result'],
  });
  for (const tool of demo ? [] : site?.tools ?? []) agent.registerTool(tool);
  limit = maxTurns;
}

/** Runs, and answers with the record as text when all that happened has been posted. */
async function run(begin) {
  if (running) throw new Error('a run is under way');
  running = true;
  const paint = painter((text) => turnwise.renderMarkdown(text, { workerUrl }), post);
  try {
    const trajectory = await begin((event) => paint.event(event));
    await paint.done();
    shown = trajectory;
    // What failed at once (a wrong key) is no part of the conversation: asking again would repeat it.
    if (trajectory.outcome !== 'failed') last = trajectory;
    return { trajectory: JSON.stringify(trajectory), outcome: trajectory.outcome, reason: trajectory.termination_reason, output: trajectory.output };
  } finally {
    running = false;
    paint.end();
  }
}

async function ask(message) {
  if (running) throw new Error('a run is under way');
  // Stop and Cancel end this wait as they end a run.
  const stopped = new Promise((_, reject) => { interrupt = () => reject(new Error('cancelled')); });
  await Promise.race([prepare(message.options, message.task), stopped]);
  interrupt = () => {};
  return run((onEvent) => agent.run(message.task, { after: last, onEvent }));
}

const grant = ({ turns }) => run((onEvent) => agent.grantTurns(turns ?? limit, { onEvent }));

async function write({ format }) {
  if (!shown) throw new Error('nothing has run yet');
  return { text: await turnwise.exportTrajectory(shown, format) };
}

/** The same nodes, code in colours. */
const colour = async ({ text }) => ({ nodes: await turnwise.renderMarkdown(text) });

/** The conversation went on in another page, or was begun anew. */
function carry({ after }) {
  last = shown = after && JSON.parse(after);
  return {};
}

const WORK = { start, ask, grant, write, colour, carry };

onmessage = async ({ data }) => {
  if (data.reply !== undefined) return heardFromPage(data);
  if (data.fetched !== undefined) return fetched(data);
  if (data.do === 'stop' || data.do === 'cancel') {
    interrupt();
    return running ? agent[data.do]() : undefined;
  }
  try {
    post({ id: data.id, ok: await WORK[data.do](data) });
  } catch (error) {
    post({ id: data.id, error: words(error) });
  }
  return undefined;
};
post({ event: 'loaded' });
