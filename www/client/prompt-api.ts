// The model built into Chrome (Prompt API), as a model of the page: it exists only in windows, so the page calls it. Every
// request is a separate session, made from the conversation so far: no state of a run is kept where a record could not show
// it. Loaded when an agent calls it for the first time.
import { Judged, errorText } from './model';

/** For every model of the page: asks it, and reads its answer. */
export { ask } from './model';

type Json = any;
interface Message { role: string; content: Json; tool_calls?: { id: string; function: { name: string; arguments: string } }[]; tool_call_id?: string }
interface Tool { name: string; description: string; parameters: Json }
interface Part { type: string; value: Json }
interface Prompt { role: string; content: Part[] }

const fatal = (message: string) => new Judged({ message, fatal: true });
const text = (value: string): Part => ({ type: 'text', value });

/** Detected by its method, not its type: browsers define the name without the model. */
const languageModel = (): Json => {
  const model = (globalThis as Json).LanguageModel;
  return typeof model?.availability === 'function' ? model : undefined;
};

/** The inputs and outputs of a session. Browsers require the languages, and refuse any that the model does not support. */
function expected(tools: boolean) {
  const language = ['en', 'es', 'ja', 'de', 'fr'].find((known) => globalThis.navigator?.language?.startsWith(known)) ?? 'en';
  const sorts = (other: string) => [{ type: 'text', languages: [language] }, ...(tools ? [{ type: other }] : [])];
  return { expectedInputs: sorts('tool-response'), expectedOutputs: sorts('tool-call') };
}

/** The model's state for such a session: `available`, `downloadable`, `downloading`, `unavailable`, `unsupported`. */
export async function availability(options: object = expected(false)): Promise<string> {
  const model = languageModel();
  if (!model) return 'unsupported';
  const said = await Promise.resolve(model.availability(options)).catch(() => 'unavailable') as string;
  return { readily: 'available', 'after-download': 'downloadable' }[said] ?? said;
}

/** Downloads the model to this device; requires a recent click. */
export async function download(onProgress: (share: number) => void) {
  const monitor = (made: EventTarget) => made.addEventListener('downloadprogress', (event) => onProgress((event as ProgressEvent).loaded));
  (await languageModel().create({ ...expected(false), monitor })).destroy();
}

const parsed = (json: string) => {
  try {
    return JSON.parse(json) as Json;
  } catch {
    return {};
  }
};

/** Converts the conversation to prompts. `native`: calls and results are separate parts; otherwise tools are described in the
 *  system text, and a JSON Schema constrains the reply: one call, or the answer. */
function prompts(messages: Message[], tools: Tool[], native: boolean) {
  const all: Prompt[] = [];
  const names = new Map<string, string>();
  messages.forEach(({ role, content, tool_calls: calls = [], tool_call_id: id = '' }, index) => {
    const words = typeof content === 'string' ? content : ((content ?? []) as { text?: string }[]).map((part) => part.text ?? '').join('');
    const add = (as: string, parts: Part[]) => {
      const last = all.at(-1);
      const isAnswer = (some: Part[]) => some[0]?.type === 'tool-response';
      // Tool results are separate prompts; all other consecutive messages of one role are one prompt.
      if (last?.role === as && isAnswer(last.content) === isAnswer(parts)) last.content.push(...parts);
      else all.push({ role: as, content: parts });
    };
    if (role === 'assistant') {
      const called = calls.map(({ id: callID, function: { name, arguments: json } }) => {
        names.set(callID, name);
        const args = parsed(json);
        return native ? { type: 'tool-call', value: { callID, name, arguments: args } } : text(JSON.stringify({ arguments: args, tool: name }));
      });
      add('assistant', [...(words ? [text(words)] : []), ...called]);
    } else if (role === 'tool') {
      const name = names.get(id) ?? 'the tool';
      const answer = words.startsWith('Error: ') ? { errorMessage: words } : { result: [text(words)] };
      add('user', [native ? { type: 'tool-response', value: { callID: id, name, ...answer } } : text(`Result of ${name}:\n${words}`)]);
    } else if (role === 'system' && index === 0) {
      // There is one system prompt, at the start; a later one is sent as a user message.
      add('system', [text(words + (native || !tools.length ? '' : described(tools)))]);
    } else {
      add('user', [text(words)]);
    }
  });
  const asked = all.at(-1)?.role === 'user' ? all.pop()! : { role: 'user', content: [text('Go on.')] };
  return {
    initialPrompts: all.map(({ role, content }) => ({ role, content: role === 'system' ? content[0]!.value : content })),
    asked: [asked],
    responseConstraint: native || !tools.length ? undefined : constraint(tools),
  };
}

const described = (tools: Tool[]) => `\n\nYou can call one tool at a time. Reply with one JSON object: {"tool": name, "arguments": {…}} to call a tool, or {"answer": text} to give your answer. The tools:${
  tools.map(({ name, description, parameters }) => `\n- ${name}: ${description} Arguments: ${JSON.stringify(parameters)}`).join('')}`;

