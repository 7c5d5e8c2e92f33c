// Names of the web platform that the package's types use. Programs whose `lib` has no `dom` may lack them; where they exist, these
// declarations add nothing.
export {};

declare global {
  interface AbortSignal {}
  interface Blob {}
  interface CustomEvent<T = any> {}
  interface Headers {}
  interface HTMLElement {}
  interface ReadableStream<R = any> {}
  interface Response {}
  interface URL {}
  namespace WebAssembly {
    interface Module {}
  }
}
