// The panel's elements and their content, except the conversation. widget.js decides when to draw.
import { button, h, icon, iconButton } from './dom.js';
import { meterWords, ticks } from './transcript.js';

/**
 * Keys that only the panel should receive. The host sees the tag, not the field in it, and would treat typed text as its own
 * shortcuts: rustdoc opens its search on `s` and `/`, others turn pages with arrow keys. Tab may belong to a focus trap.
 */
const typed = (event) => !/^(Tab|Escape)$/.test(event.key) && (event.getModifierState('AltGraph') || !(event.ctrlKey || event.metaKey || event.altKey));

/** Whether a panel of this kind is above the page. */
export const above = (kind) => /floating|modal/.test(kind);

/** Whether an element, or one around it in the panel, scrolls up and down. */
function scrolls(element, panel) {
  for (let at = element; at !== panel; at = at.parentElement) {
    if (at.scrollHeight > at.clientHeight && /auto|scroll/.test(getComputedStyle(at).overflowY)) return true;
  }
  return false;
}

/** Builds the panel into the launcher's root and wires it to `on`. Returns its elements by name. */
export function build({ root, mark, close }, kind, on) {
  const { t } = on;
  const closes = kind !== 'inline';
  const el = {
    title: h('h2', { part: 'title' }),
    meter: h('div', { class: 'meter', part: 'meter', role: 'img', hidden: true }),
    menu: h('div', { class: 'menu', part: 'menu', hidden: true }),
    column: h('div', { class: 'column' }),
    docs: h('div', { class: 'docs', part: 'progress' }),
    input: h('textarea', { rows: 1, part: 'input', enterkeyhint: 'send' }),
    // No form is submitted: a sandboxed frame may forbid that.
    send: h('button', { type: 'button', class: 'send', part: 'send', 'aria-label': t('send'), title: t('send'), disabled: true, onclick: () => on.submit(true) }, icon('send')),
    wrapUp: button(t('wrapUp'), on.wrapUp, { class: 'button wrap-up', part: 'wrap-up', hidden: true }),
    by: h('p', { class: 'by', part: 'note' }),
    status: h('div', { class: 'hidden', role: 'status' }),
  };
  el.plus = iconButton('plus', t('newConversation'), on.forget);
  el.menuButton = iconButton('more', t('menu'), () => on.menu(el.menu.hidden), { 'aria-expanded': 'false' });
  // Screen readers do not read streamed text word by word: the status announces the progress, and the answer once it is complete.
  el.scroll = h('div', { class: 'scroll', part: 'transcript', role: 'log', 'aria-live': 'off', 'aria-label': t('transcript'), tabindex: 0 }, el.column);
  el.form = h('form', { class: 'ask', part: 'composer' }, h('div', { class: 'box' }, el.input, el.wrapUp, el.send), el.by);
  const header = h('header', { part: 'header' }, mark(), el.title, el.plus, el.menuButton,
    closes && iconButton('close', t('close'), close, { part: 'close' }), el.menu);
  el.panel = h('section', {
    class: `panel ${kind}`, part: 'panel', role: above(kind) ? undefined : closes ? 'dialog' : 'region', popover: above(kind) ? 'manual' : undefined, tabindex: -1,
  }, header, el.meter, el.scroll, el.docs, el.form, el.status, h('span', { class: 'hidden', id: 'new-tab' }, t('newTab')), h('span', { class: 'hidden', id: 'not-read' }, t('notRead')));

  el.input.addEventListener('input', on.grow);
  el.input.addEventListener('keydown', (event) => {
    // While an input method is composing, Enter selects a word.
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    on.submit(false);
  });
  el.menu.addEventListener('focusout', ({ relatedTarget: to }) => to && !el.menu.contains(to) && to !== el.menuButton && on.menu(false));
  el.panel.addEventListener('focusin', on.touched, { once: true });
  el.panel.addEventListener('keydown', on.key);
  for (const type of ['keydown', 'keypress', 'keyup']) el.panel.addEventListener(type, (event) => typed(event) && event.stopPropagation());
  el.panel.addEventListener('click', (event) => el.menu.contains(event.target) || el.menuButton.contains(event.target) || on.menu(false));
  if (kind !== 'frame') el.panel.addEventListener('click', (event) => outside(event, close));
  // Behind the panel, the page does not scroll.
  if (above(kind)) el.panel.addEventListener('wheel', (event) => event.ctrlKey || Math.abs(event.deltaX) > Math.abs(event.deltaY) || scrolls(event.target, el.panel) || event.preventDefault(), { passive: false });
  // The page may have locked scrolling outside of a dialog of its own.
  for (const type of ['wheel', 'touchmove']) el.panel.addEventListener(type, (event) => event.stopPropagation());
  // The name of the panel is that of the dialog.
  el.shell = above(kind) ? h('dialog', { class: `shell ${kind}`, role: 'dialog' }, el.panel) : el.panel;
  root.append(el.shell);
  return el;
}

