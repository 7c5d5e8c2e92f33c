// The form in which the visitor chooses a model. The key stays in this page's memory: it is in no attribute, storage or event.
import { button, h } from './dom.js';
import { dress as style } from './part-styles.js';
import { CHOICES } from './providers.js';

export { FORM as TEXTS } from './part-texts.js';

const AUTH = 'https://openrouter.ai/auth';
const KEYS = 'https://openrouter.ai/api/v1/auth/keys';

/** Creates the form. `use({ kind, model, apiKey })` applies the choice, `back()` cancels. `only`: the kind that the site asks for. */
export function chooser({ t, only, model, refused, own, use, back, signIn }) {
  const select = h('select', {}, ...Object.keys(CHOICES).map((kind) => h('option', { value: kind }, t(`way_${kind}`))));
  const name = h('input', { type: 'text', autocomplete: 'off', spellcheck: 'false' });
  const key = h('input', { type: 'password', autocomplete: 'off', spellcheck: 'false' });
  const problem = h('p', { class: 'problem', role: 'alert' }, refused ? t('failed_own') : '');
  const hint = h('p', {});
  const sign = button(t('signIn'), () => signIn(name.value), { class: 'button main' });
  const keyLabel = h('label', {}, t('key'), key);
  const nameLabel = h('label', {}, t('modelName'), name);
  const dress = () => {
    const choice = CHOICES[select.value];
    name.value = (select.value === only && model) || choice.model || '';
    nameLabel.hidden = !choice.model;
    keyLabel.hidden = !choice.key;
    sign.hidden = select.value !== 'openrouter' || !globalThis.crypto?.subtle || window !== top; // OpenRouter's page refuses to be framed
    hint.textContent = choice.key ? t('keyMemory') : select.value === 'ollama' ? t('ollamaHint', { origin: location.origin }) : '';
    hint.hidden = !hint.textContent;
  };
  const take = async (event) => {
    event.preventDefault();
    const kind = select.value;
    const choice = CHOICES[kind];
    if (choice.key && !key.value.trim()) {
      problem.textContent = t('needKey');
      return key.focus();
    }
    if (kind === 'prompt-api' && !(await builtIn(t, problem))) return undefined;
    return use({ kind, ...(choice.model && { model: name.value.trim() || choice.model }), ...(choice.key && { apiKey: key.value.trim() }) });
  };
  select.value = Object.hasOwn(CHOICES, only) ? only : 'openrouter';
  select.addEventListener('change', dress);
  const form = h('form', { class: 'keys', part: 'keys', onkeydown: (event) => event.key === 'Enter' && event.target.tagName === 'INPUT' && take(event) },
    h('h3', {}, t('keyTitle')), h('p', {}, t(own ? 'keyOwn' : 'keyWhy')), h('label', {}, t('way'), select), sign, nameLabel, keyLabel, hint, problem,
    h('div', { class: 'actions' }, button(t('use'), take, { class: 'button main' }), button(t('back'), back)));
  dress();
  queueMicrotask(() => style(form)); // it is in the panel then
  return form;
}

/** Checks whether the browser's model is available; downloads it if possible. */
async function builtIn(t, problem) {
  const { availability, download } = await import('./prompt-api.js');
  const there = await availability();
  if (there === 'available') return true;
  problem.textContent = t('builtInMissing');
  if (there !== 'downloadable' && there !== 'downloading') return false;
  try {
    await download((share) => { problem.textContent = t('builtInDownload', { percent: Math.round(share * 100) }); });
    return true;
  } catch (error) {
    console.error('turnwise-agent: the model could not be downloaded', error);
    problem.textContent = t('failed_own');
    return false;
  }
}

const urlSafe = (bytes) => btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');

/** Goes to OpenRouter (PKCE, RFC 7636). The verifier is stored in the tab; the question and the panel are restored with the page. */
export async function leave(store, model) {
  const verifier = urlSafe(crypto.getRandomValues(new Uint8Array(32)));
  const challenge = urlSafe(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))));
  store.put('signin', JSON.stringify({ verifier, model }));
  store.open('signin');
  const callback = new URL(location.href);
  callback.hash = '';
  location.assign(`${AUTH}?${new URLSearchParams({ callback_url: callback.href, code_challenge: challenge, code_challenge_method: 'S256' })}`);
}

/** Handles the return from OpenRouter: removes the code from the URL and exchanges it for a key. `undefined` if no sign-in was begun. */
export async function comeBack(store) {
  const here = new URL(location.href);
  const [code, refused] = [here.searchParams.get('code'), here.searchParams.get('error')];
  if (!code && !refused) return undefined;
  const gone = store.take('signin');
  if (!gone) return undefined;
  for (const name of ['code', 'error', 'error_description', 'state']) here.searchParams.delete(name);
  history.replaceState(history.state, '', here);
  if (refused) throw new Error(refused.slice(0, 80));
  const { verifier, model } = JSON.parse(gone);
  const response = await fetch(KEYS, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ code, code_verifier: verifier, code_challenge_method: 'S256' }) });
  const { key } = await response.json().catch(() => ({}));
  // The response's own text may quote the request, so it is not shown.
  if (!response.ok || !key) throw new Error(`HTTP ${response.status}`);
  return { kind: 'openrouter', model: model || CHOICES.openrouter.model, apiKey: key };
}
