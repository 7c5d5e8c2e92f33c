// Tools: a description, a schema of the arguments, and a function.
import { describe } from '../check.js';
import type { SideEffect, Tool as LowLevelTool } from '../types/turnwise.js';
import { IMAGES } from '../host.js';
import { DELEGATE } from './delegate.js';
import type { Delegated } from './delegate.js';
import { readPrompt } from './prompt.js';
import type { PromptPart } from './prompt.js';
import { readSchema } from './schema.js';
import type { Infer, Schema } from './schema.js';

/** The things that a tool can touch: the run's files, a folder of the user, the network, the page. */
export type Touches = 'workspace' | 'folder' | 'network' | 'page';
const TOUCHES: readonly Touches[] = ['workspace', 'folder', 'network', 'page'];

/** Whether a call asks for approval: each time, never, or once for its destination. */
export type NeedsApproval = boolean | 'once';

export interface ToolOptions<S extends Schema, Output> {
  /** Tells the model when to use the tool and what it returns. */
  description?: string;
  /** Schema of the arguments object. Invalid arguments never reach `execute`. Default: no arguments. */
  inputSchema?: S;
  /**
   * The things that a call changes. Calls that touch nothing or only the workspace run immediately; all others ask `approve`
   * first and are refused if there is none. Default: nothing.
   */
  touches?: readonly Touches[];
  /**
   * Whether a call asks `approve` first, whatever it touches. A function can decide by the arguments. `'once'`: only the first call
   * to its `destination` in a run, or the first call of the tool if it has none.
   */
  needsApproval?: boolean | 'once' | ((input: Infer<S>) => NeedsApproval | Promise<NeedsApproval>);
  /** Where a call sends something, such as `api.example.com`. It is shown to `approve`. */
  destination?: string | ((input: Infer<S>) => string | undefined);
  /** The form of the low-level API: the same as `touches` with one entry. */
  sideEffect?: SideEffect;
  /** Whether its result may end the run (see "Final result" in "How a run works"). Default: false. */
  mayFinish?: boolean;
  /** A result that is not a string is sent as JSON; `toolContent` creates one with images. Errors that it throws are sent to the model. */
  execute: (input: Infer<S>, options: ToolCallOptions) => Output | Promise<Output>;
}

export interface ToolCallOptions {
  /** Aborted when the call times out or the run ends. */
  signal: AbortSignal;
}

/** A tool with the types of its arguments and of its result. */
export interface Tool<Input = any, Output = any> {
  readonly description?: string;
  readonly inputSchema?: Schema<Input>;
  readonly touches?: readonly Touches[];
  readonly needsApproval?: boolean | 'once' | ((input: Input) => NeedsApproval | Promise<NeedsApproval>);
  readonly destination?: string | ((input: Input) => string | undefined);
  readonly sideEffect?: SideEffect;
  readonly mayFinish?: boolean;
  execute(input: Input, options: ToolCallOptions): Output | Promise<Output>;
}

/** Defines a typed tool: the arguments of `execute` get their type from `inputSchema`. */
export function tool<S extends Schema, Output>(options: ToolOptions<S, Output>): Tool<Infer<S>, Output> {
  return options as unknown as Tool<Infer<S>, Output>;
}

/** A tool result with images or PDFs. */
export class ToolContent {
  constructor(readonly parts: readonly PromptPart[]) {}
}

/**
 * Creates a tool result from texts, images and PDFs. Anthropic, Gemini and OpenAI's Responses API accept them in tool results;
 * with other APIs, the model receives a note instead. At most 20 MiB per call.
 */
export function toolContent(parts: readonly PromptPart[]): ToolContent {
  return new ToolContent(parts);
}

/** The tools of an agent, by name. */
export type Tools = Record<string, Tool>;

/** A tool as the agent uses it. */
export interface ReadTool {
  low: LowLevelTool;
  touches: readonly Touches[];
  /** Whether a call with these arguments needs approval. */
  asks(input: unknown): NeedsApproval | Promise<NeedsApproval>;
  destination(input: unknown): string | undefined;
  /** The call that a call with these arguments leads to, if it is one of another tool. */
  delegate?(input: unknown): Promise<Delegated<ReadTool>>;
}

