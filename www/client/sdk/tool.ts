// Tools: a description, a schema of the arguments, and a function.
import { callable, describe, flag, isObject, meant, shape, takes, text, word, wrong } from '../index.js';
import type { Check } from '../check.js';
import type { SideEffect, Tool as LowLevelTool } from '../types/turnwise.js';
import { TOOL_CONTENT } from '../host.js';
import { DELEGATE } from './delegate.js';
import type { Delegated } from './delegate.js';
import { MAX_STRUCTURED_CONTENT } from '../protocol.js';
import type { Prompt } from './prompt-parts.js';
import { readSchema } from './schema.js';
import type { Infer, ReadSchema, Schema } from './schema.js';

/**
 * The things that a tool can touch: the run's files, a folder of the user, the network, the page.
 *
 * @example
 * tool({ touches: ['network'], execute: () => fetch('/order', { method: 'POST' }) })
 */
export type Touches = 'workspace' | 'folder' | 'network' | 'page';
const TOUCHES: readonly Touches[] = ['workspace', 'folder', 'network', 'page'];

/**
 * Whether a call asks for approval: each time, never, or once for its destination.
 *
 * @example
 * tool({ needsApproval: 'once', destination: 'api.example.com', execute: () => fetch('https://api.example.com/now') });
 */
export type NeedsApproval = boolean | 'once';

/**
 * What a tool is made of.
 *
 * @example
 * const options: ToolOptions<typeof schema, string> = { description: 'The weather in a city', inputSchema: schema, execute: ({ city }) => `${city}: sun` };
 */
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
  /** A result that is not a string is sent as JSON; `toolContent` creates one with images or structured content. Errors that it throws are sent to the model. */
  execute: (input: Infer<S>, options: ToolCallOptions) => Output | Promise<Output>;
}

/**
 * What a tool gets with its arguments.
 *
 * @example
 * tool({ execute: (_, { signal }) => fetch('/slow', { signal }) })
 */
export interface ToolCallOptions {
  /** Aborted when the call times out or the run ends. */
  signal: AbortSignal;
}

/**
 * A tool with the types of its arguments and of its result.
 *
 * @example
 * const tools: Record<string, Tool> = { weather: tool({ execute: () => 'sun' }) };
 */
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

/**
 * Defines a typed tool: the arguments of `execute` get their type from `inputSchema`.
 *
 * @example
 * tool({
 *   description: 'The weather in a city',
 *   inputSchema: z.object({ city: z.string() }),
 *   execute: async ({ city }) => (await fetch(`/weather/${city}`)).json(),
 * })
 */
export function tool<const S extends Schema, Output>(options: ToolOptions<S, Output>): Tool<Infer<S>, Output> {
  if (!isObject(options)) throw wrong('tool()', options, 'an object with description, inputSchema and execute', typeof options === 'string' ? `. Its name is the key: tools: { ${options as string}: tool({ … }) }` : '');
  return options as unknown as Tool<Infer<S>, Output>;
}

/**
 * A tool result with images, PDFs or structured content.
 *
 * @example
 * execute: () => toolContent([{ type: 'image', data: png, mediaType: 'image/png' }])
 */
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
  if (typeof content !== 'string' && !Array.isArray(content)) throw wrong('toolContent()', content, 'a text or an array of parts: [{ type: \'text\', text }, { type: \'image\', data, mediaType }]');
  if (structuredContent !== undefined) {
    const json = JSON.stringify(structuredContent) as string | undefined;
    const size = json === undefined ? 0 : new TextEncoder().encode(json).length;
    if (!size || size > MAX_STRUCTURED_CONTENT) {
      throw new TypeError(`structuredContent: got ${size ? `${size} bytes of JSON` : describe(structuredContent)}; expected a JSON value of at most ${MAX_STRUCTURED_CONTENT} bytes`);
    }
  }
  return new ToolContent(content, structuredContent);
}

/**
 * The tools of an agent, by name.
 *
 * @example
 * const tools: Tools = { weather: tool({ execute: () => 'sun' }) };
 */
export type Tools = Record<string, Tool>;

