// Which model answers: what the visitor chose, in memory only, and the question that waits until one is chosen.
import { provider } from './provider.js';

/** Of a question that nobody waits for in code. */
const nobody = { resolve() {}, reject() {} };

export class Choice {
  /** The visitor's own provider. */
  chosen;
  #panel;
  #pending; // { text, resolve, reject }

  /** `panel`: { element, store, t, draw(form), leave(text), ready(), ask(text) }. */
  constructor(panel) {
    this.#panel = panel;
  }

  /** Whether there is a model to ask. */
  get made() {
    return Boolean(provider(this.#panel.element, this.chosen));
  }

  /** Keeps the question and asks for a model; resolves with its answer. */
  first(text) {
    return new Promise((resolve, reject) => {
      this.#wait({ text, resolve, reject });
      this.show();
    });
  }

  /** The key was refused: another one, and the question again. */
  again(text) {
    this.#wait({ text, ...nobody });
    this.show(true);
  }

  /** The question that waits. */
  get pending() {
    return this.#pending?.text ?? '';
  }

  drop(why) {
    this.#pending?.reject(new Error(why));
    this.#pending = undefined;
  }

  async show(refused = false) {
    const { element, store, t, draw, leave } = this.#panel;
    const { chooser, leave: signIn } = await import('./keys.js');
    draw(chooser({
      t, only: this.chosen?.kind ?? element.provider, model: element.model, refused, own: this.made,
      use: (chosen) => this.#use(chosen),
      back: () => {
        const text = this.pending;
        this.drop('no model was chosen');
        leave(text);
      },
      signIn: (model) => {
        store.put('question', this.pending);
        this.#pending = undefined; // it comes back with the key
        signIn(store, model);
      },
    }));
  }

  /** Back from a sign-in: with the key, what was asked before is asked. Rejects with words for people. */
  async back() {
    if (!/[?&](code|error)=/.test(location.search)) return;
    const { comeBack } = await import('./keys.js');
    const chosen = await comeBack(this.#panel.store);
    if (!chosen) return;
    const text = this.#panel.store.take('question');
    if (text) this.#wait({ text, ...nobody });
    this.#use(chosen);
  }

  #wait(pending) {
    this.drop('another question was asked');
    this.#pending = pending;
  }

  #use(chosen) {
    const pending = this.#pending;
    this.chosen = chosen;
    this.#pending = undefined;
    this.#panel.ready();
    if (pending) this.#panel.ask(pending.text).then(pending.resolve, pending.reject);
  }
}
