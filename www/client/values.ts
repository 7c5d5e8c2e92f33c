// What a tool of the page returned, as the text that the model reads. What JSON would lose in silence is read as what it is, or is an
// error that says what to return instead.

/** Says to the author of a tool, by way of the model, what the tool has to return. */
export const unusable = (what: string, instead: string) => new TypeError(`the tool returned ${what}, which is no text and has no JSON: return ${instead}`);

/** The kind of an object, also of one from another frame: `Map`, `Response`, … */
export const tag = (value: object) => Object.prototype.toString.call(value).slice(8, -1);

/** An object that JSON would show as `{}` although it is none. */
function standIn(value: object): object | string {
  const kind = tag(value);
  if (kind === 'RegExp') return String(value);
  if (/^(Promise|Weak(Map|Set|Ref))$/.test(kind)) throw unusable(`a ${kind}`, 'what it holds');
  if (Symbol.iterator in value) {
    const list = [...value as Iterable<unknown>];
    // Headers, FormData, URLSearchParams, a Map.
    const pairs = list.length > 0 && list.every((one) => Array.isArray(one) && one.length === 2 && typeof one[0] === 'string');
    return pairs && new Set(list.map((one) => (one as [string])[0])).size === list.length ? Object.fromEntries(list as [string, unknown][]) : list;
  }
  if (value.toString !== Object.prototype.toString) return String(value);
  const { name } = value.constructor ?? {};
  throw unusable(`an object of the class ${name || kind} without fields of its own`, 'a plain object');
}

const isPlain = (value: object) => {
  const from = Object.getPrototypeOf(value) as object | null;
  return Array.isArray(value) || from === null || Object.getPrototypeOf(from) === null;
};

/** A value for JSON: what it has no form for, in the nearest one. Throws for what has none. */
function replacer() {
  const within: object[] = [];
  return function replace(this: unknown, _key: string, value: unknown): unknown {
    if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
    if ((typeof value === 'number' && !Number.isFinite(value)) || typeof value === 'symbol') return String(value);
    if (typeof value !== 'object' || value === null) return value;
    // `this` holds the value: what is not on the way to it has been left.
    while (within.length && within.at(-1) !== this) within.pop();
    if (within.includes(value)) return '[circular]';
    within.push(value);
    const kind = tag(value);
    let shown: unknown = value;
    if (kind === 'Error' || value instanceof Error) shown = { error: errorOf(value as Error), ...value };
    else if (ArrayBuffer.isView(value)) shown = Array.from(value instanceof DataView ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength) : value as Uint8Array);
    else if (kind === 'ArrayBuffer') shown = Array.from(new Uint8Array(value as ArrayBuffer));
    else if (/^(Blob|File|Response|ReadableStream)$/.test(kind)) throw unusable(`a value with a ${kind} in it`, 'its text');
    else if (!isPlain(value) && !Object.keys(value).length) shown = standIn(value);
    // What stands for a value holds the values within it.
    if (shown !== value && typeof shown === 'object' && shown !== null) within.push(shown);
    return shown;
  };
}

const errorOf = (error: Error) => (error.name && error.name !== 'Error' ? `${error.name}: ${error.message}` : error.message);

/** Whether a value has to be read before it can be text (reading.ts): a response, a blob, a stream, a generator that waits. */
export const isRead = (value: unknown): value is object => typeof value === 'object' && value !== null && (/^(Response|Blob|File|ReadableStream)$/.test(tag(value)) || Symbol.asyncIterator in value);

/**
 * A result as text: strings unchanged, anything else as JSON. Throws what the model has to know: an `Error` that was returned, and a
 * value of which nothing is left.
 *
 * @example valueText(new Map([['lamp', 12]])) // '{"lamp":12}'
 */
export function valueText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === undefined) return 'null';
  if (value instanceof Error || (typeof value === 'object' && value !== null && tag(value) === 'Error')) throw value;
  if (typeof value === 'function') throw unusable('a function', 'its result');
  return JSON.stringify(value, replacer()) ?? 'null';
}
