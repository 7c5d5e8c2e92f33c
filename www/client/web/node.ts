// Requests to the web in Node.js: those of the relay.
export { send } from '../../../examples/key-proxy/ask-node.mjs';
