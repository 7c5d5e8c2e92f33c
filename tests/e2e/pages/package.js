// Gives a test the package as `window.turnwise`, loaded the way any page would load it.
import * as turnwise from '../turnwise/turnwise.js';

await turnwise.default();
window.turnwise = turnwise;
document.body.dataset.state = 'ready';
