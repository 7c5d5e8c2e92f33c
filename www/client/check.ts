// Checks of the page's arguments. Every error is a `TypeError` that names the option, the value and what was expected.

/** Converts one argument for the wire; throws if it is wrong. `path` names it in errors. */
export type Check<T = unknown> = (value: unknown, path: string) => T;

export type Given = Record<string, unknown>;

export const isObject = (value: unknown): value is Given => typeof value === 'object' && value !== null;

function kind(value: unknown): string | undefined {
  if (value === null) return 'null';
  if (value === undefined) return 'nothing';
  if (typeof value === 'function') return 'a function';
  if (Array.isArray(value)) return 'an array';
  if (isObject(value)) return 'an object';
  return typeof value === 'number' && !Number.isFinite(value) ? 'a non-finite number' : undefined;
}

/** Returns a value as JSON; `undefined` for values that JSON cannot represent. */
export function json(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

/** The kind of a value, and its content if that is short. */
export function describe(value: unknown): string {
  const text = kind(value) ?? json(value) ?? '';
  // Cut between characters, not inside one.
  const cut = text.length > 60 ? [...text.slice(0, 122)] : [];
  return cut.length > 60 ? `${cut.slice(0, 60).join('')}…` : text || 'something else';
}

/** The kind of a value without its content: for keys. */
const describeSecret = (value: unknown) => kind(value) ?? (typeof value === 'string' ? 'a string' : typeof value === 'number' ? 'a number' : 'something else');

export const wrong = (path: string, value: unknown, takes: string) => new TypeError(`${path}: got ${describe(value)}; expected ${takes}`);
export const missing = (path: string, takes: string) => new TypeError(`${path}: missing; expected ${takes}`);

/** A check from a description and a test. */
export const takes = <T>(words: string, fits: (value: any) => boolean): Check<T> => (value, path) => {
  if (!fits(value)) throw wrong(path, value, words);
  return value as T;
};

export const text = takes<string>('a string', (value) => typeof value === 'string');
export const flag = takes<boolean>('true or false', (value) => typeof value === 'boolean');
export const callable = takes<(...given: any[]) => unknown>('a function', (value) => typeof value === 'function');
export const number = takes<number>('a number, 0 or more', (value) => typeof value === 'number' && Number.isFinite(value) && value >= 0);
/** Also one of another frame, or of a test's own document. */
export const isSignal = (value: any): value is AbortSignal => typeof value?.aborted === 'boolean' && typeof value.addEventListener === 'function';
export const signal = takes<AbortSignal>('an AbortSignal', isSignal);

export const U32 = 0xffff_ffff;

export const whole = (least: number, most = Number.MAX_SAFE_INTEGER): Check<number> =>
  takes(`a whole number, ${least} or more`, (value) => Number.isInteger(value) && value >= least && value <= most);

export const word = <T extends string>(words: readonly T[]): Check<T> => takes(words.map((one) => `'${one}'`).join(' or '), (value) => words.includes(value));

export const secret: Check<string> = (value, path) => {
  if (typeof value !== 'string') throw new TypeError(`${path}: got ${describeSecret(value)}; expected a string`);
  return value;
};

/** A JSON snapshot: later changes by the page have no effect. */
export const plain = (words: string): Check => (value, path) => {
  const copy = json(value);
  if (copy === undefined) throw wrong(path, value, words);
  return JSON.parse(copy) as unknown;
};

const record = takes<Given>('an object', (value) => isObject(value) && !Array.isArray(value));

/** An object with these options and no others. Returns the given ones, with each name converted by `name`. */
export function shape(known: Record<string, Check>, name = (option: string) => option): Check<Given> {
  return (value, path) => {
    const given = record(value, path);
    const stray = Object.keys(given).find((key) => !Object.hasOwn(known, key));
    if (stray !== undefined) throw new TypeError(`${path}.${stray}: unknown option; ${path} takes ${Object.keys(known).join(', ')}`);
    const read: Given = {};
    for (const [key, check] of Object.entries(known)) if (given[key] !== undefined) read[name(key)] = check(given[key], `${path}.${key}`);
    return read;
  };
}

/** The option's name in records. */
export const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The text of a record that the page calls `path`. */
export const recordText = (words: string): Check<string> => (value, path) => {
  if (!isObject(value)) throw wrong(path, value, words);
  return JSON.stringify(value) ?? '';
};
