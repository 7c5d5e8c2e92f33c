// The engine's worker, with its memory exposed to tests.
import './count-memory.js';
import '../turnwise/engine-worker.js';