/** A tool as the agent uses it. @internal */
export interface ReadTool {
  low: LowLevelTool;
  touches: readonly Touches[];
  /** Whether a call with these arguments needs approval. */
  asks(input: unknown): NeedsApproval | Promise<NeedsApproval>;
  destination(input: unknown): string | undefined;
  /** The call that a call with these arguments leads to, if it is one of another tool. */
  delegate?(input: unknown): Promise<Delegated<ReadTool>>;
}

const touching: Check = (value, path) => {
  const stray = Array.isArray(value) ? value.find((one) => !TOUCHES.includes(one)) : value;
  if (stray !== undefined) {
    const names = TOUCHES.map((one) => `'${one}'`).join(', ');
    throw wrong(path, stray, `an array of ${names}`, TOUCHES.includes(stray) ? `; did you mean ['${stray}']?` : meant(stray, TOUCHES, '\''));
  }
  return value;
};
const CHECKS = {
  description: text, inputSchema: readSchema, touches: touching, sideEffect: word(['none', ...TOUCHES]), mayFinish: flag, execute: callable,
  needsApproval: takes('true, false, \'once\' or a function', (value) => typeof value === 'boolean' || value === 'once' || typeof value === 'function'),
  destination: takes('a string or a function', (value) => typeof value === 'string' || typeof value === 'function'),
};
const TOOL = shape(CHECKS);
const OPTIONS = Object.keys(CHECKS);

/** Whether a schema is of objects only: of one, or of each in a union or an intersection. */
const isObjects = (schema: unknown): boolean => isObject(schema) && (schema['type'] === 'object'
  || ['anyOf', 'oneOf', 'allOf'].some((key) => Array.isArray(schema[key]) && schema[key].length > 0 && schema[key].every(isObjects)));

/** Reads one tool; errors refer to it by its path in the options. `denied`: whether the agent's rules deny a tool of this name. @internal */
export function readTool(name: string, given: unknown, denied: (name: string) => boolean = () => false): ReadTool {
  const path = `tools.${name}`;
  if (!isObject(given)) throw wrong(path, given, 'a tool: tool({ description, inputSchema, execute })');
  if (!/^[\w-]{1,64}$/.test(name)) throw new TypeError(`${path}: a tool's name is 1 to 64 of A-Z, a-z, 0-9, _ and -: ${name.replace(/[^\w-]+/g, '_')}`);
  // A tool may be an instance of a class with methods.
  const own = Object.fromEntries(OPTIONS.map((option) => [option, given[option]]));
  const { description = '', inputSchema: schema, touches, needsApproval, destination, sideEffect, mayFinish = false } = TOOL({ ...given, ...own }, path) as Omit<Tool, 'inputSchema'> & { inputSchema?: ReadSchema };
  if (given['execute'] === undefined) throw wrong(`${path}.execute`, undefined, 'a function');
  if (schema && schema.json['type'] === undefined && isObjects(schema.json)) schema.json = { type: 'object', ...schema.json };
  if (schema && schema.json['type'] !== 'object') {
    throw new TypeError(`${path}.inputSchema: got a schema ${'type' in schema.json ? `of type ${describe(schema.json['type'])}` : 'without a type'}; expected the schema of an object, since arguments have names: z.object({ … }), or { type: 'object', properties: { … } }`);
  }
  const reaches = touches ?? (sideEffect && sideEffect !== 'none' ? [sideEffect] : []);
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
      name, description, parameters: schema?.json, mayFinish,
      sideEffect: effectOf(reaches, needsApproval !== undefined && needsApproval !== false),
      // Called on the original object, so that a tool that is an instance of a class keeps its `this`.
      execute: async (input, options) => {
        const inner = (await delegate?.(input))?.name;
        // The engine knows the rules by the name of the tool that is called, so those of the tool behind it are kept here.
        if (inner !== undefined && denied(inner)) throw new Error(`refused: the permissions of this run deny ${inner}`);
        const result = await (given as unknown as Tool).execute(schema ? await schema.parse(input) : input, options);
        if (!(result instanceof ToolContent)) return result;
        const { readPrompt } = await import('./prompt-parts.js');
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