const shape = (properties: Record<string, Json>) => ({ type: 'object', properties, required: Object.keys(properties), additionalProperties: false });
const constraint = (tools: Tool[]) => ({
  anyOf: [shape({ answer: { type: 'string' } }), ...tools.map(({ name, parameters }) => shape({ tool: { const: name }, arguments: parameters }))],
});

const call = (id: string, name: string, args: Json) => ({ id, type: 'function', function: { name, arguments: JSON.stringify(args ?? {}) } });
const whole = (content: string, calls: object[] = []) =>
  ({ choices: [{ index: 0, message: { content, tool_calls: calls }, finish_reason: calls.length ? 'tool_calls' : 'stop' }] });

/** Converts the model's answer to a chat completion: it is a text, an array of parts, or the constrained object. */
function completion(answer: Json, constrained: boolean) {
  if (constrained && typeof answer === 'string') {
    try {
      const object = JSON.parse(answer) as Json;
      if (typeof object?.tool === 'string') return whole('', [call('', object.tool, object.arguments)]);
      return whole(typeof object?.answer === 'string' ? object.answer : JSON.stringify(object));
    } catch {
      return whole(answer);
    }
  }
  if (!Array.isArray(answer)) return whole(typeof answer === 'string' ? answer : '');
  const isCall = ({ type }: Part) => type === 'tool-call';
  const calls = answer.filter(isCall).map(({ value }) => call(value?.callID ?? '', value?.name ?? '', value?.arguments));
  return whole(answer.filter((part) => !isCall(part)).map(({ value }) => (typeof value === 'string' ? value : '')).join(''), calls);
}

function judged(thrown: Json): Judged {
  const words = errorText(thrown);
  switch (thrown?.name) {
    case 'QuotaExceededError':
      return new Judged({ message: `The conversation is too long for Chrome's built-in model. It says: ${words}`, tooLong: true });
    case 'NotSupportedError': case 'NotAllowedError': case 'TypeError':
      return fatal(`Chrome's built-in model refused the request. It says: ${words}`);
    default:
      return new Judged({ message: `Chrome's built-in model failed. It says: ${words}` });
  }
}

const NOT_DOWNLOADED = 'Chrome\'s built-in model is not downloaded yet: download it in the settings, then run again.';
const MISSING: Record<string, string> = {
  unsupported: `${globalThis.document ? 'This browser has' : 'chrome() needs a page of a browser: this program has'} no built-in model. Chrome on a desktop has one: use it, or choose another provider.`,
  downloadable: NOT_DOWNLOADED,
  downloading: NOT_DOWNLOADED,
  unavailable: 'Chrome\'s built-in model is not available on this device: it needs a recent Chrome, about 22 GB of free disk space, and a strong enough graphics card or processor. chrome://on-device-internals says what is missing.',
};

/** Creates a session that has the conversation, with native tools, or with tools described in the prompt if the browser refuses those. */
async function session(messages: Message[], tools: Tool[], signal: AbortSignal) {
  const model = languageModel();
  const native = expected(true);
  if (tools.length && await availability(native) === 'available') {
    const { initialPrompts, asked } = prompts(messages, tools, true);
    const declared = tools.map(({ name, description, parameters: inputSchema }) => ({ name, description, inputSchema }));
    try {
      return { made: await model.create({ initialPrompts, tools: declared, ...native, signal }), asked, responseConstraint: undefined };
    } catch {
      // Some browsers report that tools are available and then refuse the session.
    }
  }
  const { initialPrompts, asked, responseConstraint } = prompts(messages, tools, false);
  return { made: await model.create({ initialPrompts, ...expected(false), signal }), asked, responseConstraint };
}

async function* texts(made: Json, asked: Prompt[], signal: AbortSignal) {
  try {
    const reader = made.promptStreaming(asked, { signal }).getReader();
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield String(next.value ?? '');
    // The end of the iterator is the end marker, also for an empty answer.
    yield '';
  } catch (thrown) {
    throw judged(thrown);
  } finally {
    made.destroy();
  }
}

/** Calls the model, like a page's `complete` function. */
export async function complete(request: { messages: Message[]; tools?: { function: Tool }[] }, { signal }: { signal: AbortSignal }): Promise<unknown> {
  const there = await availability(expected(false));
  if (there !== 'available') throw fatal(MISSING[there] ?? MISSING['unavailable']!);
  const tools = (request.tools ?? []).map((tool) => tool.function);
  let made: Json;
  try {
    const opened = await session(request.messages, tools, signal);
    made = opened.made;
    const { asked, responseConstraint } = opened;
    if (!tools.length) return texts(made, asked, signal);
    const answer = await made.prompt(asked, { signal, ...(responseConstraint && { responseConstraint }) });
    made.destroy();
    return completion(answer, responseConstraint !== undefined);
  } catch (thrown) {
    made?.destroy();
    throw judged(thrown);
  }
}
