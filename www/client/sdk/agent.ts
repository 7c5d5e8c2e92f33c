// `Agent`: an agent's options and its runs. Each run has its own agent of the low-level API, so runs execute
// in parallel.
import { callable, describe, isBlob, isObject, meant, number, shape, signal as isSignal, takes, text, whole, wrong, LowLevelAgent as Implementation } from '../index.js';
import type { Check } from '../check.js';
import type {
  AgentEvent, AgentOptions as LowLevelOptions, BuiltInTool, CounterOptions, Files, LimitOptions, PermissionOptions, Plan, PlanRunOptions, PlanSession, Preset, ReportOptions, RetryOptions, SubagentKind, SynthesisOptions, Trajectory, TrajectoryMessage, WebOptions,
} from '../types/turnwise.js';
import type { LowLevelAgent, Tool as LowLevelTool } from '../types/turnwise.js';
import { errorText } from '../model.js';
import { approver } from './approval.js';
import type { Approve } from './approval.js';
import { Chat } from './chat.js';
import type { ChatOptions } from './chat.js';
import { TurnwiseError, errorOf } from './error.js';
import { SAFE_TOOLS } from '../names.js';
import type { Model } from './models.js';
import type { Telemetry } from './otlp.js';
import type { Message } from './history.js';
import type { Prompt } from './prompt-parts.js';
import { resultOf } from './result.js';
import type { RunResult } from './result.js';
import { Run } from './run.js';
import type { ReadSkills, SkillSource } from './skills.js';
import { Invalid, readSchema } from './schema.js';
import type { Infer, ReadSchema, Schema } from './schema.js';
import { readTool } from './tool.js';
import type { ReadTool, Tool, Tools } from './tool.js';

/**
 * Return nothing or true to pass, or your own slug, with a message for users, to end the run.
 *
 * @example
 * const short: Guardrail<string> = (prompt) => (prompt.length < 2000 ? true : { slug: 'too_long', message: 'Please be brief.' });
 */
export type Guardrail<T> = (value: T, options: { signal: AbortSignal }) => Verdict | Promise<Verdict>;
type Verdict = void | undefined | true | { slug: string; message?: string };

/**
 * The options of an agent. Only `model` is required; unknown or wrong ones throw a `TypeError` that names them.
 *
 * @example
 * const options: AgentOptions = { model: openai('gpt-5.4-mini', { apiKey }), instructions: 'Be brief.', maxTurns: 8, budget: { usd: 0.05 } };
 */
export interface AgentOptions<T extends Tools = Tools, S extends Schema | undefined = undefined> {
  /** One model, or a list: attempt k of a turn uses entry k, starting over at the end. */
  model: Model | readonly Model[];
  /** The system message. Default: describes the run, its number of turns, and that it may be asked to conclude. */
  instructions?: string;
  /** Your tools, by name. */
  tools?: T;
  /**
   * Built-in tools: their names, or `'safe'` for those that only read, calculate and write to the run's files. Default: `'safe'` if
   * there are `files`, otherwise none.
   */
  builtInTools?: 'safe' | readonly BuiltInTool[];
  /** Files that the built-in tools see, by path. Each run has a copy; a chat keeps its own. */
  files?: Record<string, string | Blob>;
  /** Schema of the result. The run then succeeds only with a matching value; the model is told about mismatches. */
  output?: S;
  /** With the preset `strict` and without `output`: the format of the report that the run must end with. Default: `text`. */
  report?: Exclude<ReportOptions['format'], 'json'>;
  /** Default: 15. */
  maxTurns?: number;
  /** LLM requests per turn, retries included. Default: 3. */
  maxAttempts?: number;
  /** At a limit, the run concludes from what it has: `ending.outcome` is then `partial`. `usd` needs a model with a known price. */
  budget?: { usd?: number; tokens?: number; ms?: number };
  reasoning?: LowLevelOptions['reasoning'];
  /** Applies to the first turn; in later turns the model chooses. */
  toolChoice?: LowLevelOptions['toolChoice'];
  temperature?: number;
  topP?: number;
  /**
   * Skills: instructions that the model reads when a task needs them, with scripts that run in the sandbox. Read with the first run;
   * `skills()` says what was found and what is wrong with it.
   */
  skills?: SkillSource | readonly SkillSource[];
  /** Kinds of sub-agents by name; the model delegates parts of the task to them. */
  subagents?: Record<string, SubagentKind>;
  /** Approves calls that touch more than the workspace. A run can set its own. Default: such calls are refused. */
  approve?: Approve;
  /** Rules for tool calls, by what a tool touches and by its name. Default: calls that touch more than the workspace ask `approve`. */
  permissions?: PermissionOptions;
  /** How `fetch_url` and `search_web` reach the web; name them in `builtInTools`. */
  web?: WebOptions;
  /** Checks of the prompt before a run and of the result after it. */
  guardrails?: { input?: readonly Guardrail<string>[]; output?: readonly Guardrail<{ output: OutputOf<S>; text: string }>[] };
  /** Notified of every run: `otlp({ url })` sends its spans to a collector. */
  telemetry?: Telemetry;
  /** Default: `research`; with `output`, `strict`. */
  preset?: Preset;
  counter?: CounterOptions | false;
  synthesis?: SynthesisOptions | false;
  limits?: Omit<LimitOptions, 'wallMs' | 'tokens' | 'cost'>;
  retry?: RetryOptions;
  /** Seeds jitter and ids: the same seed gives the same run. */
  seed?: number;
}

