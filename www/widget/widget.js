// The panel of <turnwise-agent>: it draws, and passes the visitor's actions to the conversation. The host's page contains no
// rules of a run and no WebAssembly: they are in the engine's worker.
import { above, build, drawEmpty, drawMenu, drawMeter, drawProblem, drawProgress, drawSend, drawWrapUp, follow, follows } from './parts.js';
import { Choice } from './choice.js';
import { Conversation } from './conversation.js';
import { livePage, web } from './dom.js';
import { details, failure } from './failures.js';
import { fit } from './fit.js';
import { Layer } from './layer.js';
import { answersBy, settings } from './provider.js';
import { place } from './store.js';
import { dress } from './styles.js';
import { speak, toolWords, withTexts } from './texts.js';
import { LostView, RunView, fresh, revived } from './transcript.js';
import { inside } from './turnwise.js';

const handing = () => import('./hand-over.js').then(withTexts);
const caring = () => import('./care.js').then(withTexts);
const REMOVED = 'the <turnwise-agent> was removed';
const KINDS = { __proto__: null, modal: 'modal', inline: 'inline', iframe: 'frame' };

class Panel {
  #host; // from the launcher: element, root, pill, mark, source, refused (the origin of a `src` that was refused), say, close
  #kind;
  #talk; // the conversation, once it has been started
  #halt = () => {}; // ends a run whose worker has not started yet
  #started; // promise: the engine is running
  #store;
  #views = [];
  #busy; // the view of the current run
  #ended; // the event of its end; drawn once its record is available, so that the actions offered then work
  #choice;
  #current; // the last view that ran here: the one that can continue
  #last; // the record of the last run, as text
  #after; // the record that a follow-up continues from: never a failed run's
  #docs = {};
  #over = new AbortController();
  #read; // the scroll position of the conversation when the panel was closed
  #layer; // of a panel above the page
  #at = 0; // where the conversation is scrolled to, and the element with the focus: lost if the page takes the panel out and puts it back
  #held;
  #unfit = () => {}; // ends keeping the panel inside the visible part of the page
  #owed; // { run, tell }: a badly judged answer, reported once its comment is written or skipped
  #stored = []; // the runs of the conversation as they were stored
  #el = {};

