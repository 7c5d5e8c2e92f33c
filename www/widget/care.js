// What follows an answer: related questions, a comment, and the report of a question that was not answered.
import { button, h } from './dom.js';
import { source, titled } from './citations.js';

export { CARE as TEXTS } from './part-texts.js';

const MAX_QUESTION = 500;
const MAX_COMMENT = 1000;
const MAX_RELATED = 3;
const MAX_TITLE = 70;

/** The report of a question that was not answered. It has no key, no answer, and nothing that identifies the visitor. */
export function report({ run, why, page, lang, comment }) {
  const { pathname } = new URL(page);
  return { question: run.task.slice(0, MAX_QUESTION), why, missing: run.searches?.at(-1)?.missing ?? [], ...(comment && { comment: comment.slice(0, MAX_COMMENT) }), page: pathname, lang };
}

/** Sends a report to the site, also while its page is left; a report that gets lost is no loss for the visitor. */
export function send(address, told) {
  const url = new URL(address, document.baseURI);
  if (url.origin !== location.origin && url.protocol !== 'https:') return console.error(`turnwise-agent: the attribute questions must be an https address, not ${url.origin}`);
  return fetch(url, { method: 'POST', body: JSON.stringify(told), headers: { 'content-type': 'application/json' }, credentials: 'omit', keepalive: true }).catch(() => {});
}

/** A field for a comment on a judged answer; `done(comment)` is called once, with nothing if the visitor skips it. */
export function comment(t, done) {
  const field = h('textarea', { rows: 2, maxlength: MAX_COMMENT, 'aria-label': t('comment'), placeholder: t('comment') });
  const form = h('form', { class: 'comment', part: 'comment', },
    field, h('div', { class: 'actions' }, button(t('send'), () => end(field.value.trim()), { class: 'button main' }), button(t('skip'), () => end())));
  const end = (words) => {
    form.remove();
    done(words);
  };
  return form;
}

/** Questions about sections that the run found and its answer does not link to. They cost no request until one is asked. */
export function related({ run, t, linked, ask }) {
  const titles = new Map();
  for (const one of run.found) {
    const title = titled(one);
    if (one.read || !title || title.length > MAX_TITLE || source(linked.map((href) => ({ href, section: '' })), one.href)) continue;
    const parts = title.split(' › ');
    const section = parts.length > 1 ? `${parts.at(-1)} (${parts[0]})` : title;
    if (!titles.has(section)) titles.set(section, t('related', { section }));
  }
  const questions = [...titles.values()].filter((words) => words !== run.task).slice(0, MAX_RELATED);
  if (!questions.length) return undefined;
  return h('ul', { class: 'suggestions', part: 'related', 'aria-label': t('suggestions') }, ...questions.map((words) => h('li', {}, h('button', { type: 'button', part: 'suggestion', onclick: () => ask(words) }, words))));
}
