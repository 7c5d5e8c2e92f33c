// A growing list that any number of readers can read from its beginning.

export class Replay<T> implements AsyncIterable<T> {
  #items: T[] = [];
  #over = false;
  #fault: { error: unknown } | undefined;
  #wake: (() => void)[] = [];

  push(item: T) {
    this.#items.push(item);
    this.#stir();
  }

  /** Ends the list. With an error, readers throw it after the last item. */
  end(fault?: { error: unknown }) {
    this.#over = true;
    this.#fault = fault;
    this.#stir();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for (let at = 0; ; at += 1) {
      while (at >= this.#items.length && !this.#over) await new Promise<void>((resolve) => this.#wake.push(resolve));
      if (at >= this.#items.length) break;
      yield this.#items[at]!;
    }
    if (this.#fault) throw this.#fault.error;
  }

  #stir() {
    for (const wake of this.#wake.splice(0)) wake();
  }
}
