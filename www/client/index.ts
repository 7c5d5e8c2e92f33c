// The package in a page. The engine runs in a worker, so nothing has to be loaded before it is used.
import { link } from './engine';
import type { Start } from './link';

export { Agent } from './agent';
export { configure } from './assets';
export { DocsSite } from './docs';
export { Files } from './files';
export { inside } from './inside';
export { exportTrajectory, importTrajectory, insight, listModels, renderMarkdown, replay, summarize } from './records';

/** For the other entries of the package: how the engine is started where there is no page. */
export const startBy = (start: Start, early = true) => link.startBy(start, early);

/** Says that the engine is going to be used, so that it can be started early. Nothing has to wait for it. */
export default async function init(_?: unknown): Promise<void> {
  link.warm();
}
