// The proxy as a Vercel function: api/v1/[...path].mjs with `export { default } from '../../key-proxy/vercel.mjs';`. This folder is
// not in api/, where each file would be a function with limits of its own. Limits count per instance; questions go to the log, where
// a log drain collects them.
import { inMemory, serve } from './core.mjs';

const meters = inMemory();

export default {
  async fetch(request) {
    const response = await serve(readToItsEnd(request), {
      env: process.env, meters,
      address: request.headers.get('x-real-ip'), // set by Vercel; what a visitor sends is replaced
      questions: { add: (report) => console.log(JSON.stringify(report)) },
    });
    return new Response(response.body && endedInAnyCase(response.body), response);
  },
};

// Vercel's launcher (@vercel/node 24) leaves two errors of streams unhandled, each of which would end the process.

/** The request, with a body that cannot be cancelled while parts arrive: the rest of one that is too long is read and forgotten. */
function readToItsEnd(request) {
  const reader = request.body?.getReader();
  if (!reader) return request;
  const body = new ReadableStream({
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      while (!(await reader.read()).done);
    },
  });
  return new Request(request, { body, duplex: 'half' });
}

/** An answer that ends where the model server's breaks off. The agent sees that the model did not finish. */
function endedInAnyCase(body) {
  const reader = body.getReader();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await reader.read().catch(() => ({ done: true }));
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
