// Appended to `worker.js` after the loader: the parts of the worker that load on first use, each from a file next to it. Rust
// calls them through `turnwiseParts` (modules/tools/src/parts.rs). The URLs have the form in which bundlers find files; a part's own
// script is copied, not bundled, and so it may not import other files: it gets what it loads as `module` or by `load`.

const partFiles = {
  'convert.js': () => new URL('./convert.js', import.meta.url),
  'convert_bg.wasm': () => new URL('./convert_bg.wasm', import.meta.url),
  'pdf.js': () => new URL('./pdf.js', import.meta.url),
  'pdf-maps.bin': () => new URL('./pdf-maps.bin', import.meta.url),
  'sql.js': () => new URL('./sql.js', import.meta.url),
  'sql_bg.wasm': () => new URL('./sql_bg.wasm', import.meta.url),
  'jq.js': () => new URL('./jq.js', import.meta.url),
  'jq_bg.wasm': () => new URL('./jq_bg.wasm', import.meta.url),
};

/** The URL of a part's file. Where the worker has no URL, as in a host that only runs one bundled module, there is none. */
const partUrl = (name) => {
  try {
    return new URL(partFiles[name]());
  } catch {
    throw new Error(`the part ${name} cannot be loaded here`);
  }
};

/** The bytes of a part's file. */
const partBytes = async (name) => {
  const url = partUrl(name);
  if (url.protocol === 'file:') {
    const { readFile } = process.getBuiltinModule('node:fs/promises');
    return new Uint8Array(await readFile(url));
  }
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`the part ${name} could not be loaded: status ${answer.status}`);
  return new Uint8Array(await answer.arrayBuffer());
};

/** The exports of a part's script, which is loaded once. */
const partScript = (name) => import(/* @vite-ignore *//* webpackIgnore: true *//* turbopackIgnore: true */ partUrl(name).href);

/** A function that starts a part on its first call. A failed start is repeated on the next call. */
const part = (start) => {
  let started;
  return () => (started ??= start().catch((error) => {
    started = undefined;
    throw error;
  }));
};

/** A function that runs asynchronous functions one after the other. Several workers may share this module (crates/worker/src/serve.rs). */
const queue = () => {
  let last = Promise.resolve();
  return (run) => {
    const answer = last.then(run);
    last = answer.catch(() => {});
    return answer;
  };
};

/**
 * A part of WebAssembly: `call(run)` runs `run(exports)`. A trap, such as one for lack of memory, leaves a module that must not be
 * used again, and memory never shrinks: after a trap, or with more than `most` bytes, the next call gets a fresh instance.
 */
const wasmPart = (name, most = 64 << 20) => {
  const start = part(async () => {
    const glue = await partScript(`${name}.js`);
    const module = await WebAssembly.compile(await partBytes(`${name}_bg.wasm`));
    return { glue, module };
  });
  const inTurn = queue(); // the glue has one instance at a time
  let memory;
  return (run) => inTurn(async () => {
    const { glue, module } = await start();
    if (!memory) ({ memory } = await glue.default({ module_or_path: module }));
    let trapped = true;
    try {
      const answer = run(glue);
      trapped = false;
      return answer;
    } catch (error) {
      trapped = trap(error);
      throw error;
    } finally {
      if (trapped || memory.buffer.byteLength > most) {
        glue.__wbg_reset_state();
        memory = undefined;
      }
    }
  });
};

const trap = (error) => error instanceof WebAssembly.RuntimeError || error instanceof RangeError;

const convertPart = wasmPart('convert');
const pdfPart = part(() => partScript('pdf.js'));

const jqPart = wasmPart('jq', 16 << 20);
const sqlPart = part(async () => ({ script: await partScript('sql.js'), module: await WebAssembly.compile(await partBytes('sql_bg.wasm')) }));
const sqlInTurn = queue(); // a query waits while it loads its tables
let tables; // of the last query: those that are not of the next one's files are dropped

globalThis.turnwiseParts = {
  /** The text of an office document or an e-book with its places, as JSON. */
  convert: (bytes, name) => convertPart(({ convert }) => convert(bytes, name)),
  /** The sheets of a workbook, as JSON: `[{ name, rows: [[cell]] }]`. */
  sheets: (bytes, name) => convertPart(({ sheets }) => sheets(bytes, name)),
  /** The text of a PDF with its pages, as JSON; reading stops after `ms`. */
  pdf: async (bytes, ms) => (await pdfPart()).convert(bytes, partBytes, ms),
  /** The answer of `query_json`, as JSON. `blobs`: the file. */
  jq: async (request, blobs) => {
    const { filter, save } = JSON.parse(request);
    let text;
    try {
      text = new TextDecoder('utf-8', { fatal: true }).decode(await blobs[0].arrayBuffer());
    } catch {
      return JSON.stringify({ fault: 'not JSON: it is not UTF-8 text' });
    }
    try {
      return await jqPart(({ run }) => run(filter, text, save ?? ''));
    } catch (error) {
      if (!trap(error)) throw error;
      return JSON.stringify({ fault: 'the filter was ended: it recursed without end or needed more memory than it may use' });
    }
  },
  /** The answer of `query_table`, as JSON. `blobs`: the files of the request. */
  sql: (request, blobs) => sqlInTurn(async () => {
    const { script, module } = await sqlPart();
    try {
      tables ??= await script.start(module);
      return JSON.stringify(await tables.query(JSON.parse(request), blobs, globalThis.turnwiseParts.sheets, globalThis.turnwiseParts.decode));
    } catch (error) {
      tables = undefined; // the next query gets a new instance
      if (!trap(error)) throw error;
      return JSON.stringify({ fault: 'the query was ended: it nested too deep or needed more memory than it may use' });
    }
  }),
};