/** The agent of a chat, and what the chat does at the end of a run. */
interface OfChat {
  low: LowLevelAgent;
  ended: (trajectory: Trajectory, refused?: TurnwiseError) => Promise<void>;
  asking: () => Promise<void>;
}

/**
 * A plan that runs: a promise of its record.
 *
 * @example
 * const running = agent.runPlan(plan);
 * button.onclick = () => running.stop();
 * const { ending } = await running;
 */
export interface PlanRun extends Promise<PlanSession> {
  /** Wraps up: the running steps conclude, and no others start. */
  stop(): void;
  /** Ends all steps now, without another request; the promise still resolves. */
  cancel(): void;
}

/**
 * The type of a result's `output`.
 *
 * @example
 * type City = OutputOf<typeof schema>; // with z.object({ city: z.string() }): { city: string }; with undefined: string
 */
export type OutputOf<S extends Schema | undefined> = S extends Schema ? Infer<S> : string;

/**
 * The options of one run.
 *
 * @example
 * await agent.generate('And tomorrow?', { messages: earlier, signal: AbortSignal.timeout(30_000) });
 */
export interface RunOptions {
  /** The conversation so far, oldest first. */
  messages?: readonly Message[];
  /** Aborting it cancels the run: its result throws a `TurnwiseError` with the reason `cancelled`. */
  signal?: AbortSignal;
  /** Approves tool calls in this run. Default: the agent's. */
  approve?: Approve;
}

/**
 * The change that a branch makes: exactly one of these.
 *
 * @example
 * agent.branch(trajectory, { edit: { callId: 'call_1', result: 'no offers' } });
 */
export type BranchEdit =
  /** The tool's result in this call. The branch continues after the call's turn. */
  | { callId: string; result: string }
  /** The model's reply in the turn. The branch continues from this reply. */
  | { reply: string | { text?: string; toolCalls?: { toolName: string; input: unknown }[] } }
  /** The system message, from this turn on. */
  | { system: string }
  /** The model, from this turn on. Default: the agent's. */
  | { model: Model | readonly Model[] }
  /** A user message inserted before this turn. */
  | { say: string };