const SHEET_PX = 640;

/** A host's router cannot see a clicked link inside the shadow root, so a copy that it can see is clicked. */
function outside(event, close) {
  const link = event.target.closest('a');
  if (!link || link.target || link.origin !== location.origin || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  const same = h('a', { href: link.href, hidden: true });
  document.body.append(same);
  same.click();
  same.remove();
  if (innerWidth <= SHEET_PX) close(); // it would hide the target page
}

/** Draws the empty conversation, with suggested questions. */
export function drawEmpty({ column }, element, t, ask) {
  let wanted = element.suggestions;
  try {
    wanted = JSON.parse(wanted);
  } catch {
    wanted = wanted.split('|');
  }
  const list = [wanted].flat().map((words) => String(words).trim()).filter(Boolean);
  const items = list.map((words) => h('li', {}, h('button', { type: 'button', part: 'suggestion', onclick: () => ask(words) }, words)));
  column.replaceChildren(h('div', { class: 'empty', part: 'empty' }, h('h3', {}, element.greeting || t('greeting')),
    element.docs !== 'off' && h('p', {}, t('about')), items.length > 0 && h('ul', { class: 'suggestions', 'aria-label': t('suggestions') }, ...items)));
}

export function drawMeter({ meter }, run, t) {
  const all = run ? ticks(run) : [];
  meter.hidden = !all.length;
  meter.replaceChildren(...all.map((kind) => h('i', { class: `m-${kind}` })));
  if (run) meter.setAttribute('aria-label', meterWords(run, t));
}

/** `items`: [label, action, whether it is enabled]. */
export function drawMenu({ menu }, close, items) {
  menu.replaceChildren(...items.map(([words, act, on]) => h('button', { type: 'button', disabled: !on, onclick: () => { close(); act(); } }, words)));
  menu.querySelector('button:not(:disabled)')?.focus();
}

/** Shows, in place of the conversation, that the engine does not start. */
export function drawProblem({ column, docs }, t, again) {
  column.replaceChildren(h('div', { class: 'blocked', role: 'alert', part: 'problem' }, h('p', {}, t('failed_site')), h('div', { class: 'actions' }, button(t('again'), again))));
  docs.replaceChildren();
}

/** Shows the progress of reading the docs, and what went wrong. `site`: what is known of the docs, once questions are possible. */
export function drawProgress({ docs }, t, { progress, failed }, { root, shell, complete, read, pages }) {
  const over = !progress || progress.stage === 'ready' || (root && progress.done >= progress.total);
  docs.classList.toggle('bad', Boolean(failed || shell));
  if (failed) docs.replaceChildren(t('docs_failed'));
  else if (shell) docs.replaceChildren(t('docs_shell'));
  else if (!over) {
    const bar = h('progress', { 'aria-label': t('docs_finding'), ...(progress.total && { max: progress.total, value: progress.done }) });
    docs.replaceChildren(t(`docs_${progress.stage}`, progress), bar);
  } else docs.replaceChildren(complete && read < pages ? t('docs_part', { read, pages }) : '');
}

/** Draws the Send button, or the one that ends the current run. */
export function drawSend({ send, input, scroll, plus, wrapUp }, t, busy) {
  const words = busy ? 'stop' : 'send';
  send.replaceChildren(icon(words));
  send.toggleAttribute('data-stop', Boolean(busy));
  send.setAttribute('aria-label', t(words));
  send.title = t(words);
  if (busy) send.setAttribute('aria-keyshortcuts', 'Control+. Meta+.');
  else send.removeAttribute('aria-keyshortcuts');
  send.disabled = busy ? busy.stopping : !input.value.trim();
  drawWrapUp(wrapUp, busy);
  plus.disabled = Boolean(busy);
  scroll.setAttribute('aria-busy', String(Boolean(busy)));
}

/** Offers to wrap the current run up, while that makes sense. */
export function drawWrapUp(wrapUp, busy) {
  wrapUp.hidden = !busy || busy.stopping || busy.wrapping || !busy.hasGathered;
}

/** Whether the view follows new content; a reader who scrolled up stays where they are. */
export const follows = ({ scroll }) => scroll.scrollTop >= (Number(scroll.dataset.at) || 0) - 4;

/** Scrolls to the latest content, but never past `top`, where the answer begins and reading starts. */
export function follow({ scroll }, top) {
  const past = top ? top.getBoundingClientRect().top - scroll.getBoundingClientRect().top + scroll.scrollTop - 12 : Infinity;
  scroll.scrollTop = Math.min(past, scroll.scrollHeight);
  scroll.dataset.at = scroll.scrollTop;
}
