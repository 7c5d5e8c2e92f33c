// The same exports in Node.js, where the engine runs in a thread.
import '../node.js';

export * from './index.js';
export { default } from './index.js';
