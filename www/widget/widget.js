// The panel of <turnwise-agent>: it draws, and sends what the visitor does to the agent's worker. No rule of a run and no
// WebAssembly is in the host's page.
import { build, drawEmpty, drawMenu, drawMeter, drawProblem, drawProgress, drawSend, follow, follows } from './parts.js';
import { Link, blockedBy, needed } from './link.js';
import { answersBy, complete, provider } from './provider.js';
import { place } from './store.js';
import { styles } from './styles.js';
import { speak } from './texts.js';
import { RunView, fresh } from './transcript.js';

/** A question of nobody's who waits for its end in code. */
const waiting = (text) => ({ text, resolve() {}, reject() {} });
const handing = () => import('./hand-over.js');
const KINDS = { modal: 'modal', inline: 'inline', iframe: 'frame' };

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
    this.#el = build(host, this.#kind, {
      t: this.#t, forget: () => this.#forget(), menu: (open) => this.#menu(open), submit: (event) => this.#submit(event), grow: () => this.#grow(), key: (event) => this.#key(event),
      // Seen by nobody yet; whoever touches it means it.
      touched: () => this.#start().catch(() => {}),
    });
    this.#restore();
    this.update();
  }

  #t = (name, values) => speak(this.#host.element.language, this.#host.element.texts)(name, values);

  /** Words and places that come from the tag. */
  update() {
    const { element } = this.#host;
    const t = this.#t;
    this.#el.title.textContent = element.heading || element.label || t('heading');
    this.#el.panel.setAttribute('aria-label', this.#el.title.textContent);
    this.#el.input.placeholder = this.#views.length ? t('followUp') : element.placeholder || t('placeholder');
    this.#el.input.setAttribute('aria-label', this.#el.input.placeholder);
    this.#el.by.textContent = answersBy(element, this.#chosen, t);
    if (!this.#views.length && !this.#el.column.querySelector('.keys, .blocked')) drawEmpty(this.#el, element, t, (words) => this.ask(words).catch(() => {}));
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
    follow(this.#el, this.#views.at(-1)?.top);
    // On a touch screen the keyboard would cover what there is to read.
    if (focus) (matchMedia('(pointer: coarse)').matches ? panel : input).focus();
  }

  hide() {
    const { panel } = this.#el;
    this.#menu(false);
    if (panel.open) panel.close();
    if (panel.matches(':popover-open')) panel.hidePopover();
    panel.classList.remove('open');
    this.#store.open('');
  }

  /** Everything ends: worker, timers, requests. */
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
    const { element, source, page, html, bridge } = this.#host;
    const link = this.#link = new Link(source, (event) => this.#heard(event), (request, options) => complete(element, this.#chosen, request, options), bridge);
    const docs = element.docs === 'off' ? undefined : element.docs || 'auto';
    this.#started = link.call('start', {
      docs: docs === 'auto' || !docs ? docs : new URL(docs, document.baseURI).href,
      page: page ?? location.href, html: docs ? html ?? document.documentElement.outerHTML : undefined, after: this.#last, bridged: Boolean(bridge),
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
    const found = blocked ?? blockedBy(error);
    const fix = found && needed(found, this.#host.source);
    drawProblem(this.#el, this.#t, fix, error, () => {
      this.#redraw();
      this.#start().catch(() => {});
    });
    this.#el.docs.replaceChildren();
    this.#host.say('error', { message: error.message, directive: fix?.directive, add: fix && `${fix.directive} ${fix.value}` });
  }

  #heard({ event, data, ...rest }) {
    if (event === 'docs') {
      Object.assign(this.#docs, rest.info);
      return drawProgress(this.#el, this.#t, rest, Boolean(this.#docs.root));
    }
    if (event !== 'run' || !this.#busy) return undefined;
    if (data.type === 'attempt_failed' && data.slugs.some((slug) => /^auth_error$/.test(slug))) this.#busy.run.refused = true;
    if (data.type === 'ended') {
      const fix = this.#link.blocked && needed(this.#link.blocked, this.#host.source);
      if (data.outcome === 'failed' && fix?.directive === 'connect-src') data.words = `${this.#t('blocked')} ${fix.directive} ${fix.value}`;
      data.key = data.outcome === 'failed' && Boolean(this.#busy.run.refused);
    }
    const stick = follows(this.#el);
    this.#busy.event(data);
    if (/^(turn|synthesis|run|ended)/.test(data.type)) drawMeter(this.#el, this.#busy.run, this.#t);
    if (data.type === 'turn_finished' || data.type === 'ended') this.#save();
    if (data.type === 'tool_started') this.#el.status.textContent = this.#t(data.call?.name ?? data.name);
    if (stick) follow(this.#el, this.#busy.top);
    return undefined;
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
    this.#save();
    follow(this.#el, this.#views.at(-1)?.top);
    this.#host.say('run', { task: run.task });
    try {
      await this.#start();
      const ended = await call();
      if (this.#over.signal.aborted) return undefined;
      this.#last = ended.trajectory;
      this.#store.last(ended.trajectory);
      view.colour((text) => this.#link.call('colour', { text })).then(() => this.#save(), () => {});
      const detail = { task: run.task, output: ended.output, outcome: ended.outcome, reason: ended.reason, sources: run.sources };
      if (ended.outcome === 'failed') this.#host.say('error', { ...detail, message: run.ended?.error ?? ended.output });
      else this.#host.say('final', detail);
      this.#el.status.textContent = ended.outcome === 'failed' ? '' : `${t('answerReady')} ${ended.output}`;
      return detail;
    } catch (error) {
      if (this.#over.signal.aborted) return undefined;
      // The worker itself failed; where it never started, that has been said in the run's place.
      const cancelled = error.message === 'cancelled';
      view.event({ type: 'ended', outcome: cancelled ? 'cancelled' : 'failed', reason: cancelled ? 'cancelled' : 'llm_error', output: error.message, turns: run.turns.length });
      if (this.#started && !cancelled) this.#host.say('error', { task: run.task, message: error.message });
      return { task: run.task, output: '', outcome: cancelled ? 'cancelled' : 'failed', reason: error.message, sources: [] };
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
      this.#pending = waiting(run.task);
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
        t: this.#t, only: this.#chosen?.kind ?? element.provider, model: element.model, refused, own: Boolean(provider(element, this.#chosen)),
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
    addEventListener('pagehide', () => this.#save(), { signal: this.#over.signal });
    this.#signedIn();
  }

  /** Back from a sign-in: with the key, what was asked before is asked. */
  async #signedIn() {
    if (!/[?&](code|error)=/.test(location.search)) return;
    try {
      const { comeBack } = await import('./keys.js');
      const chosen = await comeBack(this.#store);
      if (!chosen) return;
      this.#chosen = chosen;
      const text = this.#store.take('question');
      this.#pending = text ? waiting(text) : undefined;
      this.#resume();
    } catch (error) {
      this.#choose();
      this.#el.docs.replaceChildren(this.#t('signInFailed', { why: error.message }));
    }
  }

  #view(run) {
    return new RunView(run, { t: this.#t, base: () => this.#docs.root ?? this.#host.page ?? document.baseURI, docs: () => Boolean(this.#docs.root), newTab: () => Boolean(this.#chosen?.apiKey), act: (name, of) => this.#act(name, of) });
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
    if (!this.#views.length) drawEmpty(this.#el, this.#host.element, this.#t, (words) => this.ask(words).catch(() => {}));
    drawMeter(this.#el, this.#views.at(-1)?.run, this.#t);
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
    const { app } = this.#host.element;
    drawMenu(this.#el, () => this.#menu(false), [
      [t('newConversation'), () => this.#forget(), !this.#busy],
      [t('model'), () => this.#choose(), !this.#busy],
      ...(app ? [[t('openApp'), () => handing().then(({ open }) => open(app, this.#last, (name) => this.#el.docs.replaceChildren(t(name)))), this.#last]] : []),
      [t('download'), () => handing().then(({ save }) => save(this.#last)), this.#last],
    ]);
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
    drawSend(this.#el, this.#t, this.#busy);
    this.#host.pill?.toggleAttribute('data-busy', Boolean(this.#busy));
  }

  #grow() {
    const { input } = this.#el;
    input.style.blockSize = '';
    if (input.value) input.style.blockSize = `${Math.min(144, input.scrollHeight)}px`;
    this.#dress();
  }

  #save() {
    this.#store.runs(this.#views.map(({ run }) => run));
  }
}

export const create = (host) => new Panel(host);
