// The visitor's choice of a model, in memory only, and the question that waits until a model is chosen.
import { provider } from './provider.js';
import { withTexts } from './texts.js';

/** The callbacks of a question whose answer no code awaits. */
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

  /** Whether a model is available. */
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

  /** Asks for another model or key after a request failed, and then asks the question again. */
  again(text) {
    this.#wait({ text, ...nobody });
    this.show(Boolean(this.chosen));
  }

  /** The question that waits for a model. */
  get pending() {
    return this.#pending?.text ?? '';
  }

  drop(why) {
    this.#pending?.reject(new Error(why));
    this.#pending = undefined;
  }

  async show(refused = false) {
    const { element, store, t, draw, leave } = this.#panel;
    const { chooser, leave: signIn } = withTexts(await import('./keys.js'));
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

  /** Completes a sign-in: with the key, the waiting question is asked. Rejects with a message for users. */
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
