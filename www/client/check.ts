// Checks of the page's arguments. Every error is a `TypeError` that names the option, the value and what was expected.

/** Converts one argument for the wire; throws if it is wrong. `path` names it in errors. */
export type Check<T = unknown> = (value: unknown, path: string) => T;

export type Given = Record<string, unknown>;

/** Also of another realm. */
export const isBlob = (value: unknown): value is Blob => /^\[object (Blob|File)\]$/.test(Object.prototype.toString.call(value));

export const isObject = (value: unknown): value is Given => typeof value === 'object' && value !== null;

function kind(value: unknown): string | undefined {
  if (value === null) return 'null';
  if (value === undefined) return 'nothing';
  if (typeof value === 'function') return /^class\b/.test(Function.prototype.toString.call(value)) ? `the class ${value.name}` : 'a function';
  if (Array.isArray(value)) return 'an array';
  if (isObject(value)) {
    const name = isPlain(value) ? '' : (value.constructor?.name ?? '');
    // Shorter ones are made by a minifier.
    return name === 'Promise' ? 'a Promise (is an await missing?)' : name.length > 2 ? `${/^[aeiou]/i.test(name) ? 'an' : 'a'} ${name}` : 'an object';
  }
  return typeof value === 'number' && !Number.isFinite(value) ? 'a non-finite number' : undefined;
}

/** Whether an object is of no class; also one of another frame. */
function isPlain(value: object): boolean {
  const from = Object.getPrototypeOf(value) as object | null;
  return from === null || Object.getPrototypeOf(from) === null;
}

/** Returns a value as JSON; `undefined` for values that JSON cannot represent. */
export function json(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

/** How keys of model services begin: one that was given in the wrong place must not be shown. */
const KEY = /^(sk-|gsk_|xai-|AIza|Bearer )/;
export const isKey = (value: unknown) => typeof value === 'string' && KEY.test(value);

/** The kind of a value, and its content if that is short. */
export function describe(value: unknown): string {
  const text = isKey(value) ? 'a key' : kind(value) ?? json(value) ?? '';
  // Cut between characters, not inside one.
  const cut = text.length > 60 ? [...text.slice(0, 122)] : [];
  return cut.length > 60 ? `${cut.slice(0, 60).join('')}…` : text || 'something else';
}

/** The kind of a value without its content: for keys. */
const describeSecret = (value: unknown) => kind(value) ?? (typeof value === 'string' ? 'a string' : typeof value === 'number' ? 'a number' : 'something else');

/** What others call it: the option here, and its names elsewhere, without case and separators. */
const ELSEWHERE: readonly (readonly [here: string, elsewhere: RegExp])[] = [
  ['instructions', /^(system|prompt)/], ['maxTurns', /^(max)?(step|iter|round|turn|recurs)|^stopwhen/], ['signal', /^abort/],
  ['inputSchema', /^(param|schema|arg)/], ['execute', /^(handle|run|func?|call|invoke)/], ['model', /^(provider|llm)/],
  ['output', /^(response|result|output|schema)/], ['subagents', /^(handoff|agents)/], ['approve', /appro|confirm/], ['messages', /^history/],
  ['id', /^(key|name|session|thread)/], ['baseUrl', /^(url|endpoint|host|api)/], ['url', /^(endpoint|host)/], ['apiKey', /^(key|token)/],
  ['usd', /^(dollar|cost|money)/], ['ms', /^(time|sec)/], ['maxOutputTokens', /^maxtok/],
];

const bare = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, '');

/** Whether at most so many letters are missing, added, changed, or in the other order. */
function within(a: string, b: string, left: number): boolean {
  const rest = (i: number, j: number, less = 1) => within(a.slice(i), b.slice(j), left - less);
  if (a === b) return true;
  if (a && a[0] === b[0] && rest(1, 1, 0)) return true;
  return left > 0 && (rest(1, 0) || rest(0, 1) || rest(1, 1) || (a.length > 1 && a[0] === b[1] && a[1] === b[0] && rest(2, 2)));
}

/** Which of the names was probably meant. */
export function nearest(given: unknown, names: readonly string[]): string | undefined {
  if (typeof given !== 'string' || given.length > 40) return undefined;
  const text = bare(given);
  const near = (letters: number) => names.find((name) => letters <= Math.max(1, Math.min(text.length, bare(name).length) / 4) && within(text, bare(name), letters));
  return near(0) ?? near(1) ?? near(2) ?? near(3) ?? ELSEWHERE.find(([here, elsewhere]) => names.includes(here) && elsewhere.test(text))?.[0];
}

/** What to add to an error about a name. */
export const meant = (given: unknown, names: readonly string[], quote = '') => {
  const near = nearest(given, names);
  return near === undefined ? '' : `; did you mean ${quote}${near}${quote}?`;
};

export const wrong = (path: string, value: unknown, takes: string, hint = '') => new TypeError(`${path}: got ${describe(value)}; expected ${takes}${hint}`);
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

export const word = <T extends string>(words: readonly T[]): Check<T> => (value, path) => {
  if (!words.includes(value as T)) throw wrong(path, value, words.map((one) => `'${one}'`).join(' or '), meant(value, words, '\''));
  return value as T;
};

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

/** An object with these options and no others. Returns the given ones, with each name converted by `name`. `hint` says more about a name that it does not have. */
export function shape(known: Record<string, Check>, name = (option: string) => option, hint: (stray: string) => string | undefined = () => undefined): Check<Given> {
  const names = Object.keys(known);
  return (value, path) => {
    // Of an object of a class without fields, nothing could be read: it would pass for one without options.
    if (!isObject(value) || Array.isArray(value) || (!isPlain(value) && !Object.keys(value).length)) throw wrong(path, value, `an object with ${names.join(', ')}`);
    const stray = Object.keys(value).find((key) => !Object.hasOwn(known, key));
    if (stray !== undefined) {
      const said = hint(stray) ?? meant(stray, names);
      throw new TypeError(`${path}.${stray}: unknown option${said}${said.endsWith('?') ? ' ' : '; '}${path} takes ${names.join(', ')}`);
    }
    const read: Given = {};
    for (const [key, check] of Object.entries(known)) if (value[key] !== undefined) read[name(key)] = check(value[key], `${path}.${key}`);
    return read;
  };
}

/** The option's name in records. */
export const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The text of a record that the page calls `path`. */
export const recordText = (words: string): Check<string> => (value, path) => {
  if (!isObject(value) || (!isPlain(value) && !Object.keys(value).length)) throw wrong(path, value, words);
  if ('trajectory' in value && !('format' in value)) throw new TypeError(`${path}: got a result; expected ${words}: result.trajectory`);
  return JSON.stringify(value) ?? '';
};