const KNOWN = ['description', 'inputSchema', 'touches', 'needsApproval', 'destination', 'sideEffect', 'mayFinish', 'execute'];

/** Reads one tool; errors refer to it by its path in the options. `denied`: whether the agent's rules deny a tool of this name. */
export function readTool(name: string, given: unknown, denied: (name: string) => boolean = () => false): ReadTool {
  const path = `tools.${name}`;
  if (typeof given !== 'object' || given === null) throw new TypeError(`${path}: got ${describe(given)}; expected a tool made by tool()`);
  const stray = Object.keys(given).find((key) => !KNOWN.includes(key));
  if (stray) throw new TypeError(`${path}.${stray}: unknown option; a tool takes ${KNOWN.join(', ')}`);
  const { description, inputSchema, touches, needsApproval, destination, sideEffect, mayFinish, execute } = given as Tool;
  if (!/^[\w-]{1,64}$/.test(name)) throw new TypeError(`${path}: a tool's name is 1 to 64 of A-Z, a-z, 0-9, _ and -`);
  if (typeof execute !== 'function') throw new TypeError(`${path}.execute: got ${describe(execute)}; expected a function`);
  const reaches = touches ?? (sideEffect && sideEffect !== 'none' ? [sideEffect] : []);
  const wrong = Array.isArray(reaches) ? reaches.find((one) => !TOUCHES.includes(one)) : reaches;
  if (wrong !== undefined) throw new TypeError(`${path}.touches: got ${describe(wrong)}; expected an array of ${TOUCHES.map((one) => `'${one}'`).join(', ')}`);
  const schema = inputSchema === undefined ? undefined : readSchema(inputSchema, `${path}.inputSchema`);
  const effects = reaches.some((one) => one !== 'workspace');
  const delegates = (given as { [DELEGATE]?: (input: unknown) => Promise<Delegated<Tool>> })[DELEGATE];
  const read = new Map<Tool, ReadTool>();
  const delegate = delegates && (async (input: unknown) => {
    const { tool: inner, ...call } = await delegates(input);
    if (!inner) return call;
    if (!read.has(inner)) read.set(inner, readTool(call.name, inner));
    return { ...call, tool: read.get(inner)! };
  });
  return {
    touches: reaches, ...(delegate && { delegate }),
    asks: typeof needsApproval === 'function' ? needsApproval as (input: unknown) => NeedsApproval | Promise<NeedsApproval> : () => needsApproval ?? effects,
    destination: typeof destination === 'function' ? destination as (input: unknown) => string | undefined : () => destination,
    low: {
      name, description: description ?? '', parameters: schema?.json, mayFinish: mayFinish ?? false,
      sideEffect: effectOf(reaches, needsApproval !== undefined && needsApproval !== false),
      // Called on the original object, so that a tool that is an instance of a class keeps its `this`.
      execute: async (input, options) => {
        const inner = (await delegate?.(input))?.name;
        // The engine knows the rules by the name of the tool that is called, so those of the tool behind it are kept here.
        if (inner !== undefined && denied(inner)) throw new Error(`refused: the permissions of this run deny ${inner}`);
        const result = await (given as Tool).execute(schema ? await schema.parse(input) : input, options);
        if (!(result instanceof ToolContent)) return result;
        const { text, images } = await readPrompt(result.parts, `the result of ${name}`);
        return { text, [IMAGES]: images };
      },
    },
  };
}

/** The engine has one effect per tool: the most far-reaching one. */
function effectOf(touches: readonly Touches[], asks: boolean): SideEffect {
  if (touches.includes('page')) return 'page';
  if (touches.includes('network')) return 'network';
  if (touches.includes('folder')) return 'folder';
  return asks ? 'page' : touches.includes('workspace') ? 'workspace' : 'none';
}
