// The proxy as a Netlify function: netlify/functions/key-proxy.mjs with `export { default } from '../../key-proxy/netlify.mjs';` and
// `export const config = { path: '/ask/v1/*' };`, which Netlify reads in that file only. Limits count per instance; questions go to
// the function's log.
import { inMemory, serve } from './core.mjs';

const meters = inMemory();

export default (request, context) => serve(request, {
  env: process.env, meters, address: context.ip,
  questions: { add: (report) => console.log(JSON.stringify(report)) },
});