const any = (value: unknown) => value;
const byName = (words: string, check: Check): Check => (value, path) => {
  if (!isObject(value) || Array.isArray(value)) throw wrong(path, value, words);
  for (const [name, one] of Object.entries(value)) check(one, `${path}.${name}`);
  return value;
};
const guards: Check = (value, path) => {
  if (!Array.isArray(value)) throw wrong(path, value, 'an array of functions');
  return value.map((one, at) => callable(one, `${path}[${at}]`));
};
const content = takes('a string or a Blob: new Blob([bytes])', (value) => typeof value === 'string' || isBlob(value));
const approve = takes<Approve>('a function or \'all\'', (value) => value === 'all' || typeof value === 'function');
/** Limits that the budget has. */
const BUDGETED: Record<string, string> = { wallMs: 'ms', tokens: 'tokens', cost: 'usd' };
/** Options that the low-level agent has under the same name. */
const SAME = ['maxTurns', 'maxAttempts', 'reasoning', 'toolChoice', 'temperature', 'topP', 'counter', 'synthesis', 'retry', 'seed', 'web'] as const;
const CHECKS: Record<string, Check> = {
  model: any, instructions: text, tools: byName('an object of tools by name', any), builtInTools: any,
  files: byName('an object of contents by path: { \'a.md\': text }', content),
  output: any, report: any, skills: any, budget: shape({ usd: number, tokens: whole(1), ms: whole(1) }),
  subagents: any, approve, permissions: any, guardrails: shape({ input: guards, output: guards }),
  telemetry: takes('a function: otlp({ url })', (value) => typeof value === 'function'),
  preset: any, ...Object.fromEntries(SAME.map((name) => [name, any])),
  limits: (value, path) => {
    const twice = isObject(value) ? Object.keys(BUDGETED).find((name) => value[name] !== undefined) : undefined;
    if (twice) throw new TypeError(`${path}.${twice}: expected as options.budget.${BUDGETED[twice]}`);
    return value;
  },
};
const OPTIONS = shape(CHECKS);
const ofAgent = (name: string) => (Object.hasOwn(CHECKS, name) ? '; it is an option of new Agent()' : undefined);
const RUN = shape({ messages: any, signal: isSignal, approve }, undefined, ofAgent);
const EDIT = shape({ callId: text, result: text, reply: any, system: text, model: any, say: text });
const BRANCH = shape({ turn: any, edit: any, signal: any, approve: any }, undefined, (name) => (/^(callId|result|reply|system|model|say)$/.test(name) ? `; did you mean edit: { ${name} }?` : ofAgent(name)));

/** What the options are called in the low-level API, and here. */
const NAMES: Record<string, string> = { provider: 'model', system: 'instructions', agents: 'subagents', tools: 'builtInTools', report: 'output' };
/** Does something with the low-level API, whose errors then name the options of this one. */
function named<V>(act: () => V): V {
  try {
    return act();
  } catch (error) {
    throw renamed(error);
  }
}
function renamed(error: unknown): unknown {
  if (!(error instanceof TypeError)) return error;
  const message = error.message.replace(/^task:/, 'prompt:').replace(/\boptions\.(\w+)/g, (all, name: string) => (Object.hasOwn(NAMES, name) ? `options.${NAMES[name]}` : all));
  return message === error.message ? error : new TypeError(message);
}

const NO_MODEL = 'options.model: missing; expected a model, such as openai(\'gpt-5.4-mini\', { apiKey }), or demo() to try without one';
const FORMATS = ['text', 'markdown', 'slack'];
const REPORT = 'End the run by calling final_report: text alone does not end it, and in the last turn it is the only tool.';

/**
 * An agent: a model, instructions and tools. Each of its runs is separate, and any number of them can be in progress.
 *
 * @example
 * const agent = new Agent({
 *   model: openai('gpt-5.4-mini', { apiKey }),
 *   tools: { weather: tool({ inputSchema: z.object({ city: z.string() }), execute: ({ city }) => fetch(`/weather/${city}`) }) },
 * });
 * const { text } = await agent.generate('What is the weather in Oslo?');
 */
export class Agent<T extends Tools = Tools, const S extends Schema | undefined = undefined> {
  readonly #options: AgentOptions<T, S>;
  readonly #tools = new Map<string, ReadTool>();
  readonly #removed = new Set<string>();
  #skills: Promise<ReadSkills> | undefined;
  readonly #output: ReadSchema | undefined;
  /** What each chat's agent awaits before a call with an effect. */
  readonly #before = new WeakMap<LowLevelAgent, () => Promise<void>>();

