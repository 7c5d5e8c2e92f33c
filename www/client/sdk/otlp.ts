// Sends spans of a run while it is in progress, by OTLP over HTTP: the same spans as in the exported file, each once it is complete.
import { describe } from '../check.js';
import { exportTrajectory } from '../index.js';
import type { Trajectory } from '../types/turnwise.js';
import type { Run } from './run.js';

/** Notified of every run of an agent. */
export type Telemetry = (run: Run<any>) => void;

export interface OtlpOptions {
  /** URL of the collector, including the path: `http://localhost:4318/v1/traces`. */
  url: string | URL;
  /** Headers sent with each request, such as a key. */
  headers?: Record<string, string>;
}

interface Span {
  spanId: string;
  parentSpanId?: string;
}

/**
 * Sends the spans of each run to a collector, named by OpenTelemetry's GenAI conventions: a turn's spans when the turn has
 * ended, the run's span at the end. If the collector does not answer, a warning is logged once per run, and the run continues.
 */
export function otlp({ url, headers = {} }: OtlpOptions): Telemetry {
  // In a page, an address may be relative to it.
  const base = typeof document === 'undefined' ? undefined : document.baseURI;
  if ((typeof url !== 'string' && !(url instanceof URL)) || !URL.canParse(String(url), base) || !/^https?:$/.test(new URL(url, base).protocol)) {
    throw new TypeError(`otlp: url: got ${describe(url)}; expected the address of a collector such as 'http://localhost:4318/v1/traces'`);
  }
  return (run) => void follow(run, String(url), headers).catch((error: Error) => console.warn(`turnwise: spans could not be sent to ${url}: ${error.message}`));
}

async function follow(run: Run<any>, url: string, headers: Record<string, string>) {
  const sent = new Set<string>();
  const send = async (trajectory: Trajectory, keep: (span: Span) => boolean) => {
    const request = JSON.parse(await exportTrajectory(trajectory, 'otlp'));
    const [scope] = request.resourceSpans[0].scopeSpans;
    scope.spans = scope.spans.filter((span: Span) => keep(span) && !sent.has(span.spanId));
    if (!scope.spans.length) return;
    for (const { spanId } of scope.spans) sent.add(spanId);
    const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(request) });
    if (!response.ok) throw new Error(`it answered ${response.status}`);
  };
  for await (const part of run) {
    if (part.type !== 'turn-finish') continue;
    const now = await run.checkpoint();
    // Open spans have no end yet, and the run's own span is open until the end.
    if (now) await send({ ...now, turns: now.turns.slice(0, finished(now, part.turn)), children: now.children.filter(({ outcome }) => outcome !== null) }, ({ parentSpanId }) => parentSpanId !== undefined);
  }
  const whole = await run.result.then(({ trajectory }) => trajectory, (error: { trajectory?: Trajectory }) => error?.trajectory);
  if (whole) await send(whole, () => true);
}

/** Returns the number of ended turns, up to the last one with this number. */
const finished = ({ turns }: Trajectory, number: number) => turns.findLastIndex(({ turn }) => turn === number) + 1;
