// Tools: a description, a schema of the arguments, and a function.
import { describe } from '../check.js';
import type { SideEffect, Tool as LowLevelTool } from '../types/turnwise.js';
import { TOOL_CONTENT } from '../host.js';
import { MAX_STRUCTURED_CONTENT } from '../protocol.js';
import { readPrompt } from './prompt.js';
import type { Prompt } from './prompt.js';
import { readSchema } from './schema.js';
import type { Infer, Schema } from './schema.js';

/** The things that a tool can touch: the run's files, a folder of the user, the network, the page. */
export type Touches = 'workspace' | 'folder' | 'network' | 'page';
const TOUCHES: readonly Touches[] = ['workspace', 'folder', 'network', 'page'];

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
  /** Whether a call asks `approve` first, whatever it touches. A function can decide by the arguments. */
  needsApproval?: boolean | ((input: Infer<S>) => boolean | Promise<boolean>);
  /** The form of the low-level API: the same as `touches` with one entry. */
  sideEffect?: SideEffect;
  /** Whether its result may end the run (see "Final result" in "How a run works"). Default: false. */
  mayFinish?: boolean;
  /** A result that is not a string is sent as JSON; `toolContent` creates one with images or structured content. Errors that it throws are sent to the model. */
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

/** Defines a typed tool: the arguments of `execute` get their type from `inputSchema`. */
export function tool<S extends Schema, Output>(options: ToolOptions<S, Output>): Tool<Infer<S>, Output> {
  return options as unknown as Tool<Infer<S>, Output>;
}

/** A tool result with images, PDFs or structured content. */
export class ToolContent {
  constructor(readonly parts: Prompt, readonly structuredContent?: unknown) {}
}

/**
 * Creates a tool result from texts, images and PDFs. Anthropic, Gemini and OpenAI's Responses API accept them in tool results;
 * with other APIs, the model receives a note instead. At most 20 MiB per call.
 *
 * `structuredContent` is the result as data, for your program: the model does not see it. It is in the part `tool-result`, in the
 * trajectory, and in its replay. Any value that JSON can hold except `null`, at most 256 KiB of JSON and 64 levels; larger
 * ones throw a `TypeError` here.
 *
 * @example
 * const hits = await search(query);
 * return toolContent(hits.map(({ title }) => title).join('\n'), { structuredContent: { hits } });
 */
export function toolContent(content: Prompt, { structuredContent }: { structuredContent?: unknown } = {}): ToolContent {
  if (structuredContent !== undefined) {
    const json = JSON.stringify(structuredContent) as string | undefined;
    const size = json === undefined ? 0 : new TextEncoder().encode(json).length;
    if (!size || size > MAX_STRUCTURED_CONTENT) {
      throw new TypeError(`structuredContent: got ${size ? `${size} bytes of JSON` : describe(structuredContent)}; expected a JSON value of at most ${MAX_STRUCTURED_CONTENT} bytes`);
    }
  }
  return new ToolContent(content, structuredContent);
}

/** The tools of an agent, by name. */
export type Tools = Record<string, Tool>;

/** A tool as the agent uses it. */
export interface ReadTool {
  low: LowLevelTool;
  touches: readonly Touches[];
  /** Whether a call with these arguments needs approval. */
  asks(input: unknown): boolean | Promise<boolean>;
}

const KNOWN = ['description', 'inputSchema', 'touches', 'needsApproval', 'sideEffect', 'mayFinish', 'execute'];

/** Reads one tool; errors refer to it by its path in the options. */
export function readTool(name: string, given: unknown): ReadTool {
  const path = `tools.${name}`;
  if (typeof given !== 'object' || given === null) throw new TypeError(`${path}: got ${describe(given)}; expected a tool made by tool()`);
  const stray = Object.keys(given).find((key) => !KNOWN.includes(key));
  if (stray) throw new TypeError(`${path}.${stray}: unknown option; a tool takes ${KNOWN.join(', ')}`);
  const { description, inputSchema, touches, needsApproval, sideEffect, mayFinish, execute } = given as Tool;
  if (!/^[\w-]{1,64}$/.test(name)) throw new TypeError(`${path}: a tool's name is 1 to 64 of A-Z, a-z, 0-9, _ and -`);
  if (typeof execute !== 'function') throw new TypeError(`${path}.execute: got ${describe(execute)}; expected a function`);
  const reaches = touches ?? (sideEffect && sideEffect !== 'none' ? [sideEffect] : []);
  const wrong = Array.isArray(reaches) ? reaches.find((one) => !TOUCHES.includes(one)) : reaches;
  if (wrong !== undefined) throw new TypeError(`${path}.touches: got ${describe(wrong)}; expected an array of ${TOUCHES.map((one) => `'${one}'`).join(', ')}`);
  const schema = inputSchema === undefined ? undefined : readSchema(inputSchema, `${path}.inputSchema`);
  const effects = reaches.some((one) => one !== 'workspace');
  return {
    touches: reaches,
    asks: typeof needsApproval === 'function' ? needsApproval as (input: unknown) => boolean | Promise<boolean> : () => needsApproval ?? effects,
    low: {
      name, description: description ?? '', parameters: schema?.json, mayFinish: mayFinish ?? false,
      sideEffect: effectOf(reaches, needsApproval !== undefined && needsApproval !== false),
      // Called on the original object, so that a tool that is an instance of a class keeps its `this`.
      execute: async (input, options) => {
        const result = await (given as Tool).execute(schema ? await schema.parse(input) : input, options);
        if (!(result instanceof ToolContent)) return result;
        const { text, images } = await readPrompt(result.parts, `the result of ${name}`);
        return { text, [TOOL_CONTENT]: { images, structuredContent: result.structuredContent } };
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
