// The proxy as a Vercel function: api/v1/[...path].mjs with `export { default } from '../../key-proxy/vercel.mjs';`. This folder is
// not in api/, where each file would be a function with limits of its own. Limits count per instance; questions go to the log, where
// a log drain collects them.
import { inMemory, serve } from './core.mjs';

const meters = inMemory();

export default {
  fetch(request) {
    return serve(request, {
      env: process.env, meters,
      address: request.headers.get('x-real-ip'), // set by Vercel; what a visitor sends is replaced
      questions: { add: (report) => console.log(JSON.stringify(report)) },
    });
  },
};
