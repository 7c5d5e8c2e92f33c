// Gives a test the package as `window.turnwise`, loaded the way any page would load it.
import * as turnwise from '../turnwise/turnwise.js';

window.turnwise = turnwise;
// With `?watch` the engine runs in a worker that exposes its memory to tests, as `engineMemory`.
if (location.search === '?watch') turnwise.startBy(({ hear, fail }) => {
  const worker = new Worker('engine-worker.js', { type: 'module', name: 'turnwise-engine' });
  worker.onmessage = ({ data }) => hear(data);
  worker.onerror = ({ message }) => fail(new Error(message));
  return { post: (data, transfer) => worker.postMessage(data, transfer), end: () => worker.terminate() };
});

await turnwise.default();
document.body.dataset.state = 'ready';
