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

const SETTINGS = {
  stream: isFlag, temperature: isNumber, top_p: isNumber, seed: isNumber, parallel_tool_calls: isFlag,
  stop: (value) => isText(value) || (Array.isArray(value) && value.every(isText)),
};
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

/** Returns the request to forward, with no more tokens and pictures than the site pays for. Throws `Refused`. */
export function allowed(asked, { maxTokens, maxPictures }) {
  if (isDeeper(asked, MAX_DEPTH)) invalid('The request is nested too deeply.');
  const site = { maxPictures, pictures: 0 };
  const sent = { model: asked.model, messages: asked.messages.map((message, at) => messageOf(message, `messages[${at}]`, site)), ...pick(asked, SETTINGS) };
  if (isObject(asked.stream_options)) sent.stream_options = pick(asked.stream_options, { include_usage: isFlag });
  if (Array.isArray(asked.tools)) sent.tools = asked.tools.filter((tool) => tool?.type === 'function' && isText(tool.function?.name)).map(toolOf);
  const [choice, format] = [choiceOf(asked.tool_choice), formatOf(asked.response_format)];
  if (choice) sent.tool_choice = choice;
  if (format) sent.response_format = format;
  const name = asked.max_completion_tokens === undefined ? 'max_tokens' : 'max_completion_tokens';
  const wanted = Number(asked[name]);
  sent[name] = wanted >= 1 ? Math.min(Math.floor(wanted), maxTokens) : maxTokens;
  return sent;
}

function messageOf(told, where, site) {
  if (!ROLES.includes(told?.role)) invalid(`${where} has no role that is known here.`);
  const sent = { role: told.role, ...pick(told, { name: isText, tool_call_id: isText }) };
  if (told.content !== undefined) sent.content = contentOf(told, where, site);
  if (told.role !== 'assistant') return sent;
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

/** The fields of an object that are listed, if they are of the right type. */
const pick = (value, fields) => Object.fromEntries(Object.keys(fields).filter((name) => fields[name](value[name])).map((name) => [name, value[name]]));

const isDeeper = (value, most) => typeof value === 'object' && value !== null && (most === 0 || Object.values(value).some((inner) => isDeeper(inner, most - 1)));
