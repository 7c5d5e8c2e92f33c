// The panel of <turnwise-agent>: it draws, and sends what the visitor does to the agent's worker. No rule of a run and no
// WebAssembly is in the host's page.
import { button, h, icon, iconButton } from './dom.js';
import { Link, needed } from './link.js';
import { answersBy, complete, provider } from './provider.js';
import { place } from './store.js';
import { styles } from './styles.js';
import { speak } from './texts.js';
import { RunView, fresh, meterWords, ticks } from './transcript.js';

const MAX_STORED = 4000;
const KINDS = { modal: 'modal', inline: 'inline' };

class Panel {
  #host; // what the launcher gives: element, root, pill, mark, source, say, close
  #kind;
  #link;
  #started; // promise of the worker with its package
  #store;
  #views = [];
  #busy; // the view of the run under way
  #chosen; // the visitor's own provider, in memory only
  #pending; // a question that waits for a model: { text, resolve, reject }
  #last; // the record of the last run, as text
  #docs = {};
  #over = new AbortController();
  #el = {};

  constructor(host) {
    this.#host = host;
    this.#kind = KINDS[host.element.mode] ?? 'floating';
    this.#store = place(host.element.storageKey);
    const shadow = host.root.getRootNode();
    if (!shadow.adoptedStyleSheets.includes(styles())) shadow.adoptedStyleSheets = [...shadow.adoptedStyleSheets, styles()];
    this.#build();
    this.#restore();
    this.update();
  }

  #t = (name, values) => speak(this.#host.element.language, this.#host.element.texts)(name, values);

