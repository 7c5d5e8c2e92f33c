import type { IncomingMessage, ServerResponse } from 'node:http';

/** Counts requests. */
export interface Meter {
  /**
   * Counts a request in each window of time, `[length in milliseconds, most]`. Resolves with how long to wait if one of them is full,
   * and then counts nothing.
   */
  take(limits: [length: number, most: number][]): Promise<{ seconds: number } | undefined>;
}

/**
 * The proxy that holds a site's key, for a server of Node.js or Express: a handler that answers `POST …/v1/chat/completions`, and
 * `POST …/v1/questions` with `QUESTIONS=on`. It never throws. `npx turnwise proxy` is the same as a command.
 *
 * @param env the variables: `API_KEY`, `SALT`, `BASE_URL`, `ORIGINS`, `MODELS`, `MAX_BODY_BYTES`, `MAX_OUTPUT_TOKENS`, `PER_MINUTE`,
 *   `PER_DAY`, `SITE_PER_DAY`, and those that the folder's README calls optional. If one is missing or mistyped, every request is
 *   answered with 503 and its name.
 * @param options `meters`: counts that several processes share; otherwise they are in the memory of this process.
 * @example
 * import http from 'node:http';
 * import { proxy } from 'turnwise/key-proxy';
 *
 * http.createServer(proxy(process.env)).listen(8787);
 */
export function proxy(
  env: Record<string, string | undefined>,
  options?: { meters?: (name: string, options?: { keep?: boolean }) => Meter },
): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
