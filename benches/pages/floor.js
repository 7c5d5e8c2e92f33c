// The floor: a loop written by hand, with fetch, a split at blank lines, JSON.parse, and the whole history serialized again
// for each request, as in all the libraries.
import { ECHO, MODEL, SYSTEM, TASK, echo } from './common.js';

const tools = [{ type: 'function', function: ECHO }];

async function* events(body) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let buffer = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    buffer += decoder.decode(value, { stream: true });
    let from = 0;
    for (let to = buffer.indexOf('\n\n'); to >= 0; to = buffer.indexOf('\n\n', from)) {
      const data = buffer.slice(from + 'data: '.length, to);
      from = to + 2;
      if (data === '[DONE]') return;
      yield JSON.parse(data);
    }
    buffer = buffer.slice(from);
  }
}

async function ask(baseUrl, messages) {
  const response = await fetch(`${baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer none' },
    body: JSON.stringify({ model: MODEL, stream: true, messages, tools }),
  });
  let content = '';
  const calls = [];
  for await (const { choices: [choice] } of events(response.body)) {
    if (!choice) continue;
    if (choice.delta.content) content += choice.delta.content;
    for (const part of choice.delta.tool_calls ?? []) {
      const call = (calls[part.index] ??= { id: part.id, type: 'function', function: { name: part.function.name, arguments: '' } });
      call.function.arguments += part.function.arguments ?? '';
    }
  }
  return { content, calls };
}

window.runAgent = async ({ baseUrl, turns }) => {
  const messages = [{ role: 'system', content: SYSTEM }, { role: 'user', content: TASK }];
  window.kept = messages;
  for (let turn = 0; turn <= turns; turn += 1) {
    const { content, calls } = await ask(baseUrl, messages);
    if (!calls.length) {
      messages.push({ role: 'assistant', content });
      return { turns: turn, text: content };
    }
    messages.push({ role: 'assistant', content, tool_calls: calls });
    for (const call of calls) messages.push({ role: 'tool', tool_call_id: call.id, content: echo(JSON.parse(call.function.arguments)) });
  }
  throw new Error('the server never answered');
};
