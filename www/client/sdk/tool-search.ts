// Many tools behind two: one that searches them, one that calls them. Their descriptions and schemas enter the context only
// when they are searched for.
import { errorText } from '../model.js';
import { readSchema } from './schema.js';
import type { ReadSchema } from './schema.js';
import { DELEGATE } from './delegate.js';
import type { Delegated } from './delegate.js';
import type { Tool, Tools, Touches } from './tool.js';

export interface ToolSearchOptions {
  /** What the tools are, as a plural: "GitHub operations". Default: "tools". */
  what?: string;
  /** The names of the two tools. Defaults: `search_tools` and `call_tool`. */
  searchName?: string;
  callName?: string;
  /** How many matches are shown with their schemas, if they fit. Default: 5. */
  limit?: number;
}

/** What the model reads of a search. */
const ROOM = 14_000;
const NAMES = 60;

const STOP = new Set(['a', 'an', 'and', 'by', 'for', 'from', 'i', 'in', 'is', 'it', 'me', 'my', 'of', 'on', 'or', 'that', 'the', 'this', 'to', 'with']);
/** A word's stem as far as a search needs it: "pets" finds "pet". */
const terms = (text: string) => text.replace(/([a-z0-9])([A-Z])/g, '$1 $2').toLowerCase().split(/[^\p{L}\p{N}]+/u).filter((one) => one && !STOP.has(one)).map((one) => (one.length > 3 ? one.replace(/(?<=[^s])s$/, '') : one));

interface Call {
  name: string;
  arguments?: unknown;
}

interface Entry {
  name: string;
  tool: Tool;
  schema(): ReadSchema;
  /** How much each term counts. */
  weights: Map<string, number>;
  /** The terms of its name. */
  words: string[];
}

function entry(name: string, tool: Tool): Entry {
  let read: ReadSchema | undefined;
  const schema = () => read ??= readSchema(tool.inputSchema ?? { type: 'object', properties: {}, additionalProperties: false }, `tools.${name}.inputSchema`);
  const weights = new Map<string, number>();
  const add = (text: string, weight: number) => { for (const term of terms(text)) weights.set(term, Math.max(weights.get(term) ?? 0, weight)); };
  add(name, 3);
  add(tool.description ?? '', 1.5);
  add(Object.keys((schema().json['properties'] ?? {}) as object).join(' '), 0.7);
  return { name, tool, schema, weights, words: terms(name) };
}

/** The entries that match, best first: rare terms count more, a term also matches words that it begins, and a name without other words is preferred. */
function search(entries: readonly Entry[], query: string): Entry[] {
  const wanted = [...new Set(terms(query))];
  const exact = query.trim().toLowerCase();
  const weight = ({ weights }: Entry, term: string) => weights.get(term) ?? Math.max(0, ...[...weights].filter(([one]) => term.length > 2 && one.startsWith(term)).map(([, found]) => found / 2));
  const scores = new Map(entries.map((one) => [one, one.name.toLowerCase() === exact ? 1_000 : 0]));
  for (const term of wanted) {
    const found = entries.map((one) => [one, weight(one, term)] as const).filter(([, much]) => much > 0);
    const rarity = Math.log(1 + entries.length / (found.length || 1));
    for (const [one, much] of found) scores.set(one, scores.get(one)! + much * rarity);
  }
  for (const one of entries) scores.set(one, scores.get(one)! * (1 + one.words.filter((word) => wanted.includes(word)).length / (one.words.length || 1)));
  return entries.filter((one) => scores.get(one)! > 0).sort((a, b) => scores.get(b)! - scores.get(a)! || (a.name < b.name ? -1 : 1));
}

/** A schema without descriptions and examples, for one that is too long. */
function bare(schema: unknown, map = false): unknown {
  if (Array.isArray(schema)) return schema.map((one) => bare(one));
  if (typeof schema !== 'object' || schema === null) return schema;
  return Object.fromEntries(Object.entries(schema).filter(([word]) => map || !['description', 'examples', 'title'].includes(word))
    .map(([word, value]) => [word, !map && ['enum', 'const', 'default'].includes(word) ? value as unknown : bare(value, !map && ['properties', 'patternProperties', '$defs', 'dependentSchemas'].includes(word))]));
}