  constructor(host) {
    this.#host = host;
    this.#kind = KINDS[host.element.mode] ?? 'floating';
    // Where the page itself is read, what was said of it goes with the page.
    this.#store = place(host.element.storageKey, host.element.docsLivePage !== 'include');
    dress(host.root.getRootNode());
    this.#el = build(host, this.#kind, {
      t: this.#t, forget: () => this.#forget(), menu: (open) => this.#menu(open), submit: (pressed) => this.#submit(pressed), wrapUp: () => this.#wrapUp(), grow: () => this.#grow(), key: (event) => this.#key(event),
      // Until then the panel may not have been noticed; an interaction shows intent.
      touched: () => this.#start().catch(() => {}),
    });
    const { panel, scroll } = this.#el;
    if (above(this.#kind)) this.#layer = new Layer(this.#el.shell, { modal: this.#kind === 'modal', focus: () => this.#focus(), close: host.close });
    scroll.addEventListener('scroll', () => { this.#at = scroll.scrollTop; });
    panel.addEventListener('focusin', ({ target }) => { this.#held = target; });
    // Where the page takes the panel out, the focus goes too, but nobody took it elsewhere.
    panel.addEventListener('focusout', () => queueMicrotask(() => { if (panel.isConnected && !panel.contains(panel.getRootNode().activeElement)) this.#held = undefined; }));
    this.#choice = new Choice({
      element: host.element, store: this.#store, t: this.#t, ask: (text) => this.ask(text),
      draw: (form) => {
        this.#el.column.replaceChildren(form);
        form.querySelector('select').focus();
      },
      leave: (text) => {
        this.#redraw();
        this.#el.input.value ||= text ?? '';
        this.#grow();
      },
      ready: () => this.#afresh(),
    });
    this.#restore();
    const { signal } = this.#over;
    addEventListener('pagehide', () => { this.#pay(); this.#save(); }, { signal });
    // The browser restored this page from its cache: the conversation may have continued elsewhere.
    addEventListener('pageshow', ({ persisted }) => persisted && this.#catchUp(), { signal });
    this.#choice.back().catch((error) => {
      this.#choice.show();
      this.#el.docs.replaceChildren(this.#t('signInFailed'));
      this.#fault(`sign-in: ${error.message}`);
    });
    this.update();
    if (host.refused) this.#start().catch(() => {});
  }

  #t = (name, values) => speak(this.#host.element.language, this.#host.element.texts, this.#host.words)(name, values);

  /** Updates the texts that come from the tag. */
  update() {
    const { element } = this.#host;
    const t = this.#t;
    this.#el.title.textContent = element.heading || element.label || t('heading');
    this.#el.shell.setAttribute('aria-label', this.#el.title.textContent);
    this.#el.input.placeholder = this.#views.length ? t('followUp') : element.placeholder || t('placeholder');
    this.#el.input.setAttribute('aria-label', this.#el.input.placeholder);
    this.#el.by.textContent = [answersBy(element, this.#choice.chosen, t), element.questions && t('reports')].filter(Boolean).join('. ');
    if (!this.#views.length && !this.#el.column.querySelector('.keys, .blocked')) drawEmpty(this.#el, element, t, (words) => this.ask(words).catch(() => {}));
  }

  show({ focus }) {
    const { panel, scroll } = this.#el;
    const opens = !panel.classList.contains('open');
    dress(panel.getRootNode());
    panel.classList.add('open');
    if (opens && this.#layer) this.#unfit = fit(panel);
    this.#grow(); // heights are known now
    const [at, held] = [this.#at, this.#held];
    this.#layer?.show(focus);
    if (this.#kind !== 'inline') {
      this.#store.open('1');
      this.#start().catch(() => {});
    }
    if (opens && this.#read === undefined) follow(this.#el, this.#views.at(-1)?.top);
    else if (opens) scroll.scrollTop = this.#read;
    else if (at && !scroll.scrollTop) this.#busy && at >= scroll.dataset.at - 4 ? follow(this.#el, this.#busy.top) : scroll.scrollTop = at;
    if (focus && !this.#layer) this.#focus();
    else if (!opens && held && document.activeElement === document.body) held.focus();
  }

  /** Sets the focus. On a touch screen, the keyboard would cover the text, so the field does not get it. */
  #focus() {
    (matchMedia('(pointer: coarse)').matches ? this.#el.panel : this.#el.input).focus();
  }

  /** Draws, and keeps the focus in the panel if the focused element is removed. */
  #keeping(draw) {
    const shadow = this.#el.panel.getRootNode();
    const had = shadow.activeElement;
    draw();
    if (had && !shadow.activeElement) this.#focus();
  }

  get blocked() {
    return this.#layer?.blocked;
  }

  hide() {
    const { panel, scroll } = this.#el;
    this.#read = this.#busy ? undefined : scroll.scrollTop;
    this.#unfit();
    this.#pay();
    this.#menu(false);
    panel.classList.remove('open');
    this.#layer?.hide();
    this.#store.open('');
  }

  /** Ends everything: runs, timers, requests. */
  end() {
    this.#save();
    this.#unfit();
    this.#layer?.hide();
    this.#pay();
    this.#over.abort();
    this.#talk?.end();
    this.#views.forEach((view) => view.end());
    this.#choice.drop(REMOVED);
    this.#choice.chosen = this.#last = this.#after = undefined;
    this.#el.shell.remove();
  }

  /** Starts the engine and reading the docs, or restarts them if the engine is gone. */
  #start() {
    const { refused } = this.#host;
    if (!refused) this.#talk ??= this.#begin();
    const started = refused ? Promise.reject(new Error(`the attribute src names another site, ${refused}; only a script may set that`)) : this.#talk.start();
    if (started !== this.#started) started.catch((error) => this.#over.signal.aborted || this.#broken(error.cause ?? error));
    this.#started = started;
    return started;
  }

  #begin() {
    const { element, page, html } = this.#host;
    const source = element.docs === 'off' ? undefined : element.docs || 'auto';
    const docs = source && {
      source: source === 'auto' ? source : new URL(source, document.baseURI).href, page: page ?? location.href, html: page ? html : livePage(element),
      credentials: element.docsCredentials === 'include' ? 'include' : 'omit',
    };
    return new Conversation({ docs, after: this.#after, hear: (event) => this.#heard(event), approve: (call, { signal }) => this.#permit(call, signal) });
  }

  /** Lets the visitor decide about a call of a tool supplied by the page. No other tool may change anything. */
  #permit(call, signal) {
    if (![this.#host.element.tools ?? []].flat().some(({ name }) => name === call.name)) return false;
    this.#el.status.textContent = this.#t('wants', { name: call.name });
    const answer = this.#busy?.permit(call, signal) ?? false;
    follow(this.#el, this.#busy?.top);
    return answer;
  }

  /** Puts a question into the field, for the visitor to send. */
  write(text) {
    this.#el.input.value = text;
    this.#grow();
    this.#focus();
  }

  /** Shows that the engine does not start, and reports why. */
  #broken(error) {
    const { blocked: fix } = error;
    drawProblem(this.#el, this.#t, () => { this.#redraw(); this.#start().catch(() => {}); });
    this.#fault(error.message, fix);
  }

  /** Reports a failure to the page and to the console. `fix`: what a security policy lacks, { directive, value }; `more`: of a run, which
   *  the engine has logged. */
  #fault(message, fix, more) {
    const add = fix && `${fix.directive} ${fix.value}`;
    if (!more) console.error(`turnwise-agent: ${message}${add ? `; add to the Content-Security-Policy: ${add}` : ''}`);
    this.#host.say('error', { ...more, message, directive: fix?.directive, add });
  }

  #heard({ event, data, ...rest }) {
    if (event === 'docs') {
      Object.assign(this.#docs, rest.info);
      drawProgress(this.#el, this.#t, rest, this.#docs);
      if (rest.failed) this.#fault(`docs: ${rest.failed}`);
    }
    if (event !== 'run' || !this.#busy) return;
    if (data.type === 'ended') this.#ended = data;
    else this.#draw(data);
  }

  /** Draws an event of the current run. */
  #draw(data) {
    const stick = follows(this.#el);
    this.#busy.event(data);
    if (/^(turn|synthesis|run|ended)/.test(data.type)) drawMeter(this.#el, this.#busy.run, this.#t);
    drawWrapUp(this.#el.wrapUp, this.#busy);
    if (data.type === 'turn_finished' || data.type === 'ended') this.#save();
    if (data.type === 'tool_started') this.#el.status.textContent = toolWords(this.#t, data.name);
    if (stick) follow(this.#el, this.#busy.top);
  }

  async ask(text) {
    if (this.#busy) throw new Error('a run is under way');
    if (!text.trim()) throw new TypeError('ask(text): the text is empty');
    if (!this.#choice.made) return this.#choice.first(text);
    const view = this.#add(fresh(text.trim()));
    return this.#go(view, () => this.#talk.ask(view.run.task, this.#settings));
  }

  get #settings() {
    return settings(this.#host.element, this.#choice.chosen);
  }

  /** Drives one run or its continuation to its end. */
  async #go(view, call) {
    const { run } = view;
    const t = this.#t;
    const before = this.#current;
    this.#pay();
    this.#busy = this.#current = view;
    before?.settle(); // only the last run can continue
    view.stopping = view.wrapping = false;
    this.#dress();
    view.say(t('starting'));
    this.#save();
    follow(this.#el, this.#views.at(-1)?.top);
    this.#host.say('run', { task: run.task });
    const { signal } = this.#over;
    const removed = new Promise((_, reject) => { signal.addEventListener('abort', () => reject(new Error(REMOVED))); });
    let began = false;
    const halted = new Promise((_, reject) => { this.#halt = () => began || reject(new Error('cancelled')); });
    const going = async () => {
      await this.#start();
      began = true;
      if (view.stopping) throw new Error('cancelled');
      return call();
    };
    try {
      const record = await Promise.race([going(), removed, halted]);
      const { output, outcome, termination_reason: reason } = record;
      const failed = outcome === 'failed' && details(record);
      const fix = failed && inside.denied();
      if (failed) Object.assign(this.#ended, failure(failed, { own: this.#choice.chosen, fix }));
      this.#draw(this.#ended);
      this.#last = JSON.stringify(record);
      if (outcome !== 'failed') this.#store.last(this.#after = this.#last);
      view.colour((text) => this.#talk.colour(text)).then(() => this.#save(), () => {});
      const why = view.unanswered;
      const detail = { task: run.task, output, outcome, reason, sources: run.sources };
      if (failed) this.#fault(this.#ended.error ?? output, fix, { ...detail, ...failed });
      else this.#host.say('final', Object.assign(detail, { unchecked: run.unchecked ?? [], answered: !why && outcome !== 'cancelled', missing: run.searches.at(-1)?.missing ?? [] }));
      if (why) this.#report(run, why);
      else if (outcome === 'success') this.#relate(view);
      this.#el.status.textContent = outcome === 'failed' ? '' : outcome === 'cancelled' ? t('cancelled') : `${t('answerReady')} ${view.answer}`;
      return detail;
    } catch (error) {
      if (this.#over.signal.aborted) throw new Error(REMOVED);
      // The engine itself failed; if it never started, the error has already been shown in place of the run.
      const cancelled = error.message === 'cancelled';
      view.event({ type: 'ended', outcome: cancelled ? 'cancelled' : 'failed', reason: cancelled ? 'cancelled' : 'llm_error', text: 'failed_cut', turns: run.turns.length });
      const detail = { task: run.task, output: '', outcome: cancelled ? 'cancelled' : 'failed', reason: error.message, sources: [] };
      if (cancelled) this.#host.say('final', detail);
      else if (began) this.#fault(error.message, undefined, { ...detail, slugs: ['worker_lost'] });
      return detail;
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
      this.#judged(run);
    } else if (name === 'contact') {
      this.#contact();
    } else if (name === 'copied') {
      // `run` is here whether that was possible.
      this.#el.status.textContent = t(run ? 'copied' : 'copyFailed');
      this.#el.docs.replaceChildren(run ? '' : t('copyFailed'));
    } else if (this.#busy) {
      return;
    } else if (name === 'key') {
      this.#drop(run);
      this.#choice.again(run.task);
    } else if (name === 'again') {
      this.#drop(run);
      await this.ask(run.task);
    } else if (name === 'continue') {
      const view = this.#views.find((known) => known.run === run);
      view.reopen();
      await this.#go(view, () => this.#talk.grant(this.#settings.maxTurns));
    }
  }

  /** Tells the page about the judgement at once, and again if a comment follows; a bad one is reported with its comment. */
  #judged(run) {
    this.#pay(run);
    const { feedback: good, task, output, sources } = run;
    const say = (comment) => this.#host.say('feedback', { good, task, output, sources, ...(comment && { comment }) });
    say();
    if (!good) this.#owed = { run, tell: (comment) => this.#report(run, 'bad_answer', comment) };
    const { extra } = this.#views.find((view) => view.run === run);
    caring().then(({ comment }) => {
      const form = comment(this.#t, (words) => {
        if (words) say(words);
        if (this.#owed?.run === run) this.#pay(undefined, words);
        this.#focus();
      });
      extra.querySelector('.comment')?.remove();
      extra.prepend(form);
      form.scrollIntoView({ block: 'nearest' });
    });
  }

  /** Reports the answer that was judged badly, unless it is that of `run`, which is judged anew. */
  #pay(run, comment) {
    const owed = this.#owed;
    this.#owed = undefined;
    if (owed && owed.run !== run) owed.tell(comment);
  }

  /** Tells the page, and the address in `questions`, that a question was not answered. */
  #report(run, why, comment) {
    const { element, page = location.href } = this.#host;
    caring().then(({ report, send }) => {
      const told = report({ run, why, page, lang: element.language.split('-')[0], comment });
      this.#host.say('unanswered', told);
      if (element.questions) send(element.questions, told);
    });
  }

  /** Offers questions about what the run found besides. */
  #relate(view) {
    if (this.#host.element.followUps === 'off' || !this.#docs.root) return;
    const { run, extra } = view;
    caring().then(({ related }) => {
      const list = this.#current === view && !this.#busy && related({ run, t: this.#t, linked: run.sources.map(({ href }) => href), ask: (words) => this.ask(words).catch(() => {}) });
      if (list) extra.replaceChildren(list);
    });
  }

  #drop(run) {
    this.#views = this.#views.filter((view) => view.run !== run);
    this.#redraw();
  }

  #restore() {
    const { runs, last } = this.#store.load();
    this.#last = this.#after = last;
    [this.#views, this.#stored] = [[], runs];
    this.#views = runs.map((run) => this.#revive(run));
    this.#el.input.value = this.#store.take('draft') ?? '';
    this.#read = Number(this.#store.take('read')) || undefined;
    this.#redraw();
    this.#grow();
  }

  /** Restores a stored run. One that cannot be shown (from another version, say) gets a placeholder, and the others are shown. */
  #revive(run) {
    try {
      return this.#view(revived(structuredClone(run)));
    } catch {
      return new LostView(run, this.#t);
    }
  }

  #catchUp() {
    if (this.#busy) return;
    this.#current = undefined;
    this.#restore();
    this.update();
    this.#talk?.carry(this.#after);
  }

  #view(run) {
    return new RunView(run, { t: this.#t, base: () => this.#docs.root ?? this.#host.page ?? document.baseURI, docs: () => Boolean(this.#docs.root), newTab: () => Boolean(this.#choice.chosen?.apiKey), found: () => (this.#views.length ? this.#views.map(({ run: one }) => one) : this.#stored).flatMap((one) => (Array.isArray(one?.found) ? one.found : [])), contact: this.#host.element.contactUrl, last: () => this.#current?.run, act: (name, of) => this.#act(name, of).catch(() => {}) });
  }

  #add(run) {
    const view = this.#view(run);
    this.#keeping(() => {
      if (!this.#views.length || !this.#el.column.querySelector('.run')) this.#el.column.replaceChildren(...this.#views.map((known) => known.element));
      this.#views.push(view);
      this.#el.column.append(view.element);
    });
    return view;
  }

  #redraw() {
    this.#keeping(() => {
      this.#el.column.replaceChildren(...this.#views.map(({ element }) => element));
      if (!this.#views.length) drawEmpty(this.#el, this.#host.element, this.#t, (words) => this.ask(words).catch(() => {}));
    });
    drawMeter(this.#el, this.#views.findLast((view) => view instanceof RunView)?.run, this.#t);
  }

  #forget() {
    if (this.#busy) return;
    this.#menu(false);
    this.#choice.drop('a new conversation was begun');
    this.#views = [];
    this.#current = this.#last = this.#after = undefined;
    this.#store.clear();
    this.#talk?.carry();
    this.#afresh();
  }

  #afresh() {
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
    const { element } = this.#host;
    const app = element.app ? web(element.app) : undefined;
    drawMenu(this.#el, () => this.#menu(false), [
      [t('newConversation'), () => this.#forget(), !this.#busy],
      [t('model'), () => this.#choice.show(), !this.#busy],
      ...(app ? [[t('openApp'), () => handing().then(({ open }) => open(app.href, this.#last, (name) => this.#el.docs.replaceChildren(t(name)))), this.#last]] : []),
      [t('download'), () => handing().then(({ save }) => save(this.#last)), this.#last],
      ...(element.contactUrl ? [[t('contact'), () => this.#contact(), true]] : []),
    ]);
  }

  /** Offers contact with a person; the conversation is included only if the visitor wants that. */
  #contact() {
    handing().then(({ contact }) => contact(this.#el.column, this.#t, {
      url: this.#host.element.contactUrl, said: this.#views.map(({ run }) => ({ question: run.task, answer: run.output || '' })),
      say: (detail) => this.#host.say('contact', detail), back: () => { this.#redraw(); this.update(); },
    }));
  }

  /** `pressed`: whether by the button. */
  #submit(pressed) {
    const { input } = this.#el;
    if (this.#busy) {
      if (!pressed) return; // Enter: the draft stays in the field
      if (!this.#busy.stopping) this.#stop();
      return;
    }
    const text = input.value;
    if (!text.trim()) return;
    input.value = '';
    this.#grow();
    this.ask(text).catch(() => {});
  }

  /** Ends the current run now; what has arrived stays. */
  #stop() {
    this.#busy.stopping = true;
    this.#halt();
    this.#talk?.cancel();
    this.#dress();
  }

  /** Has the current run conclude from what it has. */
  #wrapUp() {
    if (!this.#busy) return;
    this.#busy.wrapping = true;
    this.#talk?.stop();
    this.#busy.say(this.#t('stopping'));
    this.#dress();
    this.#el.input.focus(); // the button is gone
  }

  #key(event) {
    if (this.#busy && event.key === '.' && (event.ctrlKey || event.metaKey) && !event.altKey && !event.defaultPrevented) {
      event.preventDefault();
      event.stopPropagation();
      this.#stop();
      return;
    }
    if (event.key !== 'Escape' || event.defaultPrevented) return;
    const { menu, menuButton } = this.#el;
    if (menu.hidden && this.#kind === 'inline') return;
    if (menu.hidden) this.#host.close();
    else {
      this.#menu(false);
      menuButton.focus();
    }
    event.preventDefault();
    event.stopPropagation();
  }

  /** Updates Send or Stop, and everything else that depends on whether a run is in progress. */
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
    this.#store.put('draft', this.#el.input.value || this.#choice.pending);
    const read = this.#el.panel.classList.contains('open') ? this.#el.scroll.scrollTop : this.#read;
    this.#store.put('read', (!this.#busy && read) || 0);
  }
}

export const create = (host) => new Panel(host);
