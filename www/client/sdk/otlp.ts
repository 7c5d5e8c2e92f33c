// Sends spans of a run while it is in progress, by OTLP over HTTP: the same spans as in the exported file, each once it is complete.
import { isObject, shape, wrong, exportTrajectory } from '../index.js';
import type { Trajectory } from '../types/turnwise.js';
import type { Run } from './run.js';

/**
 * Notified of every run of an agent.
 *
 * @example
 * const telemetry: Telemetry = async (run) => { for await (const part of run) if (part.type === 'turn-finish') console.log(part.usage); };
 */
export type Telemetry = (run: Run<any>) => void;

/**
 * Where spans are sent.
 *
 * @example
 * otlp({ url: 'https://collector.example.com/v1/traces', headers: { authorization: `Bearer ${key}` } })
 */
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
 *
 * @example
 * new Agent({ model, telemetry: otlp({ url: 'http://localhost:4318/v1/traces' }) })
 */
export function otlp(options: OtlpOptions): Telemetry {
  const words = 'the address of a collector, such as \'http://localhost:4318/v1/traces\'';
  if (!isObject(options)) throw wrong('otlp()', options, `{ url }, ${words}`);
  const { url, headers = {} } = shape({ url: (value) => value, headers: (value) => value })(options, 'otlp()') as unknown as OtlpOptions;
  // In a page, a path is one of its own server.
  const page = (globalThis.location as Location | undefined)?.href;
  if (!URL.canParse(String(url), page) || !/^https?:/.test(new URL(String(url), page).protocol)) throw wrong('otlp(): url', url, words);
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
