// What happens in a run, as the page is told: streamed Markdown as nodes, at most every 80 ms, and the rest in order.

const EVERY_MS = 80;

/** `nodes(text)` renders Markdown. `event` takes an event of the agent's, `done` resolves when all of them have been posted,
 *  `end` stops all timers. */
export function painter(nodes, post) {
  let queue = Promise.resolve();
  let text = '';
  let turn = 0;
  let dirty = false;
  let timer;
  let before = 0;

  const tell = (data) => { queue = queue.then(() => post({ event: 'run', data })); };
  const draw = (of, at) => {
    queue = queue.then(async () => post({ event: 'run', data: { type: 'text', turn: at, nodes: await nodes(of), chars: of.length } })).catch((error) => post({ event: 'run', data: { type: 'text', turn: at, nodes: [{ paragraph: [{ text: of }] }], error: String(error) } }));
  };
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (!dirty) return;
    dirty = false;
    before = performance.now();
    draw(text, turn);
  };
  const delta = () => {
    dirty = true;
    // A render under way is waited for: a slow device then draws less often, and never falls behind.
    timer ??= setTimeout(() => queue.then(flush), Math.max(0, EVERY_MS - (performance.now() - before)));
  };

  const on = {
    attempt_started({ attempt }) {
      // What a failed attempt said is gone.
      if (attempt > 1 && text) {
        text = '';
        dirty = true;
        flush();
      }
      text = '';
    },
    text_delta(event) {
      turn = event.turn;
      text += event.text;
      delta();
    },
    tool_started(event) {
      flush();
      tell(event);
    },
    turn_finished({ turn: number, callsLeft, record }) {
      flush();
      tell({ type: 'turn_finished', turn: number, callsLeft, level: record.counter_level, synthesis: record.synthesis, failed: record.attempts.length > 0 && record.attempts.every(({ slugs }) => slugs.length) });
      text = '';
    },
    final({ output, answerSource }) {
      flush();
      const at = turn;
      queue = queue.then(async () => post({ event: 'run', data: { type: 'final', turn: at, output, answerSource, nodes: await nodes(output) } })).catch((error) => post({ event: 'run', data: { type: 'final', turn: at, output, answerSource, nodes: [{ paragraph: [{ text: output }] }], error: String(error) } }));
    },
    agent_finished: ({ ending }) => ended('finished', ending),
    agent_failed: ({ ending }) => ended('failed', ending),
  };
  const ended = (how, ending) => {
    const { termination_reason: reason, outcome, answer_source: source, total_turns: turns, effective_max_turns: max, error, output } = ending;
    tell({ type: 'ended', how, reason, outcome, source, turns, max, error: error ?? null, output: outcome === 'failed' ? output : undefined });
  };
  const AS_THEY_ARE = new Set(['run_started', 'turn_started', 'attempt_failed', 'waiting', 'tool_finished', 'synthesis_started', 'progress']);

  return {
    event(event) {
      if (event.type === 'turn_started') turn = event.turn;
      if (on[event.type]) on[event.type](event);
      else if (AS_THEY_ARE.has(event.type)) tell(event);
    },
    done: async () => {
      flush();
      await queue;
    },
    end: () => clearTimeout(timer),
  };
}
