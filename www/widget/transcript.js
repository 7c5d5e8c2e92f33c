// One question and its run, as data that can be stored, and the view of it. The data is built from the painter's events; a
// restored page draws the same data again.
import { found, search, source, titled, unanswered } from './citations.js';
import { button, copyButton, h, icon, iconButton, readable } from './dom.js';
import { wanted } from './failures.js';
import { links, safe, show } from './nodes.js';
import { toolWords } from './texts.js';

/** Creates the data of a question that was just asked. */
export const fresh = (task) => ({ task, max: 0, turns: [], nodes: [], output: '', sources: [], found: [], searches: [] });

/** Restores stored data: a run that was in progress ended with its page. */
export function revived(run) {
  for (const turn of run.turns) turn.live = false;
  run.found ??= [];
  run.searches ??= [];
  run.ended ??= { outcome: 'failed', text: 'failed_cut', reason: 'cancelled', turns: run.turns.length };
  return run;
}

/**
 * Returns the ticks of the meter: one per turn, the synthesis on its own, then the turns left. The counter's levels tell the model
 * to hurry; a visitor sees them only if the run reached its limit, since three turns of four are no alarm.
 */
export function ticks({ turns, max, why, ended }) {
  const limited = why !== undefined || /^(max_turns|tokens|wall_time|cost|context)_/.test(ended?.reason);
  let counter = 'normal'; // a turn without results has no level of its own
  const all = turns.map(({ synthesis, level, failed, live }) => {
    if (limited && level && level !== 'off') counter = level;
    return synthesis ? 'synthesis' : failed ? 'failed' : live && !ended ? 'live' : counter;
  });
  const used = turns.filter(({ synthesis }) => !synthesis).length;
  return all.concat(Array(Math.max(0, max - used)).fill('ahead'));
}

export function meterWords({ turns, max }, t) {
  const n = turns.filter(({ synthesis }) => !synthesis).length;
  return turns.at(-1)?.synthesis ? t('meterSynthesis', { n, max }) : t('meter', { n, max, left: Math.max(0, max - n) });
}

const counted = (n, t) => (n === 1 ? t('turn') : t('turns', { n }));

const MAX_BRIEF = 300;
const MAX_LOST = 120;

/** Summarizes a call's arguments, which may have any shape and size, in one line. */
function brief(args, base) {
  const { query, url, page, path, expression } = args ?? {};
  const address = url ?? page;
  const most = address ?? query ?? path ?? expression ?? Object.values(args ?? {}).find((value) => typeof value === 'string') ?? args ?? '';
  if (typeof most !== 'string') return /^(\{\}|\[\])$/.test(JSON.stringify(most)) ? '' : JSON.stringify(most).slice(0, MAX_BRIEF);
  const words = most.slice(0, MAX_BRIEF);
  if (most === query) return `“${words}”`;
  const there = most === address && safe(words, base);
  return there ? readable(`${there.origin === new URL(base).origin ? '' : there.host}${there.pathname}${there.hash}`) : words;
}

/** Placeholder in the conversation for a stored run that cannot be shown. Its stored data stays unchanged. */
export class LostView {
  constructor(run, t) {
    const task = typeof run?.task === 'string' && run.task.slice(0, MAX_LOST);
    this.run = run;
    this.top = this.element = h('p', { class: 'lost', dir: 'auto' }, task ? t('lostTask', { task }) : t('lost'));
  }

  settle() {}

  end() {}
}

export class RunView {
  #turns = new Map(); // a turn's data -> its elements
  #work = h('div', { class: 'work' });
  #answer = h('div', { class: 'answer prose', part: 'answer', dir: 'auto' });
  #sources = h('div', { class: 'sources', part: 'sources' });
  #foot = h('div', { class: 'foot' });
  extra = h('div', { class: 'extra' }); // drawn by the panel: a comment field, related questions
  #state = h('p', { class: 'state' });
  #calls = new Map();
  #timer;
  #shown; // the element that shows the answer
  #asking = new Set(); // a function for each open approval that denies it

