// The model built into the browser (Prompt API). It exists in windows only, so the worker asks the page, and the page asks
// it here: a chat completion in, one out. Tools are described in the system text and the reply is held to a JSON Schema,
// which every version of the API can do: one call, or the answer.

const LANGUAGES = ['en', 'es', 'ja', 'de', 'fr'];
const language = () => LANGUAGES.find((known) => navigator.language?.startsWith(known)) ?? 'en';
const expected = () => ({ expectedInputs: [{ type: 'text', languages: [language()] }], expectedOutputs: [{ type: 'text', languages: [language()] }] });

/** By its method, never by its type: browsers define the name without the model. */
export async function availability() {
  if (typeof globalThis.LanguageModel?.availability !== 'function') return 'unsupported';
  return LanguageModel.availability(expected()).catch(() => 'unavailable');
}

/** Gets the model onto this device; needs a click shortly before. */
export async function fetchModel(onProgress) {
  const session = await LanguageModel.create({ ...expected(), monitor: (monitor) => monitor.addEventListener('downloadprogress', ({ loaded }) => onProgress(loaded)) });
  session.destroy();
}

const described = (tools) => `\n\nYou can use these tools:\n${tools.map(({ function: { name, description, parameters } }) => `- ${name}: ${description ?? ''} Arguments (JSON Schema): ${JSON.stringify(parameters ?? {})}`).join('\n')}\n\nReply with JSON: {"tool": name, "arguments": {…}} to use a tool, or {"answer": text} to answer.`;

const schema = (tools) => ({ anyOf: [
  { type: 'object', properties: { answer: { type: 'string' } }, required: ['answer'], additionalProperties: false },
  { type: 'object', properties: { tool: { enum: tools.map(({ function: { name } }) => name) }, arguments: { type: 'object' } }, required: ['tool', 'arguments'], additionalProperties: false },
] });

/** The messages as prompts: one system prompt at the start, tools' results as the user's. */
function prompts(messages, tools) {
  const all = [];
  const called = new Map();
  messages.forEach(({ role, content, tool_calls: calls, tool_call_id: id }, index) => {
    for (const call of calls ?? []) called.set(call.id, call.function.name);
    const text = typeof content === 'string' ? content : (content ?? []).map((part) => part.text ?? '').join('');
    const say = (as, words) => {
      if (all.at(-1)?.role === as) all.at(-1).content += `\n\n${words}`;
      else all.push({ role: as, content: words });
    };
    if (role === 'system' && index === 0) say('system', text + (tools.length ? described(tools) : ''));
    else if (role === 'assistant') say('assistant', calls?.length ? JSON.stringify({ tool: calls[0].function.name, arguments: JSON.parse(calls[0].function.arguments || '{}') }) : text);
    else say('user', role === 'tool' ? `Result of ${called.get(id) ?? 'the tool'}:\n${text}` : text);
  });
  return all;
}

/** What the API throws, as the agent judges it: a full context or a refusal is not tried again. */
const judged = (error) => Object.assign(new Error(`the browser's built-in model failed: ${error.message}`), /Quota|NotSupported|NotAllowed|TypeError/.test(error.name) ? { status: 400 } : {});

export async function ask({ messages, tools = [] }, { signal }) {
  const there = await availability();
  if (there !== 'available') throw Object.assign(new Error(`the browser's built-in model is ${there}`), { status: 400 });
  const all = prompts(messages, tools);
  const last = all.pop();
  let session;
  try {
    session = await LanguageModel.create({ ...expected(), initialPrompts: all, signal });
    if (!tools.length) return pieces(session, last, signal);
    const reply = JSON.parse(await session.prompt([last], { signal, responseConstraint: schema(tools) }));
    session.destroy();
    const message = reply.tool
      ? { role: 'assistant', content: '', tool_calls: [{ id: `call_${crypto.randomUUID().slice(0, 8)}`, type: 'function', function: { name: reply.tool, arguments: JSON.stringify(reply.arguments ?? {}) } }] }
      : { role: 'assistant', content: String(reply.answer ?? '') };
    return { object: 'chat.completion', choices: [{ index: 0, message, finish_reason: reply.tool ? 'tool_calls' : 'stop' }] };
  } catch (error) {
    session?.destroy();
    throw signal.aborted ? error : judged(error);
  }
}

async function* pieces(session, last, signal) {
  try {
    const reader = session.promptStreaming([last], { signal }).getReader();
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    session.destroy();
  }
}
