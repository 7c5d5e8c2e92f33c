// How long objects of the page's are needed: until they are freed, or forgotten.

/** What is closed when nobody needs it any more. */
export interface Closable {
  close(): void;
}

const forgotten = typeof FinalizationRegistry === 'function' ? new FinalizationRegistry<Closable>((own) => own.close()) : undefined;

/** `own` is closed when the page has forgotten `target`; it must not refer to it. */
export const keep = (target: object, own: Closable) => forgotten?.register(target, own, target);

/** The page needs `target` no more. */
export function release(target: object, own: Closable) {
  forgotten?.unregister(target);
  own.close();
}

/** For `using`, where the language knows it: older ones have no such symbol. */
export function disposable(type: { prototype: { free(): void } }) {
  if (Symbol.dispose) Object.defineProperty(type.prototype, Symbol.dispose, { value(this: { free(): void }) { this.free(); } });
}
