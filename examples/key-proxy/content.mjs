// What a request to the model may contain: known fields of known types, in every part of it. Other fields are left out, since they
// could cost more (hosted tools, service tiers, several answers). Parts that are not text, and anything that would make the model
// server read from an address, are refused.

/** No request of an agent is nested as deeply; one that is could end whatever reads it. */
const MAX_DEPTH = 64;
const ROLES = ['system', 'developer', 'user', 'assistant', 'tool'];
/** The pictures that may be sent, and how their data begins. SVG is not one: it can refer to other addresses. */
const PICTURES = { png: 'iVBORw0KGgo', jpeg: '/9j/', gif: 'R0lGOD', webp: 'UklGR' };
/** What a schema may say under these keys. Some servers read the document that a reference names. */
const LOCAL = /^#/;
const REFERENCES = { $ref: LOCAL, $dynamicRef: LOCAL, $recursiveRef: LOCAL, $id: /^[\w.#-]*$/, id: /^[\w.#-]*$/, $schema: /^https?:\/\/json-schema\.org\// };

const isText = (value) => typeof value === 'string';
const isTextOrNull = (value) => value === null || isText(value);
const isNumber = (value) => typeof value === 'number';
const isFlag = (value) => typeof value === 'boolean';
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

const isTokens = (value) => value >= 1 && Number.isInteger(value);
/** The fields of a request that are sent on, and the form of each. A test of Turnwise checks that all fields which it sends are here. */
const FIELDS = {
  stream: isFlag, stream_options: { include_usage: isFlag },
  temperature: isNumber, top_p: isNumber, seed: isNumber,
  stop: (value) => isText(value) || (Array.isArray(value) && value.every(isText)),
  parallel_tool_calls: isFlag,
  reasoning_effort: isText, reasoning: { effort: isText, enabled: isFlag, exclude: isFlag, max_tokens: isTokens },
  thinking: { type: isText, budget_tokens: isTokens, keep: isText, clear_thinking: isFlag },
  enable_thinking: isFlag, thinking_budget: isTokens, preserve_thinking: isFlag, reasoning_split: isFlag, reasoning_format: isText,
};
/** In messages of the model: most models of this kind want their thoughts back. */
const THOUGHTS = { reasoning_content: isText, reasoning: isText };
/** OpenRouter needs the reasoning of a tool turn back unchanged. */
const REASONING = { type: isText, id: isTextOrNull, format: isTextOrNull, index: isNumber, text: isTextOrNull, summary: isTextOrNull, data: isTextOrNull, signature: isTextOrNull };

/** Why a request is not forwarded: the code is part of the answer, like the message. */
export class Refused extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

const invalid = (message) => { throw new Refused('invalid_request', message); };
const foreign = (message) => { throw new Refused('content_not_allowed', message); };

/**
 * Returns the request to forward, with no more tokens and pictures than the site pays for: thoughts count as output, and the limit has the
 * name that the model takes (`limitOf`). Throws `Refused`.
 */
export function allowed(asked, { maxTokens, maxPictures, limit }) {
  if (isDeeper(asked, MAX_DEPTH)) invalid('The request is nested too deeply.');
  const site = { maxPictures, pictures: 0 };
  const sent = { model: asked.model, messages: asked.messages.map((message, at) => messageOf(message, `messages[${at}]`, site)), ...pick(asked, FIELDS) };
  if (Array.isArray(asked.tools)) sent.tools = asked.tools.filter((tool) => tool?.type === 'function' && isText(tool.function?.name)).map(toolOf);
  const [choice, format] = [choiceOf(asked.tool_choice), formatOf(asked.response_format)];
  if (choice) sent.tool_choice = choice;
  if (format) sent.response_format = format;
  const capped = (tokens) => Math.min(tokens, maxTokens);
  // Whichever name the page used: a server may ignore the other one.
  sent[limit] = [asked.max_tokens, asked.max_completion_tokens].map(Number).filter((wanted) => wanted >= 1).map(Math.floor).reduce((a, b) => Math.min(a, b), maxTokens);
  // DashScope counts thoughts apart from the answer.
  if (sent.enable_thinking || sent.thinking_budget) sent.thinking_budget = capped(sent.thinking_budget ?? maxTokens);
  if (sent.thinking?.budget_tokens) sent.thinking.budget_tokens = capped(sent.thinking.budget_tokens);
  if (sent.reasoning?.max_tokens) sent.reasoning.max_tokens = capped(sent.reasoning.max_tokens);
  return sent;
}

/**
 * The name of the limit of a reply. OpenAI's models from o1 and GPT-5 on refuse `max_tokens` wherever they are served, except at OpenRouter,
 * which translates it. Other servers may know only `max_tokens`, and some ignore the other name without a word.
 */
export function limitOf(model, baseUrl) {
  const name = model.toLowerCase().split('/').at(-1);
  const isNew = /^o\d/.test(name) || Number(/^gpt-(\d+)/.exec(name)?.[1]) >= 5;
  return isNew && !/(^|\.)openrouter\.ai$/.test(new URL(baseUrl).hostname) ? 'max_completion_tokens' : 'max_tokens';
}

function messageOf(told, where, site) {
  if (!ROLES.includes(told?.role)) invalid(`${where} has no role that is known here.`);
  const sent = { role: told.role, ...pick(told, { name: isText, tool_call_id: isText }) };
  if (told.content !== undefined) sent.content = contentOf(told, where, site);
  if (told.role !== 'assistant') return sent;
  Object.assign(sent, pick(told, THOUGHTS));
  if (Array.isArray(told.tool_calls)) sent.tool_calls = told.tool_calls.map((call, at) => callOf(call, `${where}.tool_calls[${at}]`));
  if (Array.isArray(told.reasoning_details)) sent.reasoning_details = told.reasoning_details.filter(isObject).map((detail) => pick(detail, REASONING));
  return sent;
}

function contentOf({ role, content }, where, site) {
  if (isTextOrNull(content)) return content;
  if (!Array.isArray(content)) return invalid(`The content of ${where} is neither a text nor a list of parts.`);
  return content.map((part) => {
    if (part?.type === 'text' && isText(part.text)) return { type: 'text', text: part.text };
    if (part?.type === 'image_url' && role === 'user' && site.maxPictures) return pictureOf(part.image_url?.url, where, site);
    return foreign(site.maxPictures ? `${where} has a part that is neither a text nor a picture of a user.` : `${where} has a part that is not a text: this site takes texts only.`);
  });
}

/** A picture in the request itself. The model server would fetch one that is an address, from where this site does not know. */
function pictureOf(url, where, site) {
  const [head, data] = isText(url) ? [url.slice(0, url.indexOf(',')), url.slice(url.indexOf(',') + 1)] : [];
  const begins = PICTURES[/^data:image\/([a-z]+);base64$/.exec(head)?.[1]];
  if (!begins || !data.startsWith(begins) || /[^A-Za-z\d+/=]/.test(data)) foreign(`${where} has a picture that is not a data: URL of a PNG, JPEG, GIF or WebP.`);
  site.pictures += 1;
  if (site.pictures > site.maxPictures) foreign(`A request may have ${site.maxPictures} pictures at most.`);
  return { type: 'image_url', image_url: { url } };
}

function callOf(call, where) {
  const { name, arguments: given } = isObject(call?.function) ? call.function : {};
  if (!isText(call?.id) || !isText(name) || !isText(given)) invalid(`${where} is not the call of a function.`);
  return { id: call.id, type: 'function', function: { name, arguments: given } };
}

function toolOf({ function: told }) {
  const sent = pick(told, { name: isText, description: isText, strict: isFlag });
  if (isObject(told.parameters)) sent.parameters = schemaOf(told.parameters);
  return { type: 'function', function: sent };
}

function choiceOf(told) {
  if (['auto', 'none', 'required'].includes(told)) return told;
  return told?.type === 'function' && isText(told.function?.name) ? { type: 'function', function: { name: told.function.name } } : undefined;
}

function formatOf(told) {
  if (['text', 'json_object'].includes(told?.type)) return { type: told.type };
  if (told?.type !== 'json_schema' || !isObject(told.json_schema)) return undefined;
  const sent = pick(told.json_schema, { name: isText, description: isText, strict: isFlag });
  if (isObject(told.json_schema.schema)) sent.schema = schemaOf(told.json_schema.schema);
  return { type: 'json_schema', json_schema: sent };
}

/** A schema as it is. One that refers to another document is refused. */
function schemaOf(schema) {
  for (const [key, value] of Object.entries(schema)) {
    if (typeof value === 'object' && value !== null) schemaOf(value);
    else if (isText(value) && Object.hasOwn(REFERENCES, key) && !REFERENCES[key].test(value)) foreign(`A schema refers to another document, by ${key}.`);
  }
  return schema;
}

/** The fields of an object that are listed, if they are of the right type, or objects with listed fields. */
const pick = (value, fields) => Object.fromEntries(Object.keys(fields).filter((name) => (isObject(fields[name]) ? isObject(value[name]) : fields[name](value[name])))
  .map((name) => [name, isObject(fields[name]) ? pick(value[name], fields[name]) : value[name]]));

const isDeeper = (value, most) => typeof value === 'object' && value !== null && (most === 0 || Object.values(value).some((inner) => isDeeper(inner, most - 1)));
