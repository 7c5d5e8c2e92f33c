// The proxy as a Netlify function: netlify/functions/key-proxy.mjs with `export { default, config } from
// '../../key-proxy/netlify.mjs';`. Limits count per instance; questions go to the function's log.
import { inMemory, serve } from './core.mjs';

const meters = inMemory();

export const config = { path: '/ask/v1/*' };

export default (request, context) => serve(request, {
  env: process.env, meters, address: context.ip,
  questions: { add: (report) => console.log(JSON.stringify(report)) },
});
