// The lifetime of the page's objects: until they are freed, or garbage collected.

/** Something to close when it is no longer needed. */
export interface Closable {
  close(): void;
}

const forgotten = typeof FinalizationRegistry === 'function' ? new FinalizationRegistry<Closable>((own) => own.close()) : undefined;

/** Closes `own` when `target` is garbage collected; `own` must not refer to `target`. */
export const keep = (target: object, own: Closable) => forgotten?.register(target, own, target);

/** Closes `own`, because the page no longer needs `target`. */
export function release(target: object, own: Closable) {
  forgotten?.unregister(target);
  own.close();
}

/** Adds support for `using` to an object or a prototype, if the runtime has it: older ones lack the symbol. */
export function disposable(target: { free(): void }) {
  if (Symbol.dispose) Object.defineProperty(target, Symbol.dispose, { value(this: { free(): void }) { this.free(); } });
}
