// The engine's worker, with its memory in sight of tests.
import './count-memory.js';
import '../turnwise/engine-worker.js';
