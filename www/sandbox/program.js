// One program in QuickJS: what it may use, and how it goes on when its calls are answered. Knows neither workers nor pages.
import prelude from './prelude.js?text';

/** Calls that one program can make: tests/native/protocol.rs compares it with the engine's. */
const MAX_CALLS = 1_000;
/** Characters of a call's arguments, and of those of all calls; so many are always fewer bytes than the engine takes. */
const MAX_ARGUMENTS = 512 * 1024;
const MAX_ASKED = 16 * 1024 * 1024;
/** Memory of the program, in bytes. */
const MEMORY = 64 * 1024 * 1024;
/** Its stack: beyond this, the parser's own recursion could overflow the stack of the page's engine. */
const STACK = 96 * 1024;
/** QuickJS reports back about this often before a program counts as endless; some 1,000 million operations, a few seconds. */
const STEPS = 100_000;
/** Timers that can fire. */
const TIMERS = 10_000;
/** Characters that a program can print; what is beyond is counted only. */
const OUTPUT = 256 * 1024;
/** JS_EVAL_FLAG_ASYNC: top-level await, and the value of the last expression. */
const ASYNC = 128;

/**
 * Starts a program. `ask(name, arguments)` calls a tool: calls are numbered from 0, and `answer(number, failed, text)` settles
 * one. `end(ok, text)` is called once: with what the program printed and its value, or with its error. `input` is JSON, for scripts.
 */