  /** Throws a `TypeError` that names what is wrong with the options. */
  constructor(options: AgentOptions<T, S>) {
    const given = options === undefined ? {} : OPTIONS(options, 'options') as Partial<AgentOptions<T, S>>;
    if (given.model === undefined) throw new TypeError(NO_MODEL);
    this.#options = { ...given } as AgentOptions<T, S>;
    this.#output = given.output === undefined ? undefined : readSchema(given.output, 'options.output');
    if (given.report !== undefined && (given.output !== undefined || given.preset !== 'strict' || !FORMATS.includes(given.report))) {
      throw new TypeError(`options.report: got ${describe(given.report)}; expected ${FORMATS.map((one) => `'${one}'`).join(', ')} with preset: 'strict' and without output; for JSON, give output a schema`);
    }
    if (this.#output && given.preset !== undefined && given.preset !== 'strict') throw wrong('options.preset', given.preset, '\'strict\', or none: a run with an output is strict', meant(given.preset, ['strict'], '\''));
    for (const [name, one] of Object.entries(given.tools ?? {})) this.#tools.set(name, this.#read(name, one));
    this.#open().free(); // wrong options throw here, not in the first run
  }

  /** Adds a tool from the next run on, replacing any with the same name. */
  addTool(name: string, tool: Tool) {
    if (typeof name !== 'string') throw wrong('addTool(): name', name, 'a string: addTool(\'name\', tool)');
    this.#tools.set(name, this.#read(name, tool));
    this.#removed.delete(name);
  }

  #read(name: string, tool: unknown): ReadTool {
    return readTool(name, tool, (inner) => this.#options.permissions?.tools?.[inner] === 'deny');
  }

  /** Removes a tool, from the next run on. Returns whether it existed. */
  removeTool(name: string): boolean {
    this.#removed.add(name);
    return this.#tools.delete(name);
  }

  /**
   * Reads the skills of the options. A run does the same before it starts.
   *
   * Rejects if a source is none or cannot be fetched; the next call tries again.
   *
   * @example
   * const { skills, faults } = await agent.skills();
   * for (const { skill, message } of faults) console.warn(`${skill}: ${message}`);
   */
  skills(): Promise<ReadSkills> {
    const given = this.#options.skills;
    this.#skills ??= given === undefined ? Promise.resolve({ skills: [], faults: [] }) : import('./skills.js').then(async ({ readSkills }) => {
      const read = await readSkills(given);
      const skipped = read.faults.filter((fault) => fault.skipped);
      if (skipped.length) console.warn(`turnwise: skills were left out:\n${skipped.map(({ skill, path, message }) => `${skill || path}: ${message}`).join('\n')}`);
      return read;
    });
    this.#skills.catch(() => { this.#skills = undefined; });
    return this.#skills;
  }

  /** Starts a run. Await it for the result, iterate it for its parts. */
  stream(prompt: Prompt, options?: RunOptions): Run<OutputOf<S>> {
    return this.#begin(prompt, options);
  }

  /** Runs to the end; the same as awaiting `stream`. */
  async generate(prompt: Prompt, options?: RunOptions): Promise<RunResult<OutputOf<S>>> {
    return this.stream(prompt, options);
  }

  /** Creates a conversation: each message is a run that has the earlier ones as context. */
  chat(options?: ChatOptions): Chat<OutputOf<S>> {
    return new Chat<OutputOf<S>>(options, {
      open: (before) => this.#open(before),
      run: (prompt, given, low, { from, ...hooks }) => this.#begin(prompt, given, { low, ...hooks }, from),
      resume: (given, low, { from, ...hooks }) => this.#drive(given, { low, ...hooks }, async (agent, options) => agent.resume(await until(options.signal, from())!, options)),
      again: (given, low, { from, ...hooks }) => this.#drive(given, { low, ...hooks }, async (agent, options) => agent.branch(await until(options.signal, from())!, { turn: 1, ...options })),
      approves: this.#options.approve !== undefined,
    });
  }

  /**
   * Continues an unfinished run from its record, taken from `run.checkpoint()` or a chat. The run keeps its limits
   * and its number of requests. The record must be of this agent's models; for another model, branch from it.
   */
  resume(trajectory: Trajectory, options?: Omit<RunOptions, 'messages'>): Run<OutputOf<S>> {
    return this.#drive(options, undefined, (agent, given) => agent.resume(trajectory, given));
  }

  /** Starts a new run from a turn of another one, with one thing changed. `turn` counts from 1. */
  branch(trajectory: Trajectory, options: { turn?: number; edit?: BranchEdit } & Omit<RunOptions, 'messages'> = {}): Run<OutputOf<S>> {
    const { turn, edit, ...given } = BRANCH(options, 'options') as typeof options;
    const read = edit === undefined ? {} : EDIT(edit, 'options.edit');
    const edits = Object.keys(read).filter((name) => name !== 'callId');
    if (edit !== undefined && (edits.length !== 1 || ('callId' in read) !== ('result' in read))) {
      throw new TypeError(`options.edit: got ${Object.keys(read).join(' and ') || 'no change'}; expected one change: { callId, result }, { reply }, { system }, { model } or { say }. Branch again from the branch for another`);
    }
    const { model, ...rest } = read as { model?: Model | readonly Model[] };
    const low = model && named(() => new Implementation({ ...this.#lowLevel(), provider: model })) as unknown as LowLevelAgent;
    if (low) for (const tool of this.#tools.values()) low.registerTool(tool.low);
    return this.#drive(given, undefined, (agent, options) => agent.branch(trajectory, { ...(turn !== undefined && { turn }), ...rest, ...options }), low);
  }

  /**
   * Runs a plan: each step is a run of its own, with this agent's models, tools and limits unless the plan says otherwise. Resolves with
   * the record of the plan however it ends; rejects with a `TypeError` that lists every fault of the plan.
   * @example
   * const { ending } = await agent.runPlan({
   *   agents: { Reader: { kind: 'gather' }, Writer: { kind: 'synthesis' } },
   *   steps: [{ order: 1, agent: 'Reader', action: 'List the risks' }, { order: 2, agent: 'Writer', action: 'Write the summary' }],
   * });
   */
  runPlan(plan: Plan, options: Omit<PlanRunOptions, 'approve'> & { approve?: Approve } = {}): PlanRun {
    const low = this.#open();
    // What was asked before the engine had the plan counts from its beginning.
    let stopped = false;
    const own = new AbortController();
    const running = (async () => {
      try {
        const { approve = this.#options.approve, ...rest } = options;
        if (this.#options.skills !== undefined) {
          const skills = await this.#skillsOrFailure(either(own.signal, rest.signal)).catch((error: unknown) => {
            // A plan that is cancelled has a record all the same.
            if (!own.signal.aborted) throw error;
          });
          if (skills) low.setSkills(skills);
        }
        const plans = low.runPlan(plan, { ...rest, ...permits(approver(approve, this.#tools, this.#options.permissions)) } as PlanRunOptions);
        if (own.signal.aborted) low.cancel();
        else if (stopped) low.stop();
        return await plans;
      } finally {
        low.free();
      }
    })();
    const stop = () => {
      stopped = true;
      low.stop();
    };
    const cancel = () => {
      own.abort();
      low.cancel();
    };
    return Object.assign(running, { stop, cancel });
  }

  #begin(prompt: Prompt, options: RunOptions = {}, chat?: OfChat, after?: () => Promise<Trajectory | TrajectoryMessage[] | undefined>): Run<OutputOf<S>> {
    if (chat && options.messages !== undefined) throw new TypeError('options.messages: unknown option; the chat has its own messages');
    return this.#drive(options, chat, async (agent, given) => {
      const { text, images } = typeof prompt === 'string' ? { text: prompt, images: [] } : await (await import('./prompt-parts.js')).readPrompt(prompt);
      await this.#guard('input', this.#options.guardrails?.input, text, given.signal);
      const last = await until(given.signal, after?.());
      const history = Array.isArray(last) ? last : options.messages && await (await import('./history.js')).readMessages(options.messages);
      // Nothing was asked of the model yet, so there is nothing to record.
      if (given.signal.aborted) throw cancelled();
      return agent.run(text, { ...given, images, ...(last && !Array.isArray(last) && { after: last }), ...(history && { history }) });
    });
  }

  #drive(
    options: RunOptions | undefined, chat: OfChat | undefined,
    start: (agent: LowLevelAgent, given: { onEvent: (event: AgentEvent) => void; signal: AbortSignal; approve?: any }) => Promise<Trajectory>, other?: LowLevelAgent,
  ): Run<OutputOf<S>> {
    const given = options === undefined ? {} : RUN(options, 'options') as RunOptions;
    const { signal } = given;
    const approve = given.approve ?? this.#options.approve;
    this.#checkNames();
    const low = chat?.low ?? other ?? this.#open();
    if (chat) this.#sync(low);
    const tools = new Map(this.#tools);
    const own = new AbortController();
    const cancel = () => own.abort();
    signal?.addEventListener('abort', cancel);
    if (signal?.aborted) cancel();
    let stopped = false;
    const run = new Run<OutputOf<S>>({
      start: async (onEvent) => {
        try {
          // Waits until the caller has the run.
          await undefined;
          if (this.#options.skills !== undefined) low.setSkills(await this.#skillsOrFailure(own.signal));
          // A stop that came before the engine had the run counts from its beginning.
          const hear = (event: AgentEvent) => {
            if (stopped && event.type === 'run_started') low.stop();
            onEvent(event);
          };
          const trajectory = await start(low, { onEvent: hear, signal: own.signal, ...permits(approver(approve, tools, this.#options.permissions, chat?.asking)) });
          const answered = trajectory.outcome === 'success' || trajectory.outcome === 'partial';
          let result: RunResult<OutputOf<S>> | undefined;
          let refused: unknown;
          try {
            if (answered) result = await this.#result(trajectory, low.files, own.signal);
          } catch (error) {
            refused = error;
          }
          await chat?.ended(trajectory, refused instanceof TurnwiseError ? refused : undefined);
          if (result) return result;
          throw refused ?? errorOf(trajectory);
        } catch (error) {
          throw error instanceof TypeError || error instanceof TurnwiseError ? renamed(error) : lost(error as Error);
        } finally {
          signal?.removeEventListener('abort', cancel);
          if (!chat) low.free();
        }
      },
      stop: () => {
        stopped = true;
        low.stop();
      },
      cancel,
      checkpoint: () => low.checkpoint(),
    });
    this.#options.telemetry?.(run);
    return run;
  }

  async #skillsOrFailure(signal: AbortSignal) {
    try {
      return (await until(signal, this.skills()))!.skills;
    } catch (error) {
      if (error instanceof TurnwiseError || error instanceof TypeError) throw error;
      throw new TurnwiseError('skills', `The skills could not be read: ${errorText(error)}`, { cause: error });
    }
  }

  async #result(trajectory: Trajectory, files: Files, signal: AbortSignal): Promise<RunResult<OutputOf<S>>> {
    let output: unknown = trajectory.output ?? '';
    if (this.#output) {
      try {
        output = await this.#output.parse(trajectory.segments.at(-1)?.report_data);
      } catch (error) {
        if (!(error instanceof Invalid)) throw error;
        throw new TurnwiseError('output_invalid', `The output does not match its schema: ${error.message}`, { slugs: ['output_invalid'], trajectory, cause: error });
      }
    }
    const result = resultOf(trajectory, files, output as OutputOf<S>);
    await this.#guard('output', this.#options.guardrails?.output, { output: result.output, text: result.text }, signal, trajectory);
    return result;
  }

  async #guard<V>(which: 'input' | 'output', guardrails: readonly Guardrail<V>[] | undefined, value: V, signal: AbortSignal, trajectory?: Trajectory) {
    for (const [at, guardrail] of (guardrails ?? []).entries()) {
      const path = `guardrails.${which}[${at}]`;
      let verdict: unknown;
      try {
        // A guardrail that does not listen to the signal does not hold up a cancel.
        verdict = await until(signal, (async () => guardrail(value, { signal }))());
      } catch (error) {
        if (signal.aborted) throw cancelled(trajectory);
        throw new TurnwiseError('guardrail', `${path} threw an error: ${errorText(error)}`, { slugs: ['guardrail_error'], trajectory, cause: error });
      }
      if (signal.aborted) throw cancelled(trajectory);
      if (verdict === undefined || verdict === true) continue;
      const { slug, message } = (typeof verdict === 'object' && verdict !== null ? verdict : {}) as { slug?: unknown; message?: string };
      if (typeof slug !== 'string') throw new TurnwiseError('guardrail', `${path} returned ${describe(verdict)}; expected nothing or true to pass, or { slug, message } to end the run`, { slugs: ['guardrail_error'], trajectory });
      throw new TurnwiseError('guardrail', message ?? `A guardrail ended the run: ${slug}.`, { slugs: [slug], trajectory });
    }
  }

  /** Options that name tools: those are only known when a run starts. */
  #checkNames() {
    const { toolChoice, subagents, permissions, skills } = this.#options;
    const names = [...this.#builtIn(), ...this.#tools.keys()];
    const check = (path: string, name: string, strict = true) => {
      const hint = names.includes(name) ? '' : meant(name, names, '\'');
      if (hint || (strict && !names.includes(name))) throw wrong(`options.${path}`, name, names.length ? `one of the tools: ${names.join(', ')}` : 'nothing: the agent has no tools', hint);
    };
    // Skills have tools too, which are known once they are read: then the engine says which name is of none.
    if (skills === undefined) {
      if (typeof toolChoice === 'object') check('toolChoice.tool', toolChoice.tool);
      for (const [kind, { tools = [] }] of Object.entries(subagents ?? {})) for (const name of tools) check(`subagents.${kind}.tools`, name);
    }
    // Rules can be of tools that come later, or of other agents. But one that is misspelled would not hold.
    for (const name of Object.keys(permissions?.tools ?? {})) check('permissions.tools', name, false);
  }

  /** Updates the tools of an agent that was opened earlier. */
  #sync(low: LowLevelAgent) {
    const before = this.#before.get(low);
    for (const tool of this.#tools.values()) low.registerTool(before ? noted(tool, before) : tool.low);
    for (const name of this.#removed) low.removeTool(name);
  }

  /** `before` is awaited before each call that changes more than the run's files. */
  #open(before?: () => Promise<void>): LowLevelAgent {
    const low = named(() => new Implementation(this.#lowLevel())) as unknown as LowLevelAgent;
    if (before) this.#before.set(low, before);
    try {
      this.#sync(low);
      for (const [path, one] of Object.entries(this.#options.files ?? {})) put(low.files, path, one);
    } catch (error) {
      low.free();
      throw error;
    }
    return low;
  }

  /** A rule that asks about a tool behind another one has the engine ask about that one; `approver` decides by the rules of both. */
  #rules(rules: PermissionOptions['tools']): PermissionOptions['tools'] {
    const own = { ...rules };
    if (!Object.entries(own).some(([name, rule]) => rule === 'ask' && !this.#tools.has(name))) return rules;
    for (const [name, { delegate }] of this.#tools) if (delegate && own[name] !== 'deny') own[name] = 'ask';
    return own;
  }

  #builtIn(): BuiltInTool[] {
    const { builtInTools, files, subagents } = this.#options;
    const given = builtInTools ?? (files ? 'safe' : []);
    if (typeof given === 'string' && given !== 'safe') throw wrong('options.builtInTools', given, '\'safe\' or an array of names');
    const tools: BuiltInTool[] = [...(given === 'safe' ? SAFE_TOOLS : given)];
    if (subagents && !tools.includes('spawn_subagents')) tools.push('spawn_subagents');
    return tools;
  }

  #lowLevel(): LowLevelOptions {
    const { model, instructions, report, budget = {}, subagents, permissions, preset, limits } = this.#options;
    const strict = this.#output !== undefined;
    const tools = this.#builtIn();
    const limited = { ...limits, cost: budget.usd, tokens: budget.tokens, wallMs: budget.ms };
    return given({
      provider: model as LowLevelOptions['provider'], preset: preset ?? (strict ? 'strict' : undefined),
      system: strict && instructions !== undefined ? `${instructions}\n\n${REPORT}` : instructions,
      report: this.#output ? { format: 'json', schema: this.#output.json } : report && { format: report },
      tools, agents: subagents, permissions: { workspace: 'allow', ...permissions, tools: this.#rules(permissions?.tools) }, limits: limited,
      ...Object.fromEntries(SAME.map((name) => [name, this.#options[name]])),
    });
  }
}

function put(files: Files, path: string, content: string | Blob) {
  try {
    files.put(path, content);
  } catch (error) {
    throw new TypeError(`options.files.${path}: ${(error as Error).message}`);
  }
}

const permits = (approve: ReturnType<typeof approver>) => (approve === undefined ? {} : { approve });

/** Returns the options without undefined properties. */
const given = (options: object) => Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as LowLevelOptions;

/** A signal that is aborted with the first of these. */
function either(first: AbortSignal, second?: AbortSignal): AbortSignal {
  if (!second) return first;
  const both = new AbortController();
  for (const one of [first, second]) {
    if (one.aborted) both.abort();
    one.addEventListener('abort', () => both.abort(), { signal: both.signal });
  }
  return both.signal;
}

/** A value, or a rejection as soon as the signal is aborted. */
function until<V>(signal: AbortSignal, value: Promise<V> | undefined): Promise<V> | undefined {
  if (!value) return undefined;
  return new Promise((resolve, reject) => {
    const abort = () => reject(cancelled());
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort);
    value.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

const cancelled = (trajectory?: Trajectory) => new TurnwiseError('cancelled', 'The run was cancelled.', { trajectory });

/** The tool with a step before each call that has an effect: a chat stores that the call is under way. */
function noted({ low, touches }: ReadTool, before: () => Promise<void>): LowLevelTool {
  if (!touches.some((one) => one !== 'workspace')) return low;
  return { ...low, execute: async (input, options) => { await before(); return low.execute(input, options); } };
}

function lost(error: Error): TurnwiseError {
  return new TurnwiseError('worker_lost', error.message, { slugs: ['worker_lost'], cause: error });
}
