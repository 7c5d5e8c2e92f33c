/** The key of a tool that calls another one: a function of the arguments that returns a `Delegated`. */
export const DELEGATE = Symbol.for('turnwise.delegate');

/** The call that a call leads to. */
export interface Delegated<T> {
  name: string;
  input: unknown;
  /** Missing if the call fails before it reaches a tool: there is nothing to ask about. */
  tool?: T;
}
