// The panel's texts, in English; those in other languages are in texts/ and loaded with the panel. A site can replace any of
// them: element.texts = { placeholder: '…' }. `{name}` is a placeholder.
import { NAMES } from './providers.js';

export const TEXTS = {
  label: 'Ask the docs', heading: 'Ask the docs', placeholder: 'Ask a question', followUp: 'Ask a follow-up',
  greeting: 'What would you like to know?', about: 'The answer comes from the pages of this site and links to their sections.',
  suggestions: 'Examples',
  send: 'Send', stop: 'Stop', stopping: 'Wrapping up', wrapUp: 'Wrap up', close: 'Close', menu: 'Menu', transcript: 'Conversation', newConversation: 'New conversation',
  openApp: 'Open in the app', download: 'Download the record', model: 'Model and key',
  docs_finding: 'Looking for the docs of this site', docs_loading: 'Reading the docs: {done} of {total} pages', docs_indexing: 'Preparing the search: {done} of {total} pages',
  docs_failed: 'The docs of this site could not be read. Only the owner of this site can repair that.', docs_part: '{read} of {pages} pages were read, those nearest to this page first; the others are found by their titles.',
  starting: 'Starting', thinking: 'Thinking',
  search_docs: 'Searched', read_page: 'Read', list_pages: 'Listed the pages', search_files: 'Searched', read_file: 'Read', list_files: 'Listed the files', calculate: 'Calculated',
  tool: 'Tool {name}', toolRunning: 'running', toolFailed: 'failed', toolRefused: 'not allowed', arguments: 'Arguments', sawTitle: 'What the model saw',
  retry: 'Trying again in {s} s', retrying: 'Trying again',
  synthesis: 'Synthesis: {why}', trigger_max_turns: 'the turn limit was reached', trigger_stop: 'you asked it to wrap up', trigger_context: 'the context window is full',
  trigger_wall_time: 'the time is up', trigger_tokens: 'the token budget is used up', trigger_cost: 'the cost budget is used up',
  sources: 'Sources', newTab: 'opens in a new tab', notRead: 'not read for this answer', good: 'Good answer', bad: 'Bad answer', thanks: 'Thank you.', copy: 'Copy the answer', copyCode: 'Copy the code', copied: 'Copied.', copyFailed: 'This page does not allow copying. The text is selected: press Ctrl+C.',
  turn: '1 turn', turns: '{n} turns', meter: 'Turn {n} of {max}, {left} left', meterSynthesis: 'Synthesis after {n} of {max} turns',
  ended: 'Answered in {turns}.', endedSynthesis: 'Concluded after {turns}: {why}.', endedNoSynthesis: 'Ended after {turns}: {why}.',
  cancelled: 'Stopped.', continue: 'Continue', again: 'Try again', lost: 'One earlier answer could not be shown.', lostTask: 'One earlier answer could not be shown: “{task}”', useKey: 'Use your own key',
  wants: 'The assistant wants to use {name}.', allow: 'Allow', allowAlways: 'Allow for this answer', deny: 'Don’t allow', asksYou: 'Waiting for you',
  contact: 'Contact a person',
  answerReady: 'Answer:', offline: 'You are offline. Connect, then try again.',
  failed_busy: 'The model is busy. Try again in a minute.', failed_cut: 'The answer was interrupted. Try again.', failed_long: 'This conversation is too long for the model. Start a new one.',
  failed_reach: 'The assistant’s server does not answer. Check your connection and try again. If that does not help, only the owner of this site can repair it.', failed_reply: 'The model gave no usable answer. Try again, or ask in other words.',
  failed_site: 'The assistant does not work. Reload the page. If that does not help, only the owner of this site can repair it.', failed_own: 'The model that you chose does not answer. Check your key, your credit and your connection, or choose another model.',
  'way_prompt-api': 'Built into this browser', way_demo: 'Demo: scripted, not an AI', way_ollama: 'Ollama on this computer',
  back: 'Back', signInFailed: 'Sign-in failed. Try again, or paste a key.',
  demo: 'Demo: scripted, not an AI', answersBy: '{model}: answers may be wrong, check the sections',
  docs_shell: 'Only this page could be read: the site shows its pages by scripts.',
  reports: 'Questions without an answer go to this site',
};

// Names also come from models and pages, and every object has a `constructor`.
const at = (of, name) => (of && Object.hasOwn(of, name) ? of[name] : undefined);

/** Adds the texts of a module that loads on first use, and returns the module. */
export function withTexts(module) {
  Object.assign(TEXTS, module.TEXTS);
  return module;
}

/**
 * Returns a function that gives a text by its name and values. The site's own texts come first, then those of the language
 * (`shipped`), then English. A text with the number `n` may have a form for each plural of the language: `turns_few`.
 */
export function speak(language, own, shipped) {
  return (name, values = {}) => {
  const form = 'n' in values && `${name}_${new Intl.PluralRules(shipped ? language : 'en').select(values.n)}`;
  const text = at(own, form) ?? at(own, name) ?? at(shipped, form) ?? at(shipped, name) ?? at(TEXTS, name) ?? at(NAMES, name) ?? name;
  return String(text).replace(/\{(\w+)\}/g, (all, key) => at(values, key) ?? all);
  };
}

/** Tools whose calls have their own text. */
const TOOLS = new Set(['search_docs', 'read_page', 'list_pages', 'search_files', 'read_file', 'list_files', 'calculate']);
/** The same to a visitor. */
const LIKE = { search_web: 'search_docs', fetch_url: 'read_page' };
const MAX_NAME = 80;

/** Returns the text for a tool call; a model may call a tool by any name. */
export const toolWords = (t, name) => (TOOLS.has(name) || Object.hasOwn(LIKE, name) ? t(LIKE[name] ?? name) : t('tool', { name: String(name).slice(0, MAX_NAME) }));