  #build() {
    const t = this.#t;
    const el = this.#el;
    el.title = h('h2', { part: 'title' });
    el.meter = h('div', { class: 'meter', part: 'meter', role: 'img', hidden: true });
    el.menuButton = iconButton('more', t('menu'), () => this.#menu(el.menu.hidden), { 'aria-expanded': 'false' });
    el.menu = h('div', { class: 'menu', hidden: true });
    el.column = h('div', { class: 'column' });
    el.scroll = h('div', { class: 'scroll', part: 'transcript', role: 'log', 'aria-live': 'off', 'aria-label': t('transcript'), tabindex: 0 }, el.column);
    el.docs = h('div', { class: 'docs', part: 'progress' });
    el.input = h('textarea', { rows: 1, part: 'input', enterkeyhint: 'send', 'aria-label': t('placeholder') });
    el.send = h('button', { type: 'submit', class: 'send', part: 'send', 'aria-label': t('send'), title: t('send'), disabled: true }, icon('send'));
    el.by = h('p', { class: 'by', part: 'note' });
    el.status = h('div', { class: 'hidden', role: 'status' });
    el.form = h('form', { class: 'ask', part: 'composer', onsubmit: (event) => this.#submit(event) }, h('div', { class: 'box' }, el.input, el.send), el.by);
    const closes = this.#kind !== 'inline';
    const header = h('header', { part: 'header' }, this.#host.mark(), el.title,
      iconButton('plus', t('newConversation'), () => this.#forget()), el.menuButton,
      closes && iconButton('close', t('close'), () => this.#host.close(), { part: 'close' }), el.menu);
    el.panel = h(this.#kind === 'modal' ? 'dialog' : 'section', {
      class: `panel ${this.#kind}`, part: 'panel', role: closes ? 'dialog' : 'region', popover: this.#kind === 'floating' ? 'manual' : undefined,
    }, header, el.meter, el.scroll, el.docs, el.form, el.status, h('span', { class: 'hidden', id: 'new-tab' }, t('newTab')));
    el.input.addEventListener('input', () => this.#grow());
    el.input.addEventListener('keydown', (event) => {
      // While an input method composes, Enter chooses a word.
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      el.form.requestSubmit();
    });
    // Seen by nobody yet; whoever touches it means it.
    el.panel.addEventListener('focusin', () => this.#start().catch(() => {}), { once: true });
    el.panel.addEventListener('keydown', (event) => this.#key(event));
    el.panel.addEventListener('cancel', (event) => {
      event.preventDefault();
      this.#host.close();
    });
    el.panel.addEventListener('click', (event) => el.menu.contains(event.target) || el.menuButton.contains(event.target) || this.#menu(false));
    this.#host.root.append(el.panel);
  }

  /** Words and places that come from the tag. */
  update() {
    const { element } = this.#host;
    const t = this.#t;
    this.#el.title.textContent = element.heading || element.label || t('heading');
    this.#el.panel.setAttribute('aria-label', this.#el.title.textContent);
    this.#el.input.placeholder = this.#views.length ? t('followUp') : element.placeholder || t('placeholder');
    this.#el.input.setAttribute('aria-label', this.#el.input.placeholder);
    this.#el.by.textContent = answersBy(element, this.#chosen, t);
    if (!this.#views.length && !this.#el.column.querySelector('.keys, .blocked')) this.#empty();
  }

  show({ focus }) {
    const { panel, input } = this.#el;
    panel.classList.add('open');
    if (this.#kind === 'modal') {
      if (!panel.open) panel.showModal();
    } else if (this.#kind === 'floating' && panel.showPopover && !panel.matches(':popover-open')) {
      panel.showPopover();
    }
    if (this.#kind !== 'inline') {
      this.#store.open('1');
      this.#start().catch(() => {});
    }
    this.#down(true);
    if (focus) input.focus();
  }

  hide() {
    const { panel } = this.#el;
    this.#menu(false);
    if (panel.open) panel.close();
    if (panel.matches(':popover-open')) panel.hidePopover();
    panel.classList.remove('open');
    this.#store.open('');
  }

  /** Everything ends: the worker, its timers, requests to models. */
  end() {
    this.#over.abort();
    this.#link?.end();
    this.#views.forEach((view) => view.end());
    this.#pending?.reject(new Error('the <turnwise-agent> was removed'));
    this.#chosen = this.#last = undefined;
    this.#el.panel.remove();
  }

  #start() {
    if (this.#started) return this.#started;
    const { element, source } = this.#host;
    const link = this.#link = new Link(source, (event) => this.#heard(event), (request, options) => complete(element, this.#chosen, request, options));
    const docs = element.docs === 'off' ? undefined : element.docs || 'auto';
    this.#started = link.call('start', {
      docs: docs === 'auto' || !docs ? docs : new URL(docs, document.baseURI).href,
      page: location.href, html: docs ? document.documentElement.outerHTML : undefined, after: this.#last,
    });
    this.#started.catch((error) => {
      if (this.#over.signal.aborted) return;
      this.#started = undefined;
      link.end();
      this.#broken(error, link);
    });
    return this.#started;
  }

  /** Why the worker does not start, and what whoever runs the site can do. */
  #broken(error, { blocked }) {
    const t = this.#t;
    const fix = blocked && needed(blocked, this.#host.source);
    const words = fix ? [h('p', {}, t('blocked')), h('code', {}, `${fix.directive} ${fix.value}`)] : [h('p', {}, t('startFailed', { why: error.message }))];
    const again = button(t('again'), () => {
      this.#redraw();
      this.#start().catch(() => {});
    });
    this.#el.column.replaceChildren(h('div', { class: 'blocked', role: 'alert', part: 'problem' }, ...words, h('div', { class: 'actions' }, again)));
    this.#el.docs.replaceChildren();
    this.#host.say('error', { message: error.message, directive: fix?.directive, add: fix && `${fix.directive} ${fix.value}` });
  }

  #heard({ event, data, ...rest }) {
    if (event === 'docs') return this.#progress(rest);
    if (event !== 'run' || !this.#busy) return undefined;
    if (data.type === 'attempt_failed' && data.slugs.some((slug) => /^auth_error$/.test(slug))) this.#busy.run.refused = true;
    if (data.type === 'ended') {
      const fix = this.#link.blocked && needed(this.#link.blocked, this.#host.source);
      if (data.outcome === 'failed' && fix?.directive === 'connect-src') data.words = `${this.#t('blocked')} ${fix.directive} ${fix.value}`;
      data.key = data.outcome === 'failed' && Boolean(this.#busy.run.refused);
    }
    const stick = this.#atEnd();
    this.#busy.event(data);
    if (/^(turn|synthesis|run|ended)/.test(data.type)) this.#drawMeter(this.#busy.run);
    if (data.type === 'turn_finished' || data.type === 'ended') this.#save();
    if (data.type === 'tool_started') this.#el.status.textContent = this.#t(data.call?.name ?? data.name);
    if (stick) this.#down();
    return undefined;
  }

  #progress({ progress, info, failed }) {
    const t = this.#t;
    const { docs } = this.#el;
    if (info) Object.assign(this.#docs, info);
    docs.classList.toggle('bad', Boolean(failed));
    if (failed) docs.replaceChildren(t('docs_failed', { why: failed }));
    else if (progress && progress.stage !== 'ready') docs.replaceChildren(t(`docs_${progress.stage}`, progress), h('progress', progress.total ? { max: progress.total, value: progress.done, 'aria-label': t('docs_finding') } : { 'aria-label': t('docs_finding') }));
    else docs.replaceChildren();
  }

  async ask(text) {
    if (this.#busy) throw new Error('a run is under way');
    if (!text.trim()) throw new TypeError('ask(text): the text is empty');
    const { element } = this.#host;
    if (!provider(element, this.#chosen)) {
      return new Promise((resolve, reject) => {
        this.#pending = { text, resolve, reject };
        this.#choose();
      });
    }
    const run = fresh(text.trim());
    const view = this.#add(run);
    return this.#go(view, () => this.#link.call('ask', { task: run.task, options: this.#options() }));
  }

  #options() {
    const { element } = this.#host;
    const maxTurns = Number(element.maxTurns) || 8;
    return { provider: provider(element, this.#chosen), preset: element.preset || undefined, maxTurns, system: element.system, headers: this.#chosen ? undefined : element.headers };
  }

  /** One run or its continuation, from here to its end. */
  async #go(view, call) {
    const { run } = view;
    const t = this.#t;
    this.#busy = view;
    this.#dress();
    view.say(t('starting'));
    this.#down(true);
    this.#host.say('run', { task: run.task });
    try {
      await this.#start();
      const ended = await call();
      if (this.#over.signal.aborted) return undefined;
      this.#last = ended.trajectory;
      this.#store.last(ended.trajectory);
      const detail = { task: run.task, output: ended.output, outcome: ended.outcome, reason: ended.reason, sources: run.sources };
      if (ended.outcome === 'failed') this.#host.say('error', { ...detail, message: run.ended?.error ?? ended.output });
      else this.#host.say('final', detail);
      this.#el.status.textContent = ended.outcome === 'failed' ? '' : `${t('answerReady')} ${ended.output}`;
      return detail;
    } catch (error) {
      if (this.#over.signal.aborted) return undefined;
      // The worker itself failed; where it never started, that has been said in the run's place.
      view.event({ type: 'ended', outcome: 'failed', reason: 'llm_error', output: error.message, turns: run.turns.length });
      if (this.#started) this.#host.say('error', { task: run.task, message: error.message });
      return { task: run.task, output: '', outcome: 'failed', reason: error.message, sources: [] };
    } finally {
      this.#busy = undefined;
      if (!this.#over.signal.aborted) {
        this.#save();
        this.#dress();
        this.update();
      }
    }
  }

  async #act(name, run) {
    const t = this.#t;
    if (name === 'feedback') {
      this.#save();
      this.#el.status.textContent = t('thanks');
      this.#host.say('feedback', { good: run.feedback, task: run.task, output: run.output, sources: run.sources });
    } else if (name === 'copy') {
      await navigator.clipboard?.writeText(run.output).then(() => { this.#el.status.textContent = t('copied'); }, () => {});
    } else if (name === 'key') {
      this.#pending = { text: run.task, resolve() {}, reject() {} };
      this.#drop(run);
      this.#choose(true);
    } else if (this.#busy) {
      return;
    } else if (name === 'again') {
      this.#drop(run);
      await this.ask(run.task);
    } else if (name === 'continue') {
      const view = this.#views.find((known) => known.run === run);
      view.reopen();
      await this.#go(view, () => this.#link.call('grant', { turns: this.#options().maxTurns }));
    }
  }

  #drop(run) {
    this.#views = this.#views.filter((view) => view.run !== run);
    this.#redraw();
  }

  #choose(refused = false) {
    const { element } = this.#host;
    import('./keys.js').then(({ chooser, leave }) => {
      const form = chooser({
        t: this.#t, only: this.#chosen?.kind ?? element.provider, model: element.model, refused,
        use: (chosen) => {
          this.#chosen = chosen;
          this.#resume();
        },
        back: () => {
          const text = this.#pending?.text;
          this.#pending?.reject(new Error('no model was chosen'));
          this.#pending = undefined;
          this.#redraw();
          if (text) this.#el.input.value = text;
          this.#grow();
        },
        signIn: (model) => {
          this.#store.put('question', this.#pending?.text ?? '');
          leave(this.#store, model);
        },
      });
      this.#el.column.replaceChildren(form);
      form.querySelector('select').focus();
    });
  }

  /** With a model now: what was asked before is asked. */
  #resume() {
    const pending = this.#pending;
    this.#pending = undefined;
    this.#redraw();
    this.update();
    this.#el.input.focus();
    if (pending) this.ask(pending.text).then(pending.resolve, pending.reject);
  }

  #restore() {
    const { runs, last } = this.#store.load();
    this.#last = last;
    for (const run of runs) {
      run.turns.forEach((turn) => { turn.live = false; });
      run.ended ??= { outcome: 'failed', broken: true, reason: 'cancelled', turns: run.turns.length };
      this.#views.push(this.#view(run));
    }
    this.#redraw();
    if (!/[?&](code|error)=/.test(location.search)) return;
    import('./keys.js').then(({ comeBack }) => comeBack(this.#store)).then((chosen) => {
      if (!chosen) return;
      this.#chosen = chosen;
      const text = this.#store.take('question');
      if (text) this.#pending = { text, resolve() {}, reject() {} };
      this.#resume();
    }).catch((error) => {
      this.#choose();
      this.#el.docs.replaceChildren(this.#t('signInFailed', { why: error.message }));
    });
  }

  #view(run) {
    return new RunView(run, { t: this.#t, base: () => this.#docs.root ?? document.baseURI, newTab: () => Boolean(this.#chosen?.apiKey), act: (name, of) => this.#act(name, of) });
  }

  #add(run) {
    const view = this.#view(run);
    if (!this.#views.length || !this.#el.column.querySelector('.run')) this.#el.column.replaceChildren(...this.#views.map((known) => known.element));
    this.#views.push(view);
    this.#el.column.append(view.element);
    return view;
  }

  #redraw() {
    this.#el.column.replaceChildren(...this.#views.map(({ element }) => element));
    if (!this.#views.length) this.#empty();
    this.#drawMeter(this.#views.at(-1)?.run);
  }

  /** What one can ask here. */
  #empty() {
    const { element } = this.#host;
    const t = this.#t;
    let wanted = element.suggestions;
    try {
      wanted = JSON.parse(wanted);
    } catch {
      wanted = wanted.split('|');
    }
    const list = wanted.map((words) => String(words).trim()).filter(Boolean);
    this.#el.column.replaceChildren(h('div', { class: 'empty', part: 'empty' }, h('h3', {}, element.greeting || t('greeting')), element.docs !== 'off' && h('p', {}, t('about')),
      list.length > 0 && h('ul', { class: 'suggestions', 'aria-label': t('suggestions') }, ...list.map((words) => h('li', {}, h('button', { type: 'button', part: 'suggestion', onclick: () => this.ask(words).catch(() => {}) }, words))))));
  }

  #forget() {
    if (this.#busy) return;
    this.#menu(false);
    this.#views = [];
    this.#last = undefined;
    this.#store.clear();
    if (this.#started) this.#link.call('forget').catch(() => {});
    this.#redraw();
    this.update();
    this.#el.input.focus();
  }

  #menu(open) {
    const { menu, menuButton } = this.#el;
    if (menu.hidden === !open) return;
    menu.hidden = !open;
    menuButton.setAttribute('aria-expanded', String(open));
    if (!open) return;
    const t = this.#t;
    const item = (words, act, on = true) => h('button', { type: 'button', disabled: !on, onclick: () => { this.#menu(false); act(); } }, words);
    const app = this.#host.element.app;
    menu.replaceChildren(
      item(t('newConversation'), () => this.#forget(), !this.#busy),
      item(t('model'), () => this.#choose(), !this.#busy),
      ...(app ? [item(t('openApp'), () => this.#handOver(app), this.#last)] : []),
      item(t('download'), () => import('./hand-over.js').then(({ save }) => save(this.#last)), this.#last),
    );
    menu.firstChild.focus();
  }

  #handOver(app) {
    const last = this.#last;
    import('./hand-over.js').then(async ({ handOver, save }) => {
      const taken = await handOver(app, last);
      if (!taken) save(last);
      this.#el.docs.replaceChildren(this.#t(taken ? 'handedOver' : 'notHandedOver'));
    });
  }

  #submit(event) {
    event.preventDefault();
    const { input } = this.#el;
    if (this.#busy) {
      // Once wraps up, twice ends it.
      this.#link?.tell(this.#busy.stopping ? 'cancel' : 'stop');
      this.#busy.stopping = true;
      this.#dress();
      return;
    }
    const text = input.value;
    if (!text.trim()) return;
    input.value = '';
    this.#grow();
    this.ask(text).catch(() => {});
  }

  #key(event) {
    if (event.key !== 'Escape' || event.defaultPrevented) return;
    if (!this.#el.menu.hidden) {
      this.#menu(false);
      this.#el.menuButton.focus();
    } else if (this.#kind === 'inline') {
      return;
    } else {
      this.#host.close();
    }
    event.preventDefault();
    event.stopPropagation();
  }

  /** Send or Stop, and what else depends on whether something runs. */
  #dress() {
    const { send, input, scroll } = this.#el;
    const { pill } = this.#host;
    const running = Boolean(this.#busy);
    const words = this.#t(running ? (this.#busy.stopping ? 'cancel' : 'stop') : 'send');
    send.replaceChildren(icon(running ? (this.#busy.stopping ? 'close' : 'stop') : 'send'));
    send.toggleAttribute('data-stop', running);
    send.setAttribute('aria-label', words);
    send.title = words;
    send.disabled = !running && !input.value.trim();
    scroll.setAttribute('aria-busy', String(running));
    pill?.toggleAttribute('data-busy', running);
  }

  #drawMeter(run) {
    const { meter } = this.#el;
    const all = run ? ticks(run) : [];
    meter.hidden = !all.length;
    meter.replaceChildren(...all.map((kind) => h('i', { class: kind })));
    if (run) meter.setAttribute('aria-label', meterWords(run, this.#t));
  }

  #grow() {
    const { input } = this.#el;
    input.style.blockSize = '';
    if (input.value) input.style.blockSize = `${Math.min(144, input.scrollHeight)}px`;
    this.#dress();
  }

  #atEnd() {
    const { scroll } = this.#el;
    return scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 48;
  }

  #down(always) {
    const { scroll } = this.#el;
    if (always || this.#atEnd() || this.#busy) scroll.scrollTop = scroll.scrollHeight;
  }

  #save() {
    this.#store.runs(JSON.parse(JSON.stringify(this.#views.map(({ run }) => run), (key, value) => (key === 'result' && value?.length > MAX_STORED ? `${value.slice(0, MAX_STORED)}…` : value))));
  }
}

export const create = (host) => new Panel(host);
