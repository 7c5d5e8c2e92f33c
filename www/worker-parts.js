// Appended to `worker.js` after the loader: the parts of the worker that load on first use, each from a file next to it. Rust
// calls them through `turnwiseParts` (modules/tools/src/parts.rs). The URLs have the form in which bundlers find files; a part's own
// script is copied, not bundled, and so it may not import other files: it gets what it loads as `module` or by `load`.

const partFiles = {
  'convert.js': () => new URL('./convert.js', import.meta.url),
  'convert_bg.wasm': () => new URL('./convert_bg.wasm', import.meta.url),
  'archive.js': () => new URL('./archive.js', import.meta.url),
  'encoding.js': () => new URL('./encoding.js', import.meta.url),
  'encoding_bg.wasm': () => new URL('./encoding_bg.wasm', import.meta.url),
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
    return new URL((partFiles[name] ?? splitFiles[name].url)());
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
  const answer = await fetch(url, { integrity: splitFiles[name]?.integrity ?? '' });
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
const encodingPart = wasmPart('encoding');
const archivePart = part(() => partScript('archive.js'));
const pdfPart = part(() => partScript('pdf.js'));

const jqPart = wasmPart('jq', 16 << 20);
const sqlPart = part(async () => ({ script: await partScript('sql.js'), module: await WebAssembly.compile(await partBytes('sql_bg.wasm')) }));
const sqlInTurn = queue(); // a query waits while it loads its tables
let tables; // of the last query: those that are not of the next one's files are dropped

// Functions of the module itself that few calls need (modules/tools/src/later.rs): the build takes them out of it (.ci/split.mjs), and
// says here in which files they are, for each group of them. They fit no other build, so their hashes are checked.
const splitFiles = {};
const splitGroups = {};

const loadSplit = Object.fromEntries(Object.keys(splitFiles).map((file) => [file, part(async () => WebAssembly.instantiate(await partBytes(file), { __wasm_split: wasm }))]));

/** What the module calls to load a group. */
const splitLoaders = Object.fromEntries(Object.entries(splitGroups).map(([group, files]) => [`__wasm_split_load_${group}`, async (callback, data) => {
  const loaded = await Promise.all(files.map((file) => loadSplit[file]())).then(() => true, (error) => {
    console.error(error);
    return false;
  });
  wasm.__indirect_function_table.get(callback)(data, loaded);
}]));

/** The encoding of bytes that are not UTF-8 is guessed from so many, beginning at the first that is not ASCII. */
const GUESSED_FROM = 4 << 20;

/** The label of the encoding that bytes are likely in. */
const guessed = (bytes) => {
  const first = Math.max(0, bytes.findIndex((byte) => byte > 127) - 1_000);
  const sample = bytes.subarray(first, first + GUESSED_FROM);
  return encodingPart(({ guess }) => guess(sample));
};

/**
 * A text: `{ text, name, origin }`. `label`: the encoding that the bytes declare, which counts if it is known and fits; `origin` is
 * `certain` (UTF-8, or a byte order mark), `declared` or `guessed`. Nothing else in the worker decides on an encoding, but
 * `turnwise_files::encoding`, which does the same for UTF-8, UTF-16 and UTF-32.
 */
const decoded = async (bytes, label) => {
  const [one, two, three, four] = bytes;
  const marked = one === 0xff && two === 0xfe ? 'utf-16le' : one === 0xfe && two === 0xff ? 'utf-16be' : one === 0xef && two === 0xbb && three === 0xbf ? 'utf-8' : undefined;
  if (marked) return { text: new TextDecoder(marked).decode(bytes), name: marked, origin: 'certain' };
  // JSON and tables begin with ASCII.
  const wide = one && two === 0 && three && four === 0 ? 'utf-16le' : one === 0 && two && three === 0 && four ? 'utf-16be' : undefined;
  if (wide) return { text: new TextDecoder(wide).decode(bytes), name: wide, origin: 'guessed' };
  for (const [known, origin] of [[label, 'declared'], ['utf-8', 'certain']]) {
    if (!known) continue;
    try {
      return { text: new TextDecoder(known, { fatal: true }).decode(bytes), name: new TextDecoder(known).encoding, origin };
    } catch {
      // The bytes are something else than they declare, or the label is unknown.
    }
  }
  // A few bytes that are no characters do not make another encoding of it.
  const text = new TextDecoder().decode(bytes);
  const count = (pattern) => text.match(pattern)?.length ?? 0;
  const faults = count(/\ufffd/g);
  if (faults * 4 <= count(/[^\x00-\x7f]/g) - faults) return { text, name: 'utf-8', origin: 'certain' };
  const name = await guessed(bytes);
  return { text: new TextDecoder(name).decode(bytes), name, origin: 'guessed' };
};

/** The name of an encoding, as people write it; `TextDecoder` has it in small letters. */
const shownName = (name) => ({ shift_jis: 'Shift_JIS', big5: 'Big5' })[name.toLowerCase()] ?? name.toUpperCase().replace('WINDOWS', 'Windows');

// The files of archives by their blob: a list is read once.
const archives = new WeakMap();
const opened = async (blob) => {
  const { open, gunzip } = await archivePart();
  const known = archives.get(blob);
  if (known) return known;
  const packed = new Uint8Array(await blob.slice(0, 2).arrayBuffer());
  const content = packed[0] === 0x1f && packed[1] === 0x8b ? (await gunzip(blob)).blob : blob;
  const made = { content, ...(await open(content, async (names) => shownName(await guessed(new Uint8Array(await names.arrayBuffer()))))) };
  archives.set(blob, made);
  return made;
};

globalThis.turnwiseParts = {
  /**
   * A text that is not plain UTF-8: its text, the name of its encoding, and whether it was guessed. `label`: the encoding that it
   * declares.
   */
  decode: async (bytes, label) => {
    const { text, name, origin } = await decoded(bytes, label);
    return [text, shownName(name), origin === 'guessed'];
  },
  /** The bytes of a text in an encoding; a string is the first character that it does not have. */
  encode: (text, label) => encodingPart(({ encode }) => {
    try {
      return encode(text, label);
    } catch (error) {
      if (typeof error !== 'string') throw error;
      return error;
    }
  }),
  /** What is in an archive, as JSON: `{ kind, files: [{ path, size }], notes, document }`. */
  archive: async (blob) => {
    const { kind, files, notes, document } = await opened(blob);
    return JSON.stringify({ kind, notes, document, files: files.map(({ path, size }) => ({ path, size })) });
  },
  /** The content of a file in an archive. */
  member: async (blob, path) => {
    const { content, files } = await opened(blob);
    const { read } = await archivePart();
    return read(content, files.find((file) => file.path === path));
  },
  /** What is packed by gzip; null: it is an archive. */
  gunzip: async (blob) => {
    const { gunzip } = await archivePart();
    const { blob: content, tar } = await gunzip(blob);
    return tar ? null : content;
  },
  /** The text of an office document or an e-book with its places, as JSON. */
  convert: (bytes, name) => convertPart(({ convert }) => convert(bytes, name)),
  /** The content of a file that is attached to a mail. */
  attachment: (bytes, path) => convertPart(({ attachment }) => attachment(bytes, path)),
  /** The sheets of a workbook, as JSON: `[{ name, rows: [[cell]] }]`. */
  sheets: (bytes, name) => convertPart(({ sheets }) => sheets(bytes, name)),
  /** The text of a PDF with its pages, as JSON; reading stops after `ms`. */
  pdf: async (bytes, ms) => (await pdfPart()).convert(bytes, partBytes, ms),
  /** The answer of `query_json`, as JSON. `blobs`: the file. */
  jq: async (request, blobs) => {
    const { filter, save } = JSON.parse(request);
    const { text } = await decoded(new Uint8Array(await blobs[0].arrayBuffer()));
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
