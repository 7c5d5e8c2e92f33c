// `Agent`: an agent's options and its runs. Each run has its own agent of the low-level API, so runs execute
// in parallel.
import { describe, isSignal, number, shape, whole } from '../check.js';
import { Agent as Implementation } from '../index.js';
import type {
  AgentEvent, AgentOptions as LowLevelOptions, BuiltInTool, CounterOptions, Files, LimitOptions, PermissionOptions, Preset, RetryOptions, SubagentKind, SynthesisOptions, Trajectory, WebOptions,
} from '../types/turnwise.js';
import type { Agent as LowLevelAgent, Tool as LowLevelTool } from '../types/turnwise.js';
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
import { readPrompt } from './prompt.js';
import type { Prompt } from './prompt.js';
import { resultOf } from './result.js';
import type { RunResult } from './result.js';
import { Run } from './run.js';
import { Invalid, readSchema } from './schema.js';
import type { Infer, ReadSchema, Schema } from './schema.js';
import { readTool } from './tool.js';
import type { ReadTool, Tool, Tools } from './tool.js';

/** Return nothing or true to pass, or your own slug, with a message for users, to end the run. */
export type Guardrail<T> = (value: T, options: { signal: AbortSignal }) => Verdict | Promise<Verdict>;
type Verdict = void | undefined | true | { slug: string; message?: string };

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
  ended: (trajectory: Trajectory) => Promise<void>;
}

/** The type of a result's `output`. */
export type OutputOf<S extends Schema | undefined> = S extends Schema ? Infer<S> : string;

export interface RunOptions {
  /** The conversation so far, oldest first. */
  messages?: readonly Message[];
  /** Aborting it cancels the run: its result throws a `TurnwiseError` with the reason `cancelled`. */
  signal?: AbortSignal;
  /** Approves tool calls in this run. Default: the agent's. */
  approve?: Approve;
}

/** The change that a branch makes: exactly one of these. */
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
const OPTIONS = shape(Object.fromEntries([
  'model', 'instructions', 'tools', 'builtInTools', 'files', 'output', 'maxTurns', 'maxAttempts', 'budget', 'reasoning', 'toolChoice', 'temperature', 'topP',
  'subagents', 'approve', 'permissions', 'guardrails', 'telemetry', 'preset', 'counter', 'synthesis', 'limits', 'retry', 'seed', 'web',
].map((name) => [name, any])));
const BUDGET = shape({ usd: number, tokens: whole(1), ms: whole(1) });
const RUN = shape({ messages: any, signal: any, approve: any });

const NO_MODEL = 'options.model: missing; expected a model, for example openai(\'gpt-5.4-mini\', { apiKey }), ollama(\'qwen3\'), or demo() to try without one';
const REPORT = 'End the run by calling final_report: text alone does not end it, and in the last turn it is the only tool.';

export class Agent<T extends Tools = Tools, S extends Schema | undefined = undefined> {
  readonly #options: AgentOptions<T, S>;
  readonly #tools = new Map<string, ReadTool>();
  readonly #removed = new Set<string>();
  readonly #output: ReadSchema | undefined;
  /** What each chat's agent awaits before a call with an effect. */
  readonly #before = new WeakMap<LowLevelAgent, () => Promise<void>>();

  /** Throws a `TypeError` that names what is wrong with the options. */
  constructor(options: AgentOptions<T, S>) {
    const given = options === undefined ? {} : OPTIONS(options, 'options') as Partial<AgentOptions<T, S>>;
    if (given.model === undefined) throw new TypeError(NO_MODEL);
    this.#options = { ...given } as AgentOptions<T, S>;
    if (given.budget !== undefined) BUDGET(given.budget, 'options.budget');
    this.#output = given.output === undefined ? undefined : readSchema(given.output, 'options.output');
    if (given.tools !== undefined && (typeof given.tools !== 'object' || given.tools === null || Array.isArray(given.tools))) {
      throw new TypeError(`options.tools: got ${describe(given.tools)}; expected an object of tools by name`);
    }
    for (const [name, one] of Object.entries(given.tools ?? {})) this.#tools.set(name, readTool(name, one));
    this.#open().free(); // wrong options throw here, not in the first run
  }

  /** Adds a tool from the next run on, replacing any with the same name. */
  addTool(name: string, tool: Tool) {
    this.#removed.delete(name);
    this.#tools.set(name, readTool(name, tool));
  }