  /**
   * `panel`: { t, base(), docs(): whether there are docs, newTab(), last(): the run that can continue, found(): what all runs of the
   * conversation found, contact: whether there is a way to a person, act(name, run) }.
   */
  constructor(run, panel) {
    this.run = run;
    this.panel = panel;
    this.element = h('article', { class: 'run', part: 'run' }, h('h3', { class: 'task', part: 'question', dir: 'auto', tabindex: run.task.length > 600 ? 0 : undefined }, run.task), this.#work, this.#answer, this.#state, this.#sources, this.#foot, this.extra);
    for (const turn of run.turns) this.#drawTurn(turn);
    if (run.ended) this.#drawEnd();
  }

  /** The element where reading begins: the error, the last turn with text, or the question. */
  get top() {
    if (this.run.ended?.outcome === 'failed') return this.#foot;
    const said = this.run.turns.findLast(({ nodes }) => nodes?.length);
    return (said && said === this.run.turns.at(-1) && this.#turns.get(said)?.box) || (this.#answer.firstChild && this.#answer) || this.element;
  }

  get #where() {
    const { base, newTab, t, act } = this.panel;
    return { base: base(), newTab, known: (url) => this.#known(url.href), copy: (code) => copyButton(t('copyCode'), () => code.textContent, () => code, (done) => act('copied', done)), unread: t('notRead') };
  }

  /** Asks the visitor whether a call may run; resolves with the answer, or with false if the run ends first. */
  permit({ name, args }, signal) {
    const { t } = this.panel;
    return new Promise((resolve) => {
      const answer = (allow, scope) => {
        card.remove();
        this.#asking.delete(deny);
        this.say(t('thinking'));
        resolve({ allow, for: scope });
      };
      const deny = () => answer(false);
      const given = args && Object.keys(args).length ? h('pre', { tabindex: 0, 'aria-label': t('arguments') }, JSON.stringify(args, undefined, 2)) : '';
      const card = h('div', { class: 'permit', role: 'group', part: 'approval' }, h('p', {}, t('wants', { name })), given, h('div', { class: 'actions' },
        button(t('allow'), () => answer(true), { class: 'button main' }), button(t('allowAlways'), () => answer(true, 'tool')), button(t('deny'), deny)));
      card.setAttribute('aria-label', t('wants', { name }));
      this.#asking.add(deny);
      // An answer to another question covers this call too.
      signal.addEventListener('abort', deny);
      this.#work.append(card);
      this.say(t('asksYou'));
      // Not the button: a visitor who is typing must not approve it with Enter.
      card.tabIndex = -1;
      card.focus();
    });
  }

  /** Shows a status text; without one, clears it. */
  say(words) {
    this.#state.replaceChildren(...(words ? [h('i', { class: 'dot' }), words] : []));
  }

  event(event) {
    const { run } = this;
    const { t } = this.panel;
    clearInterval(this.#timer);
    switch (event.type) {
      case 'run_started':
        run.max = event.maxTurns;
        break;
      case 'turn_started':
        this.#drawTurn(this.#turn(event.turn, { synthesis: event.synthesis, live: true }));
        this.say(t('thinking'));
        break;
      case 'text': {
        const turn = this.#turn(event.turn);
        turn.nodes = event.nodes;
        const { prose } = this.#drawTurn(turn);
        show(prose, event.nodes, this.#where);
        prose.classList.toggle('live', Boolean(turn.live));
        if (event.chars) this.say();
        break;
      }
      case 'attempt_failed':
        if (!wanted(event.slugs[0])) this.#note(event, t('retrying'));
        break;
      case 'waiting':
        this.#wait(event);
        break;
      case 'tool_started':
        this.#call(event.turn, { id: event.id, name: event.name, brief: brief(event.args, this.panel.base()) });
        this.say();
        break;
      case 'tool_finished': {
        const { id, name, args, result, error, slug } = event.call;
        this.#call(event.turn, { id, name, brief: brief(args, this.panel.base()), result: result ?? error ?? '', failed: wanted(slug) ? undefined : slug });
        if (!slug) {
          run.found.push(...found(event.call, this.panel.base()));
          run.searches.push(...[search(event.call)].filter(Boolean));
        }
        this.say(t('thinking'));
        break;
      }
      case 'turn_finished':
        Object.assign(this.#turn(event.turn), { level: event.level, live: false, failed: event.failed, note: undefined });
        this.#settle(this.#turn(event.turn));
        break;
      case 'synthesis_started':
        run.why = event.trigger;
        break;
      case 'final':
        run.output = event.output;
        run.nodes = event.nodes;
        run.sources = this.panel.docs() ? this.#sourcesOf(event.nodes) : [];
        run.unchecked = this.panel.docs() ? this.#unchecked(event.nodes) : [];
        break;
      case 'ended':
        for (const deny of this.#asking) deny();
        run.ended = { ...event, type: undefined };
        if (!this.#answered) run.sources = [];
        run.turns.forEach((turn) => {
          turn.live = false;
          this.#settle(turn);
        });
        this.#drawEnd();
        break;
    }
  }

  /** Whether there is an answer: a run that failed or was cancelled only has its last turn's text. */
  get #answered() {
    return !/^(failed|cancelled)$/.test(this.run.ended.outcome);
  }

  /** Whether there is something to conclude from, and nothing streams in that may be the answer. */
  get hasGathered() {
    const { turns, why, ended } = this.run;
    const last = turns.at(-1);
    return Boolean(last) && !ended && !why && !last.synthesis && (turns.length > 1 || last.calls.length > 0) && !(last.nodes?.length && !last.calls.length);
  }

  #settle(turn) {
    const drawn = this.#turns.get(turn);
    drawn?.note.replaceChildren();
    drawn?.prose.classList.remove('live');
  }

  /** The section at this URL, if this or an earlier run of the conversation found or read it. */
  #known(href) {
    return source(this.panel.found(), href);
  }

  /** Links into the site that rest on nothing that was found or read. */
  #unchecked(nodes) {
    const { origin } = new URL(this.panel.base());
    return links(nodes, this.panel.base()).map(({ href }) => href).filter((href) => new URL(href).origin === origin && !this.#known(href));
  }

  /** Why this counts as not answered, or nothing: see `unanswered`. Without docs there is nothing to report. */
  get unanswered() {
    return this.panel.docs() ? unanswered(this.run) : undefined;
  }

  /** Returns the sources of the answer: the pages found or read that it links to; otherwise those that were read, each once. */
  #sourcesOf(nodes) {
    const linked = links(nodes, this.panel.base()).filter(({ href }) => this.#known(href));
    const read = new Set(this.run.found.filter(({ read, section }) => read && !section).map(({ href }) => href));
    const all = linked.length ? linked : [...read].map((href) => {
      const { pathname, hash } = new URL(href);
      return { href, text: readable((hash || pathname).split(/[/#]/).filter(Boolean).at(-1) ?? href) };
    });
    return all.map(({ href, text }) => ({ href, text: titled(this.#known(href)) || text }));
  }

  #turn(n, more = {}) {
    let turn = this.run.turns.find((known) => known.n === n && !known.over);
    if (!turn) this.run.turns.push(turn = { n, calls: [] });
    return Object.assign(turn, more);
  }

  #drawTurn(turn) {
    let drawn = this.#turns.get(turn);
    if (!drawn) {
      drawn = { box: h('div', { class: 'turn' }), prose: h('div', { class: 'prose', dir: 'auto' }), calls: h('div', { class: 'calls' }), note: h('p', { class: 'retry' }) };
      drawn.box.append(drawn.prose, drawn.calls, drawn.note);
      this.#turns.set(turn, drawn);
      this.#work.append(drawn.box);
      if (turn.nodes) show(drawn.prose, turn.nodes, this.#where);
      for (const call of turn.calls) this.#drawCall(drawn, call);
    }
    if (turn.synthesis && !drawn.box.classList.contains('synthesis')) {
      drawn.box.classList.add('synthesis');
      drawn.box.prepend(h('h4', {}, this.panel.t('synthesis', { why: this.panel.t(`trigger_${this.run.why ?? 'max_turns'}`) })));
    }
    return drawn;
  }

  #call(n, call) {
    const turn = this.#turn(n);
    const known = turn.calls.find(({ id }) => id === call.id);
    if (known) Object.assign(known, call);
    else turn.calls.push(call);
    this.#drawCall(this.#drawTurn(turn), known ?? call);
  }

  /** Draws a tool call as one unobtrusive line that expands to the result that the model saw. */
  #drawCall(drawn, call) {
    const { t } = this.panel;
    const open = this.#calls.get(call.id)?.open;
    const line = h('details', { class: 'call', part: 'tool', 'data-failed': Boolean(call.failed), 'data-running': call.result === undefined },
      h('summary', {}, icon('chevron'), h('b', {}, toolWords(t, call.name)), h('span', { class: 'args', dir: 'auto' }, call.brief), call.failed && h('em', {}, t(call.failed === 'refused' ? 'toolRefused' : 'toolFailed'))),
      h('pre', { tabindex: 0, 'aria-label': t('sawTitle') }, call.result ?? t('toolRunning')));
    line.open = Boolean(open);
    // Text next to a tool call is intermediate; text without a call may be the answer.
    drawn.prose.classList.add('aside');
    const before = this.#calls.get(call.id);
    if (before) before.replaceWith(line);
    else drawn.calls.append(line);
    this.#calls.set(call.id, line);
  }

  #note(event, words) {
    const { note } = this.#drawTurn(this.#turn(event.turn));
    note.replaceChildren(words);
    this.say();
  }

  #wait(event) {
    const until = performance.now() + event.ms;
    const tick = () => {
      const s = Math.max(0, Math.ceil((until - performance.now()) / 1000));
      this.#note(event, this.panel.t('retry', { s }));
    };
    tick();
    this.#timer = setInterval(tick, 1000);
  }

  /** Draws the answer, its sources, and the available actions. */
  #drawEnd() {
    const { run } = this;
    const { t, act } = this.panel;
    clearInterval(this.#timer);
    this.say();
    const failed = run.ended.outcome === 'failed';
    if (this.#answered && run.nodes.length) this.#drawAnswer();
    else this.#leave(run.turns.at(-1));
    this.#sources.replaceChildren(...(run.sources.length ? [h('h4', {}, t('sources')), h('ol', {}, ...run.sources.map((source) => this.#source(source)))] : []));
    const actions = h('div', { class: 'actions' });
    if (failed) {
      const { text, key } = run.ended;
      this.#foot.replaceChildren(h('p', { class: 'problem', role: 'alert' }, t(text)), actions);
      if (key) actions.append(button(t(key), () => act('key', run), { class: 'button main' }));
      actions.append(button(t('again'), () => act('again', run)));
      return undefined;
    }
    if (this.panel.last() === run && /^(max_turns|stop|tokens|wall_time|cost)_/.test(run.ended.reason)) actions.append(button(t('continue'), () => act('continue', run), { class: 'button main' }));
    if (!this.#answered) {
      actions.append(button(t('again'), () => act('again', run)));
      return this.#foot.replaceChildren(h('p', { class: 'ending', part: 'ending' }, this.#ending()), actions);
    }
    const judges = [true, false].map((good) => iconButton(good ? 'good' : 'bad', t(good ? 'good' : 'bad'), () => {
      if (run.feedback === good) return;
      run.feedback = good;
      judged();
      act('feedback', run);
    }, { part: 'feedback' }));
    const judged = () => judges.forEach((judge, at) => judge.setAttribute('aria-pressed', String(run.feedback === (at === 0))));
    judged();
    const copy = copyButton(t('copy'), () => run.output, () => this.#shown, (done) => act('copied', done));
    if (run.output) actions.append(copy, ...judges);
    if (this.panel.contact && this.unanswered) actions.append(button(t('contact'), () => act('contact', run)));
    return this.#foot.replaceChildren(h('p', { class: 'ending', part: 'ending' }, this.#ending()), actions);
  }

  /** Marks a last turn that did not become the answer. */
  #leave(turn) {
    const drawn = this.#turns.get(turn);
    // Text that a stop cut off is what there is of the answer.
    drawn?.prose.classList.toggle('aside', this.run.ended.outcome !== 'cancelled' || turn.calls.length > 0);
    if (drawn && turn.synthesis) drawn.box.hidden = !turn.nodes?.length;
  }

  /** The answer's text, as displayed. */
  get answer() {
    return this.#shown?.textContent ?? '';
  }

  /** Redraws the end of the run, because another run has begun. */
  settle() {
    if (this.run.ended) this.#drawEnd();
    this.extra.replaceChildren();
  }

  #drawAnswer() {
    const { run } = this;
    const last = run.turns.at(-1);
    const drawn = last && this.#turns.get(last);
    // Already streamed as the last turn's text, which becomes the answer in place.
    if (drawn && last.nodes?.length && (last.synthesis || !last.calls.length)) {
      drawn.prose.classList.remove('aside');
      drawn.prose.setAttribute('part', 'answer');
      this.#shown = drawn.prose;
    } else {
      this.#shown = this.#answer;
    }
    show(this.#shown, run.nodes, this.#where);
  }

  /** Adds syntax highlighting once the answer is complete, since the highlighter is heavy. */
  async colour(render) {
    const { run } = this;
    const { output } = run;
    if (!/"code_block":{"lang"/.test(JSON.stringify(run.nodes)) || navigator.connection?.saveData) return;
    const nodes = await render(output);
    if (!run.ended || run.output !== output) return; // the run has continued
    run.nodes = nodes;
    this.#drawAnswer();
  }

  #source({ href, text }) {
    const holder = h('li');
    show(holder, [{ link: { href, children: [{ text }] } }], { ...this.#where, bare: true });
    const address = new URL(href);
    const link = holder.querySelector('a');
    link?.append(h('small', {}, `${address.origin === location.origin ? '' : address.host}${readable(address.pathname + address.hash)}`));
    if (link?.target) link.setAttribute('aria-describedby', 'new-tab');
    return holder;
  }

  #ending() {
    const { ended, why } = this.run;
    const { t } = this.panel;
    if (ended.outcome === 'cancelled') return t('cancelled');
    const values = { turns: counted(this.run.turns.filter(({ synthesis }) => !synthesis).length, t), why: t(`trigger_${why ?? ended.reason.replace(/_(synthesized|synthesis_failed|exhausted)$/, '')}`) };
    if (/_synthesized$/.test(ended.reason)) return t('endedSynthesis', values);
    if (/synthesis_failed|exhausted/.test(ended.reason)) return t('endedNoSynthesis', values);
    return t('ended', values);
  }

  /** Reopens the run after more turns were granted: the previous answer is now an intermediate step. */
  reopen() {
    this.run.ended = undefined;
    // Turn numbers may be reused after a synthesis that did not count.
    for (const turn of this.run.turns) turn.over = true;
    this.#foot.replaceChildren();
    this.#sources.replaceChildren();
    this.extra.replaceChildren();
    this.#answer.replaceChildren();
    this.#answer.drawn = undefined;
    for (const { prose } of this.#turns.values()) prose.classList.add('aside');
  }

  end() {
    clearInterval(this.#timer);
  }
}
