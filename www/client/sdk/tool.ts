// Tools: a description, a schema of the arguments, and a function of the page's.
import { describe } from '../check.js';
import type { SideEffect, Tool as LowLevelTool } from '../types/turnwise.js';
import { readSchema } from './schema.js';
import type { Infer, Schema } from './schema.js';

/** What a tool reaches besides its answer: the run's files, a folder of the person's, the network, the page. */
export type Touches = 'workspace' | 'folder' | 'network' | 'page';
const TOUCHES: readonly Touches[] = ['workspace', 'folder', 'network', 'page'];

export interface ToolOptions<S extends Schema, Output> {
  /** When to use it and what it gives, as the model reads it. */
  description?: string;
  /** Of the arguments, which are an object. Arguments that fail it never reach `execute`. Default: no arguments. */
  inputSchema?: S;
  /**
   * What a call changes. Calls that touch nothing or only the workspace run at once; all others ask `approve` first and are
   * refused where there is none. Default: nothing.
   */
  touches?: readonly Touches[];
  /** Whether a call asks `approve` first, whatever it touches. A function decides by the arguments. */
  needsApproval?: boolean | ((input: Infer<S>) => boolean | Promise<boolean>);
  /** As in the low-level API: the same as `touches` with one entry. */
  sideEffect?: SideEffect;
  /** Whether its result may end the run (see "Final result" in "How a run works"). Default: false. */
  mayFinish?: boolean;
  /** A result that is not a string is sent as JSON. What it throws goes to the model as an error. */
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
  readonly needsApproval?: boolean | ((input: Input) => boolean | Promise<boolean>);
  readonly sideEffect?: SideEffect;
  readonly mayFinish?: boolean;
  execute(input: Input, options: ToolCallOptions): Output | Promise<Output>;
}

/** Gives a tool its types: `execute` knows the arguments by `inputSchema`. */
export function tool<S extends Schema, Output>(options: ToolOptions<S, Output>): Tool<Infer<S>, Output> {
  return options as unknown as Tool<Infer<S>, Output>;
}

/** The tools of an agent, by name. */
export type Tools = Record<string, Tool>;

/** A tool as the agent uses it. */
export interface ReadTool {
  low: LowLevelTool;
  touches: readonly Touches[];
  /** Whether a call with these arguments asks for approval. */
  asks(input: unknown): boolean | Promise<boolean>;
}

const KNOWN = ['description', 'inputSchema', 'touches', 'needsApproval', 'sideEffect', 'mayFinish', 'execute'];

/** Reads one tool; a complaint names it by its place in the options. */
export function readTool(name: string, given: unknown): ReadTool {
  const path = `tools.${name}`;
  if (typeof given !== 'object' || given === null) throw new TypeError(`${path}: got ${describe(given)}; it takes a tool, as tool() gives it`);
  const stray = Object.keys(given).find((key) => !KNOWN.includes(key));
  if (stray) throw new TypeError(`${path}.${stray}: unknown option; a tool takes ${KNOWN.join(', ')}`);
  const { description, inputSchema, touches, needsApproval, sideEffect, mayFinish, execute } = given as Tool;
  if (!/^[\w-]{1,64}$/.test(name)) throw new TypeError(`${path}: a tool's name is 1 to 64 of A-Z, a-z, 0-9, _ and -`);
  if (typeof execute !== 'function') throw new TypeError(`${path}.execute: got ${describe(execute)}; it takes a function`);
  const reaches = touches ?? (sideEffect && sideEffect !== 'none' ? [sideEffect] : []);
  const wrong = Array.isArray(reaches) ? reaches.find((one) => !TOUCHES.includes(one)) : reaches;
  if (wrong !== undefined) throw new TypeError(`${path}.touches: got ${describe(wrong)}; it takes an array of ${TOUCHES.map((one) => `'${one}'`).join(', ')}`);
  const schema = inputSchema === undefined ? undefined : readSchema(inputSchema, `${path}.inputSchema`);
  const effects = reaches.some((one) => one !== 'workspace');
  return {
    touches: reaches,
    asks: typeof needsApproval === 'function' ? needsApproval as (input: unknown) => boolean | Promise<boolean> : () => needsApproval ?? effects,
    low: {
      name, description: description ?? '', parameters: schema?.json, mayFinish: mayFinish ?? false,
      sideEffect: effectOf(reaches, needsApproval !== undefined && needsApproval !== false),
      // The call's own object: a tool that is an instance of a class keeps its `this`.
      execute: async (input, options) => (given as Tool).execute(schema ? await schema.parse(input) : input, options),
    },
  };
}

/** The engine knows one effect per tool: the one that reaches farthest. */
function effectOf(touches: readonly Touches[], asks: boolean): SideEffect {
  if (touches.includes('page') || touches.includes('folder')) return 'page';
  if (touches.includes('network')) return 'network';
  return asks ? 'page' : touches.includes('workspace') ? 'workspace' : 'none';
}
