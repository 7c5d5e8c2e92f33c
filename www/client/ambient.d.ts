// What the sources use of hosts and of the build, and TypeScript's libraries do not know.

/** Tools of a build for tests, which is never shipped (feature `test-tools`); none otherwise. The build defines it. */
declare const TEST_TOOLS: readonly string[];

/** The engine, as wasm-bindgen wrote it out. */
declare module 'turnwise-glue' {
  /** What a worker of the engine's can do. */
  interface WorkerLike {
    onmessage: ((event: { data: unknown }) => void) | null;
    onerror: ((event: { message: string }) => void) | null;
    onmessageerror: ((event: { message: string }) => void) | null;
    postMessage(message: unknown): void;
    terminate(): void;
  }
  export type MakeWorker = ((url: string, name: string) => WorkerLike) & { ownModule?: boolean };
  export class Port {
    constructor(post: (text: string, parts: (string | Blob | Uint8Array)[]) => void, toolWorker: string, makeWorker?: MakeWorker);
    receive(data: unknown): void;
  }
  export default function init(options?: { module_or_path?: unknown }): Promise<unknown>;
}

/** The worker of tools, in its own file. Its default export starts it. */
declare module 'turnwise-tools' {
  export default function start(options: { module_or_path: unknown }): Promise<unknown>;
}

declare module 'node:worker_threads' {
  interface Port {
    on(event: 'message', then: (data: unknown) => void): void;
    postMessage(data: unknown, transfer?: unknown[]): void;
  }
  export class Worker {
    constructor(url: URL, options: { name?: string; execArgv?: string[] });
    on(event: 'message' | 'messageerror' | 'error' | 'exit', then: (what: any) => void): void;
    postMessage(data: unknown, transfer?: unknown[]): void;
    terminate(): Promise<number>;
    ref(): void;
    unref(): void;
  }
  export const parentPort: Port | null;
}

declare module 'node:process' {
  const process: { execArgv: string[] };
  export default process;
}

declare module 'node:fs/promises' {
  export function readFile(path: URL): Promise<Uint8Array>;
}