/** The schema as text that fits: whole, without descriptions, or only the names of the arguments. */
function shown(schema: Record<string, unknown>, room: number): unknown {
  if (JSON.stringify(schema).length <= room) return schema;
  const short = bare(schema);
  if (JSON.stringify(short).length <= room) return short;
  const { properties = {}, required } = schema as { properties?: Record<string, unknown>; required?: string[] };
  return { note: 'The schema is too long to show. A call with wrong arguments is answered with what is wrong.', arguments: Object.keys(properties), required };
}

/**
 * Puts any number of tools behind two: `search_tools` and `call_tool`. A call is checked against the schema of the tool that it
 * names, and asks for permission as that tool: `approve` receives the tool's own name and arguments, an answer for "this tool"
 * covers that tool only, and `permissions.tools` applies to its name.
 * @example
 * const agent = new Agent({ model, tools: toolSearch(manyTools, { what: 'warehouse functions' }) });
 */
export function toolSearch(tools: Tools, { what = 'tools', searchName = 'search_tools', callName = 'call_tool', limit = 5 }: ToolSearchOptions = {}): Tools {
  const entries = Object.entries(tools).map(([name, tool]) => entry(name, tool));
  const byName = new Map(entries.map((one) => [one.name, one]));
  const touches = [...new Set(entries.flatMap(({ tool }) => [...(tool.touches ?? (tool.sideEffect && tool.sideEffect !== 'none' ? [tool.sideEffect as Touches] : []))]))];

  const find: Tool<{ query: string }> = {
    description: `Searches ${entries.length} ${what} by words. Returns the best matches with their parameters, for ${callName}. An empty query lists names.`,
    inputSchema: { type: 'object', properties: { query: { type: 'string', description: `What has to be done, or a name. Words such as "create invoice".` } }, required: ['query'], additionalProperties: false },
    execute: ({ query }) => {
      const found = query.trim() ? search(entries, query) : [];
      const matches: object[] = [];
      let room = ROOM;
      for (const { name, tool, schema } of found.slice(0, limit)) {
        const match = { name, description: tool.description ?? '', parameters: shown(schema().json, Math.max(room - 600, 1_500)) };
        const size = JSON.stringify(match).length;
        if (matches.length && size > room) break;
        room -= size;
        matches.push(match);
      }
      const rest = query.trim() ? found.slice(matches.length) : entries;
      const more = rest.slice(0, query.trim() ? 15 : NAMES).map(({ name }) => name);
      return {
        matches, ...(more.length && { more }), ...(rest.length > more.length && { andOthers: rest.length - more.length }),
        ...(!matches.length && query.trim() && { note: `Nothing matches. Use other words; an empty query lists names of the ${entries.length} ${what}.` }),
      };
    },
  };

  /** Why a call cannot be made; nothing if it can. */
  const refused = async (name: string, given: unknown): Promise<string | undefined> => {
    const one = byName.get(name);
    if (!one) {
      const near = search(entries, name).slice(0, 5).map((other) => other.name);
      return `There is no ${JSON.stringify(name)} among the ${what}.${near.length ? ` Similar: ${near.join(', ')}.` : ''} Use ${searchName}.`;
    }
    const { faultsOf } = await import('./argument-check.js');
    const { json } = one.schema();
    let faults: string[];
    try {
      faults = faultsOf(json, given);
    } catch (error) {
      faults = [`the arguments cannot be checked: ${errorText(error)}`];
    }
    return faults.length ? `The arguments of ${name} are wrong, and it was not called.\n${faults.join('\n')}\nIts parameters: ${JSON.stringify(shown(json, 4_000))}` : undefined;
  };

  const call: Tool<Call> & { [DELEGATE]: (input: unknown) => Promise<Delegated<Tool>> } = {
    description: `Calls one of the ${what} that ${searchName} found, by its name, with arguments as its parameters say.`,
    inputSchema: {
      type: 'object', properties: { name: { type: 'string' }, arguments: { type: 'object', description: `Arguments as the parameters in the result of ${searchName} say.` } },
      required: ['name'], additionalProperties: false,
    },
    touches,
    // Each call asks as the tool that it names, if it can be made.
    [DELEGATE]: async (input) => {
      const { name, arguments: given = {} } = input as Call;
      return { name, input: given, ...(await refused(name, given) === undefined && { tool: byName.get(name)!.tool }) };
    },
    execute: async ({ name, arguments: given = {} }, options) => {
      const wrong = await refused(name, given);
      if (wrong !== undefined) throw new Error(wrong);
      const { tool, schema } = byName.get(name)!;
      return tool.execute(await schema().parse(given), options) as unknown;
    },
  };
  return { [searchName]: find, [callName]: call };
}
