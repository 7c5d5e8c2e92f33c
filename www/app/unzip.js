// Opens dropped archives: the files of a ZIP archive, each unpacked by the browser's own streams with limits, and gzip. Loads with the first archive.
// PKWARE's APPNOTE 6.3.10, sections 4.3.7, 4.3.12 and 4.3.16. The archive is not held in memory: its end is read, then its list, then one file after the other.

/** The bytes at the end in which the end record is looked for, with the longest comment. */
const TAIL = 22 + 65_535;
/** The length of a file's header before its name. */
const LOCAL = 30;
/** What an entry of the list begins with. */
const ENTRY = 0x02014b50;
/** Most bytes of all files of an archive, unpacked, and most files. */
const MOST_BYTES = 512 * 2 ** 20;
const MOST_FILES = 20_000;

// Each completes the sentence `all.zip was not opened: …`.
const DAMAGED = 'it is damaged';
const ENCRYPTED = 'it is protected by a password';
const TOO_MUCH = 'it would unpack to more than 512 MB, or 20,000 files';
const METHOD = 'it is compressed in a way that this browser cannot read';

/** Fails with the reason why an archive is not opened. */
const refuse = (why) => { throw new Error(why); };

/** The files of an archive: their paths, and their content in the same order. */
export async function open(archive) {
  const tail = await bytes(archive, Math.max(0, archive.size - TAIL), archive.size);
  const { start, length, count } = listAt(tail);
  const opened = { paths: [], files: [] };
  for (const file of listed(await bytes(archive, start, start + length), count)) {
    opened.paths.push(file.path);
    opened.files.push(await unpacked(archive, file));
  }
  return opened;
}

async function unpacked(archive, { at, packed, size, deflated }) {
  const header = await bytes(archive, at, at + LOCAL);
  if (header.byteLength < LOCAL || header.getUint32(0, true) !== 0x04034b50) refuse(DAMAGED);
  const start = at + LOCAL + header.getUint16(26, true) + header.getUint16(28, true);
  const content = archive.slice(start, start + packed);
  if (!deflated) return content;
  // A file that says it is small and is not would fill the tab.
  const whole = await inflate(content, 'deflate-raw', size).catch(() => null);
  return whole?.size === size ? whole : refuse(DAMAGED);
}

/**
 * Unpacks at most `most` bytes; null: it would be more. Fails if it is damaged. `format` as `DecompressionStream` names it. It stops as soon as
 * the content is larger: a small file can unpack to more than a tab can hold.
 */
export async function inflate(blob, format, most) {
  const reader = blob.stream().pipeThrough(new DecompressionStream(format)).getReader();
  const parts = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return new Blob(parts);
    size += value.byteLength;
    if (size > most) {
      reader.cancel().catch(() => {});
      return null;
    }
    parts.push(value);
  }
}

function listAt(tail) {
  let at = tail.byteLength - 22;
  while (at >= 0 && tail.getUint32(at, true) !== 0x06054b50) at -= 1;
  if (at < 0) refuse(DAMAGED);
  const [count, length, start] = [tail.getUint16(at + 10, true), tail.getUint32(at + 12, true), tail.getUint32(at + 16, true)];
  // The 64-bit extension.
  if (start === 0xffff_ffff || count === 0xffff) refuse(METHOD);
  if (count > MOST_FILES) refuse(TOO_MUCH);
  return { start, length, count };
}

/** The files in the list of an archive, without folders. A list with more or fewer entries than it says is not read in part. */
function listed(list, count) {
  const files = [];
  let [at, total] = [0, 0];
  for (let entry = 0; entry < count; entry += 1) {
    if (at + 46 > list.byteLength || list.getUint32(at, true) !== ENTRY) refuse(DAMAGED);
    const two = (offset) => list.getUint16(at + offset, true);
    const four = (offset) => list.getUint32(at + offset, true);
    const [flags, method, packed, size, header] = [two(8), two(10), four(20), four(24), four(42)];
    const name = at + 46;
    const next = name + two(28) + two(30) + two(32);
    if (next > list.byteLength) refuse(DAMAGED);
    const path = new TextDecoder().decode(new Uint8Array(list.buffer, list.byteOffset + name, two(28))).replaceAll('\\', '/');
    // The tools read it as it is: they can guess the encoding.
    if (path.includes('\ufffd')) refuse('its names are not UTF-8');
    at = next;
    if (path.endsWith('/')) continue;
    if (flags & 1) refuse(ENCRYPTED);
    if (method !== 0 && method !== 8) refuse(METHOD);
    // What is not packed is as large as it says: otherwise each of many entries could be the whole archive, and count as nothing.
    if (method === 0 && packed !== size) refuse(DAMAGED);
    total += size;
    if (total > MOST_BYTES || files.length >= MOST_FILES) refuse(TOO_MUCH);
    files.push({ path, at: header, packed, size, deflated: method === 8 });
  }
  if (at + 4 <= list.byteLength && list.getUint32(at, true) === ENTRY) refuse(DAMAGED);
  return files;
}

async function bytes(archive, from, to) {
  const read = await archive.slice(from, to).arrayBuffer().catch(() => null);
  return new DataView(read ?? refuse(DAMAGED));
}
