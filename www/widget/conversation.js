// One conversation of the panel, on top of the package's client: the docs of its site, an agent with tools to search them, and
// the events of its runs, ready to be drawn. All tags of the page share the engine; everything else belongs to one tag.
import * as turnwise from './turnwise.js';
import { painter } from './painter.js';
import { prompt } from './prompt.js';

// Reads the docs, checks arguments and renders Markdown. The features that it lacks (calculation, syntax highlighting, the demo
// model, files of other formats) are in the tools worker, which is twice the size and loaded when one of them is needed.
const docsWorker = () => inside.script('docs-worker.js', () => new Worker(new URL('./docs-worker.js', import.meta.url), { type: 'module' }));
const BUSY = 'a run is under way';
/** Somebody who tries the demo in a docs panel wants the answer, not to watch it being typed. */
const DEMO_PACE = { pace: 0.2 };

const { inside } = turnwise;

/** Parses the stored record that a follow-up continues from; `undefined` if it is not valid: the follow-up then starts afresh. */
function kept(text) {
  try {
    return text && JSON.parse(text);
  } catch {
    return undefined;
  }
}

export class Conversation {
  #docs; // { source, page, html, credentials }, or undefined
  #hear;
  #release = inside.hold();
  #started; // promise: the engine's number
  #engine = 0;
  #site = Promise.resolve(undefined); // the site on that engine, or { failed: message }
  #agent;
  #made = ''; // the options that the agent was created with
  #workerUrl; // the worker for its tools; undefined: the tools worker
  #last; // the record that a follow-up continues from
  #running = false;
  #interrupt = () => {}; // stops waiting for the docs
  #over = new AbortController();
  #approve; // called before one of the page's tools changes anything; the panel's own tools only read and compute

  /** `hear(event)`: { event: 'docs', progress, info or failed } and { event: 'run', data }. `after`: as for `carry`. */
  constructor({ docs, after, hear, approve = () => false }) {
    this.#docs = docs;
    this.#approve = approve;
    this.#hear = (event) => this.#over.signal.aborted || hear(event);
    this.carry(after);
  }

  /** Starts the engine, and begins to read the docs without waiting for them. Rejects if the engine does not start. */
  start() {
    if (!this.#started || (this.#engine && !inside.knows(this.#engine))) {
      this.#engine = 0;
      this.#started = this.#begin();
      this.#started.catch(() => { this.#started = undefined; });
    }
    return this.#started;
  }

  async #begin() {
    const engine = await inside.start();
    // Everything that an earlier engine had read is lost with it.
    this.#close();
    this.#engine = engine;
    if (this.#docs && !this.#over.signal.aborted) this.#site = this.#open(this.#docs);
  }

  async #open({ source, page, html, credentials }) {
    try {
      const { signal } = this.#over;
      let site;
      const onProgress = (progress) => this.#hear({ event: 'docs', progress, info: site?.info });
      // What only this visitor may see is not kept for the next one.
      site = await turnwise.DocsSite.open(page, { html, source, credentials, cache: !html, workerUrl: docsWorker(), onProgress, signal });
      this.#hear({ event: 'docs', info: site.info });
      return site;
    } catch (error) {
      this.#hear({ event: 'docs', failed: error.message });
      return { failed: error.message };
    }
  }

  /** Sets the record to continue from, after the conversation went on in another page or was restarted: its text, or nothing. */
  carry(after) {
    this.#last = kept(after);
  }

  async ask(task, options) {
    if (this.#running) throw new Error(BUSY);
    // A stop ends this wait just as it ends a run.
    const stopped = new Promise((_, reject) => { this.#interrupt = () => reject(new Error('cancelled')); });
    await Promise.race([this.#prepare(options, task), stopped]);
    this.#interrupt = () => {};
    return this.#run((onEvent) => this.#agent.run(task, { onEvent, approve: this.#approve, ...(this.#last && { after: this.#last }) }));
  }

  /** Grants more turns to the last run. */
  grant(turns) {
    return this.#run((onEvent) => this.#agent.grantTurns(turns, { onEvent, approve: this.#approve }));
  }

  stop() {
    this.#interrupt();
    if (this.#running) this.#agent.stop();
  }

  cancel() {
    this.#interrupt();
    if (this.#running) this.#agent.cancel();
  }

  /** Renders an answer to nodes, with syntax highlighting. */
  colour(text) {
    return turnwise.renderMarkdown(text);
  }

  end() {
    this.#over.abort();
    this.cancel();
    this.#close();
    this.#release();
  }

  #close() {
    this.#agent?.free();
    this.#agent = undefined;
    // A site that is still being opened is closed by the signal, or once it is open.
    this.#site.then((site) => site?.free?.());
    this.#site = Promise.resolve(undefined);
  }

  /** Creates the conversation's agent, and a new one if the page's settings or the engine changed. */
  async #prepare(options, task) {
    await this.start();
    const site = await this.#site;
    this.#over.signal.throwIfAborted();
    const made = JSON.stringify([options, Boolean(site), site?.failed, (options.tools ?? []).map(({ name }) => name)]);
    if (!this.#agent || this.#made !== made) {
      // Read before the agent is made: one without them would be kept.
      const read = options.skills && await (await import('./skills.js')).readSkills(options.skills, { signal: this.#over.signal });
      this.#over.signal.throwIfAborted();
      for (const { path, message } of read?.faults ?? []) console.warn(`turnwise-agent: skills: ${path}: ${message}`);
      this.#make(options, site);
      if (read) this.#agent.setSkills(read.skills);
    }
    this.#made = made;
    if (options.provider.kind === 'demo' && site?.tools) await (await import('./demo-files.js')).demoFiles(this.#agent, site, task);
  }

  #make({ provider, preset = 'research', maxTurns, system, headers, contact, tools = [] }, site) {
    const demo = provider.kind === 'demo';
    this.#workerUrl = site && !demo ? docsWorker() : undefined;
    this.#agent?.free();
    this.#agent = undefined;
    this.#agent = new turnwise.Agent({
      preset, maxTurns, workerUrl: this.#workerUrl,
      provider: demo && !provider.demo ? { ...provider, providerOptions: DEMO_PACE } : headers ? { ...provider, headers } : provider,
      system: prompt({ site, own: system, contact }),
      tools: demo ? ['calculate', 'list_files', 'read_file', 'search_files'] : site ? ['read_result'] : ['calculate', 'read_result'],
    });
    for (const tool of [...(demo ? [] : site?.tools ?? []), ...tools]) this.#agent.registerTool(tool);
  }

  /** Runs and returns the record once all events have been delivered. */
  async #run(begin) {
    if (this.#running) throw new Error(BUSY);
    this.#running = true;
    const workerUrl = this.#workerUrl;
    const paint = painter((text) => turnwise.renderMarkdown(text, { workerUrl }), (data) => this.#hear({ event: 'run', data }));
    try {
      const record = await begin(paint.event);
      await paint.done();
      // A failed run (a wrong key, for example) is not part of the conversation: asking again would repeat it.
      if (record.outcome !== 'failed') this.#last = record;
      return record;
    } finally {
      this.#running = false;
      paint.end();
    }
  }
}