export function start(quickjs, { code, seed, at, tools, input }, { ask, end }) {
  const runtime = quickjs.newRuntime();
  runtime.setMemoryLimit(MEMORY);
  runtime.setMaxStackSize(STACK);
  let steps = 0;
  runtime.setInterruptHandler(() => (steps += 1) > STEPS);
  const context = runtime.newContext();

  let ended = false;
  let asked = 0;
  let written = 0; // characters of the arguments so far
  let open = 0;
  let elapsed = 0; // of the program's clock, in ms
  let fired = 0;
  const timers = []; // { id, due }, by time
  const printed = { text: '', lines: 0, dropped: 0 };

  const print = (text) => {
    if (printed.text.length + text.length + 1 > OUTPUT) {
      printed.dropped += text.length;
      return;
    }
    printed.text += printed.lines ? `\n${text}` : text;
    printed.lines += 1;
  };
  const output = () => (printed.dropped ? `${printed.text}\n[${printed.dropped} more characters were printed and are not kept]` : printed.text);

  const finish = (ok, text) => {
    if (ended) return;
    ended = true;
    end(ok, text);
  };
  const cut = (text) => (text.length > OUTPUT ? `${text.slice(0, OUTPUT)}\n[${text.length - OUTPUT} more characters are not kept]` : text);
  const succeed = (value) => {
    const shown = value === undefined ? '' : `=> ${cut(value)}`;
    finish(true, [output(), shown].filter(Boolean).join('\n') || '(no output)');
  };
  const fail = (why) => finish(false, printed.lines ? `${cut(why)}\nIt had printed:\n${output()}` : cut(why));

  /** A function of the host for the prelude. It never throws: that would carry an object of the host into the program. */
  const hostFunction = (name, f) => context.newFunction(name, (...handles) => f(...handles.map((handle) => context.dump(handle))));
  const host = context.newObject();
  const functions = {
    now: () => context.newNumber((elapsed += 1)),
    print: (text) => void print(String(text)),
    ask: (name, text) => {
      if (asked >= MAX_CALLS) return { error: context.newError(`a program can make at most ${MAX_CALLS} calls`) };
      if (text.length > MAX_ARGUMENTS) return { error: context.newError(`the arguments of ${name} are too long: at most ${MAX_ARGUMENTS} characters`) };
      written += text.length;
      if (written > MAX_ASKED) return { error: context.newError(`the arguments of a program's calls may have at most ${MAX_ASKED} characters`) };
      asked += 1;
      open += 1;
      ask(name, text);
      return context.newNumber(asked - 1);
    },
    arm: (id, ms) => {
      const due = elapsed + ms;
      const later = timers.findIndex((other) => other.due > due);
      timers.splice(later < 0 ? timers.length : later, 0, { id, due });
    },
  };
  for (const [name, f] of Object.entries(functions)) {
    const made = hostFunction(name, f);
    context.setProp(host, name, made);
    made.dispose();
  }

  const made = context.unwrapResult(context.evalCode(prelude, 'prelude.js', { type: 'global' }));
  const names = context.unwrapResult(context.evalCode(JSON.stringify(tools), 'tools.json', { type: 'global' }));
  const inner = context.unwrapResult(context.callFunction(made, context.undefined, host, names, context.newNumber(seed), context.newNumber(at)));
  const [settle, fire, value, fault] = ['settle', 'fire', 'value', 'fault'].map((name) => context.getProp(inner, name));

  /** Calls a function of the prelude; a program that is out of memory or steps can make it throw. */
  const callInner = (f, ...args) => {
    const result = context.callFunction(f, context.undefined, ...args);
    if (result.error) {
      const dumped = context.dump(result.error);
      result.error.dispose();
      return { thrown: dumped };
    }
    const returned = context.dump(result.value);
    result.value.dispose();
    return { returned };
  };
  const words = (thrown) => (steps > STEPS ? `the program was ended: it ran for too long (${STEPS.toLocaleString('en-US')} steps)` : `${thrown?.name ?? 'Error'}: ${thrown?.message ?? thrown}`);
  const failWith = (handle) => {
    const said = steps > STEPS ? {} : callInner(fault, handle);
    const text = said.returned ?? words(said.thrown ?? context.dump(handle));
    handle.dispose();
    fail(text);
  };

  let promise;
  /** Runs what can run now, then timers, and ends when nothing is left to wait for. */
  const goOn = () => {
    for (;;) {
      while (runtime.hasPendingJob() && steps <= STEPS) {
        // What a job throws goes to its promise; only what a microtask throws comes back here, and ends the loop inside.
        const jobs = runtime.executePendingJobs();
        if (jobs.error) jobs.error.dispose();
        else jobs.dispose();
      }
      if (steps > STEPS) return fail(words());
      const state = context.getPromiseState(promise);
      if (state.type === 'rejected') return failWith(state.error);
      if (state.type === 'fulfilled') {
        const result = context.getProp(state.value, 'value');
        state.value.dispose();
        const shown = callInner(value, result);
        result.dispose();
        return 'thrown' in shown ? fail(words(shown.thrown)) : succeed(shown.returned);
      }
      if (open) return undefined;
      const next = timers.shift();
      if (!next) return fail('the program waits for a promise that nothing will settle');
      fired += 1;
      if (fired > TIMERS) return fail(`the program was ended: more than ${TIMERS.toLocaleString('en-US')} timers fired`);
      elapsed = Math.max(elapsed, next.due);
      const ran = callInner(fire, context.newNumber(next.id));
      if ('thrown' in ran) return fail(`in a timer: ${words(ran.thrown)}`);
    }
  };

  // Not as an expression: `__proto__` would be no key in it.
  if (input !== undefined) context.unwrapResult(context.evalCode(`globalThis.input = JSON.parse(${JSON.stringify(input)})`, 'input.js', { type: 'global' })).dispose();
  const begun = context.evalCode(code, 'program.js', ASYNC);
  if (begun.error) {
    failWith(begun.error);
  } else {
    promise = begun.value;
    goOn();
  }
  return {
    answer(number, failed, text) {
      if (ended || !(number < asked)) return;
      open -= 1;
      const settled = callInner(settle, context.newNumber(number), failed ? context.true : context.false, context.newString(text));
      if ('thrown' in settled) fail(words(settled.thrown));
      else goOn();
    },
  };
}
