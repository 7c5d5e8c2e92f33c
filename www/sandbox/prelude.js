// Evaluated inside QuickJS before a program: its console, its tools, its clock, its random numbers and its timers. Everything
// that the program sees follows from the seed, the start time and the answers to its calls, so that a replay gives the same
// bytes. `host` holds the functions of program.js; the program itself has no way to reach it.
(function prelude(host, names, seed, start) {
  'use strict';
  const { now, print, ask, arm } = host;
  const { stringify } = JSON;
  const own = (target, name, value) => Object.defineProperty(target, name, { value, writable: true, configurable: true, enumerable: false });

  // The clock: each reading advances it by 1 ms.
  const RealDate = Date;
  const clock = () => start + now();
  function FixedDate(...args) {
    if (!new.target) return new RealDate(clock()).toString();
    return Reflect.construct(RealDate, args.length ? args : [clock()], new.target);
  }
  own(FixedDate, 'name', 'Date');
  own(FixedDate, 'length', 7);
  for (const name of ['parse', 'UTC']) own(FixedDate, name, RealDate[name]);
  own(FixedDate, 'now', clock);
  FixedDate.prototype = RealDate.prototype;
  own(RealDate.prototype, 'constructor', FixedDate);
  own(globalThis, 'Date', FixedDate);
  own(globalThis, 'performance', Object.freeze({ timeOrigin: start, now: () => clock() - start }));

  // mulberry32
  let state = seed | 0;
  own(Math, 'random', () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  });

  // When the garbage of a program is collected, and when threads meet, is nothing that a replay could repeat.
  for (const name of ['WeakRef', 'FinalizationRegistry', 'SharedArrayBuffer', 'Atomics', 'gc', 'navigator']) delete globalThis[name];

  /** A value as text: strings as they are, data as JSON, anything else in words. */
  const show = (value) => {
    if (typeof value === 'string') return value;
    if (typeof value === 'function') return `[function ${value.name || 'without a name'}]`;
    if (typeof value === 'bigint') return `${value}n`;
    if (value instanceof Error) return `${value.name}: ${value.message}`;
    if (typeof value !== 'object' || value === null) return String(value);
    try {
      return stringify(value, (key, inner) => {
        if (typeof inner === 'bigint') return `${inner}n`;
        if (inner instanceof Map) return { Map: [...inner] };
        if (inner instanceof Set) return { Set: [...inner] };
        if (inner instanceof Error) return `${inner.name}: ${inner.message}`;
        return inner;
      }) ?? String(value);
    } catch (error) {
      return `[an object that is not JSON: ${error.message}]`;
    }
  };
  const line = (...values) => print(values.map(show).join(' '));
  own(globalThis, 'console', Object.freeze(Object.fromEntries(['log', 'info', 'debug', 'warn', 'error', 'table'].map((name) => [name, (...values) => line(...values)]))));

  // The calls: numbered from 0, settled by program.js.
  const pending = new Map();
  const call = (name, args) => new Promise((resolve, reject) => {
    const text = stringify(args === undefined ? {} : args);
    pending.set(ask(name, text === undefined ? 'null' : text), { resolve, reject });
  });
  own(globalThis, 'tools', Object.freeze(Object.assign(Object.create(null), Object.fromEntries(names.map((name) => [name, (args) => call(name, args)])))));

  // Timers run when nothing else can happen, in the order of their times: waiting costs no time.
  const timers = new Map();
  let timer = 0;
  const later = (repeats) => (then, ms = 0, ...args) => {
    timer += 1;
    const every = Math.max(repeats ? 1 : 0, Number(ms) || 0);
    timers.set(timer, { then, args, every, repeats });
    arm(timer, every);
    return timer;
  };
  own(globalThis, 'setTimeout', later(false));
  own(globalThis, 'setInterval', later(true));
  for (const name of ['clearTimeout', 'clearInterval']) own(globalThis, name, (id) => void timers.delete(id));

  return {
    settle: (number, failed, text) => {
      const { resolve, reject } = pending.get(number);
      pending.delete(number);
      if (failed) reject(new Error(text));
      else resolve(text);
    },
    /** Runs a timer, unless it was cleared. */
    fire: (id) => {
      const due = timers.get(id);
      if (!due) return;
      if (due.repeats) arm(id, due.every);
      else timers.delete(id);
      if (typeof due.then === 'function') due.then(...due.args);
    },
    /** The value of the last expression; nothing if there is none. */
    value: (result) => (result === undefined ? undefined : show(result)),
    fault: (thrown) => {
      if (!(thrown instanceof Error)) return `uncaught ${show(thrown)}`;
      const at = /program\.js:(\d+)/.exec(String(thrown.stack ?? ''));
      return `${thrown.name}: ${thrown.message}${at ? ` (line ${at[1]})` : ''}`;
    },
  };
})
