// A strict OpenAI-compatible server: it answers each request with the next step of a script. An extra request and an unused
// step both fail the test, and so does a request that its step does not expect.
import assert from 'node:assert/strict';
import http from 'node:http';

const CORS = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*', 'access-control-allow-methods': 'POST, OPTIONS', 'access-control-expose-headers': '*' };

const event = (data) => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
const choice = (delta, finish = null) => event({ id: 'c', object: 'chat.completion.chunk', created: 0, model: 'scripted', choices: [{ index: 0, delta, finish_reason: finish }] });

/** The wire bytes of a reply: `text`, and `calls` [{ id, name, args }] (args: a value, or a verbatim string). */
export function reply({ text = '', calls = [], finish = calls.length ? 'tool_calls' : 'stop', usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } }) {
  const parts = [choice({ role: 'assistant', content: '' })];
  for (const piece of text.match(/.{1,7}/gsu) ?? []) parts.push(choice({ content: piece }));
  calls.forEach(({ id, name, args }, index) => {
    parts.push(choice({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }));
    const json = typeof args === 'string' ? args : JSON.stringify(args);
    for (const piece of json.match(/.{1,9}/gsu) ?? []) parts.push(choice({ tool_calls: [{ index, function: { arguments: piece } }] }));
  });
  parts.push(choice({}, finish), event({ id: 'c', object: 'chat.completion.chunk', choices: [], usage }), event('[DONE]'));
  return parts;
}

/**
 * Runs `body(baseUrl)` against a server with the script. A step is { text, calls, … } (a reply), { status, headers, body }
 * (not a stream), or { chunks: [bytes], cut: true } (raw; `cut` drops the connection after them, `hold` keeps it open).
 * `check(request)` may inspect the parsed request first, `until` is a promise that the response waits for, `delay` is the
 * wait before the response and `pace` the wait after each chunk, in milliseconds.
 */
export async function withScript(steps, body) {
  const faults = [];
  let next = 0;
  // Idle connections stay open: a browser silently resends a request that hits a connection just closed.
  const server = http.createServer({ keepAliveTimeout: 0 }, async (request, response) => {
    if (request.method === 'OPTIONS') return response.writeHead(204, CORS).end();
    const bytes = [];
    for await (const chunk of request) bytes.push(chunk);
    const step = steps[next++];
    const refuse = (message) => {
      faults.push(message);
      response.writeHead(400, { ...CORS, 'content-type': 'application/json' }).end(JSON.stringify({ error: { message } }));
    };
    if (!step) return refuse(`request ${next} is one more than the script has`);
    try {
      step.check?.(JSON.parse(Buffer.concat(bytes).toString()), request.headers);
    } catch (error) {
      return refuse(`request ${next}: ${error.message}`);
    }
    await step.until;
    if (step.delay) await new Promise((resolve) => { setTimeout(resolve, step.delay); });
    if (step.status) return response.writeHead(step.status, { ...CORS, 'content-type': 'application/json', ...step.headers }).end(step.body ?? '');
    response.writeHead(200, { ...CORS, 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
    for (const chunk of step.chunks ?? reply(step)) {
      response.write(chunk);
      if (step.pace) await new Promise((resolve) => { setTimeout(resolve, step.pace); });
    }
    if (step.cut) return setImmediate(() => response.destroy());
    if (step.hold) return undefined;
    return response.end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const result = await body(`http://127.0.0.1:${server.address().port}/v1`);
    assert.deepEqual(faults, [], 'the server got requests that it did not expect');
    assert.equal(next, steps.length, 'the script has steps that were never asked for');
    return result;
  } finally {
    await new Promise((resolve) => { server.close(resolve); server.closeAllConnections(); });
  }
}