  /** Removes a tool, from the next run on. Returns whether it existed. */
  removeTool(name: string): boolean {
    this.#removed.add(name);
    return this.#tools.delete(name);
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
      run: (prompt, given, low, { from, ended }) => this.#begin(prompt, given, { low, ended }, from),
      resume: (given, low, { from, ended }) => this.#drive(given, { low, ended }, async (agent, options) => agent.resume(await until(options.signal, from())!, options)),
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
  branch(trajectory: Trajectory, { turn, edit, ...options }: { turn?: number; edit?: BranchEdit } & Omit<RunOptions, 'messages'>): Run<OutputOf<S>> {
    const edits = Object.keys(edit ?? {}).filter((name) => name !== 'callId');
    if (edits.length > 1) throw new TypeError(`options.edit: got ${edits.join(' and ')}; expected one change. Branch again from the branch for the other`);
    const { model, ...rest } = (edit ?? {}) as { model?: Model | readonly Model[] };
    const low = model && new Implementation({ ...this.#lowLevel(), provider: model }) as unknown as LowLevelAgent;
    if (low) for (const tool of this.#tools.values()) low.registerTool(tool.low);
    return this.#drive(options, undefined, (agent, given) => agent.branch(trajectory, { ...(turn !== undefined && { turn }), ...rest, ...given }), low);
  }

  #begin(prompt: Prompt, options: RunOptions = {}, chat?: OfChat, after?: () => Promise<Trajectory | undefined>): Run<OutputOf<S>> {
    return this.#drive(options, chat, async (agent, given) => {
      const { text, images } = await readPrompt(prompt);
      await this.#guard('input', this.#options.guardrails?.input, text, given.signal);
      const last = await until(given.signal, after?.());
      const history = options.messages && await (await import('./history.js')).readMessages(options.messages);
      // Nothing was asked of the model yet, so there is nothing to record.
      if (given.signal.aborted) throw cancelled();
      return agent.run(text, { ...given, images, ...(last && { after: last }), ...(history && { history }) });
    });
  }

  #drive(
    options: RunOptions | undefined, chat: OfChat | undefined,
    start: (agent: LowLevelAgent, given: { onEvent: (event: AgentEvent) => void; signal: AbortSignal; approve?: any }) => Promise<Trajectory>, other?: LowLevelAgent,
  ): Run<OutputOf<S>> {
    const given = options === undefined ? {} : RUN(options, 'options') as RunOptions;
    const { signal } = given;
    if (signal !== undefined && !isSignal(signal)) throw new TypeError(`options.signal: got ${describe(signal)}; expected an AbortSignal`);
    const approve = given.approve ?? this.#options.approve;
    if (approve !== undefined && approve !== 'all' && typeof approve !== 'function') throw new TypeError(`options.approve: got ${describe(approve)}; expected a function or 'all'`);
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
          // A stop that came before the engine had the run counts from its beginning.
          const hear = (event: AgentEvent) => {
            if (stopped && event.type === 'run_started') low.stop();
            onEvent(event);
          };
          const trajectory = await start(low, { onEvent: hear, signal: own.signal, ...permits(approver(approve, tools, this.#options.permissions)) });
          await chat?.ended(trajectory);
          if (trajectory.outcome !== 'success' && trajectory.outcome !== 'partial') throw errorOf(trajectory);
          return await this.#result(trajectory, low.files, own.signal);
        } catch (error) {
          throw error instanceof TypeError || error instanceof TurnwiseError ? error : lost(error as Error);
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

  /** Updates the tools of an agent that was opened earlier. */
  #sync(low: LowLevelAgent) {
    const before = this.#before.get(low);
    for (const tool of this.#tools.values()) low.registerTool(before ? noted(tool, before) : tool.low);
    for (const name of this.#removed) low.removeTool(name);
  }

  /** `before` is awaited before each call that changes more than the run's files. */
  #open(before?: () => Promise<void>): LowLevelAgent {
    const low = new Implementation(this.#lowLevel()) as unknown as LowLevelAgent;
    if (before) this.#before.set(low, before);
    this.#sync(low);
    for (const [path, content] of Object.entries(this.#options.files ?? {})) low.files.put(path, content);
    return low;
  }

  #lowLevel(): LowLevelOptions {
    const {
      model, instructions, builtInTools, files, maxTurns, maxAttempts, budget = {}, reasoning, toolChoice, temperature, topP, subagents, permissions, preset, counter, synthesis,
      limits, retry, seed, web,
    } = this.#options;
    const strict = this.#output !== undefined;
    const builtIn = builtInTools ?? (files ? 'safe' : []);
    const tools = [...(builtIn === 'safe' ? SAFE_TOOLS : builtIn)];
    if (subagents && !tools.includes('spawn_subagents')) tools.push('spawn_subagents');
    const limited = { ...limits, cost: budget.usd, tokens: budget.tokens, wallMs: budget.ms };
    return given({
      provider: model as LowLevelOptions['provider'], preset: preset ?? (strict ? 'strict' : undefined),
      system: strict && instructions !== undefined ? `${instructions}\n\n${REPORT}` : instructions,
      report: this.#output && { format: 'json', schema: this.#output.json },
      tools, agents: subagents, permissions: { workspace: 'allow', ...permissions }, maxTurns, maxAttempts, limits: limited, reasoning, toolChoice, temperature, topP, counter, synthesis, retry, seed, web,
    });
  }
}

const permits = (approve: ReturnType<typeof approver>) => (approve === undefined ? {} : { approve });

/** Returns the options without undefined properties. */
const given = (options: object) => Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as LowLevelOptions;

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
