// The package in a page. The engine runs in a worker, so nothing has to be loaded before it is used.
import { host, link } from './engine';
import type { Host } from './host';
import type { Start } from './link';

export { LowLevelAgent, LowLevelAgent as Agent } from './agent';
export { configure } from './assets';
export { DocsSite } from './docs';
export { Files } from './files';
export { inside } from './inside';
export { SAFE_TOOLS } from './names';
export { exportTrajectory, importTrajectory, insight, listModels, renderMarkdown, replay, summarize } from './records';

/** For the files of www/client/sdk, so that a page loads them once. */
export { callable, describe, flag, isBlob, isKey, isObject, json, meant, number, shape, signal, takes, text, whole, word, wrong } from './check';

/** For the other entry points of the package: sets how to start the engine without a page. */
export const startBy = (start: Start, early = true) => link.startBy(start, early);

/** The same for requests to the web. */
export const webBy = (web: Host['web']) => void (host.web = web);

/** Announces that the engine will be used, so that it can start early. You need not await it. */
export default async function init(_?: unknown): Promise<void> {
  link.warm();
}
