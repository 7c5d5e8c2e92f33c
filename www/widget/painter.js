// The events of a run, prepared for the panel: streamed Markdown as nodes, at most every 80 ms, a long one less often, and the other events in order.
import { wanted } from './failures.js';
import { nodesOf, written } from './nodes.js';

const EVERY_MS = 80;
/** All of a text is parsed and compared each time it is drawn: it is not drawn for so many times as long as that took, but for no longer than this. */
const PAUSES = 4;
const MOST_MS = 1000;

/** `render(text)` converts Markdown to nodes; `tell(data)` receives the prepared events. Of the result, `event` takes an event
 *  of the agent, `done` resolves when all of them have been delivered, and after `end` none are delivered. */
export function painter(render, tell) {
  let queue = Promise.resolve();
  let text = '';
  let turn = 0;
  let dirty = false;
  let timer;
  let before = 0;
  let took = 0;
  let over = false;

  /** Delivers data. An error while drawing it does not affect the rest. */
  const told = (data) => {
    try {
      if (!over) tell(data);
    } catch (error) {
      reportError(error);
    }
  };
  const say = (data) => { queue = queue.then(() => told(data)); };
  /** Delivers data with the nodes of a text, or the text itself if rendering fails. */
  const draw = (of, data) => {
    queue = queue.then(async () => {
      const began = performance.now();
      told({ ...data, nodes: over ? [] : await nodesOf(of, render).catch(() => written(of)) });
      took = performance.now() - began;
    });
  };
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (!dirty) return;
    dirty = false;
    before = performance.now();
    draw(text, { type: 'text', turn, chars: text.length });
  };
  const delta = () => {
    dirty = true;
    // Waits for a render in progress: a slow device then draws less often, but never falls behind.
    timer ??= setTimeout(() => queue.then(flush), Math.max(0, Math.max(EVERY_MS, Math.min(PAUSES * took, MOST_MS)) - (performance.now() - before)));
  };
  const ended = ({ ending }) => {
    const { termination_reason: reason, outcome, total_turns: turns, error, output } = ending;
    say({ type: 'ended', reason, outcome, turns, error: error ?? null, output: outcome === 'failed' ? output : undefined });
  };

  const on = {
    attempt_started({ attempt }) {
      // The text of a failed attempt is removed.
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
      say(event);
    },
    turn_finished({ turn: number, record }) {
      flush();
      say({ type: 'turn_finished', turn: number, level: record.counter_level, failed: record.attempts.length > 0 && record.attempts.every(({ slugs: [slug] }) => slug && !wanted(slug)) });
      text = '';
    },
    final({ output }) {
      flush();
      draw(output, { type: 'final', turn, output });
    },
    agent_finished: ended,
    agent_failed: ended,
  };
  for (const type of ['run_started', 'turn_started', 'attempt_failed', 'waiting', 'tool_finished', 'synthesis_started']) on[type] ??= say;

  return {
    event(event) {
      if (event.type === 'turn_started') turn = event.turn;
      if (Object.hasOwn(on, event.type)) on[event.type](event);
    },
    async done() {
      flush();
      await queue;
    },
    end() {
      over = true;
      clearTimeout(timer);
    },
  };
}
