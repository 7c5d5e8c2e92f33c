// Deadlines that do not count the time in which the machine sleeps or the process is stopped: nothing can finish then. src/worker/awake.rs
// does the same for the deadlines of the engine.

const PART_MS = 500;
/** A timer may be so late in a thread that has much to do; in a page that nobody sees, browsers let timers fire once a minute. */
const LATE_MS = 1_000;
const HIDDEN_LATE_MS = 65_000;

/** Calls `then` after so many milliseconds in which the thread could work. Returns what cancels it. `holds`: it keeps the process alive. */
export function deadline(ms: number, then: () => void, holds = false): () => void {
  let left = ms;
  let timer: number;
  const wait = () => {
    const [part, began] = [Math.min(left, PART_MS), performance.now()];
    timer = setTimeout(() => {
      const late = performance.now() - began - part;
      left -= part + (late > (globalThis.document?.hidden ? HIDDEN_LATE_MS : LATE_MS) ? 0 : Math.max(late, 0));
      if (left > 0) wait();
      else then();
    }, part) as unknown as number;
    if (!holds) (timer as { unref?(): void }).unref?.();
  };
  wait();
  return () => clearTimeout(timer);
}
