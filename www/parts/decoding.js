// The text of a file as UTF-8: byte order marks, UTF-16 without one, and encodings that have to be guessed.

const again = ({ label }, bytes) => new TextEncoder().encode(new TextDecoder(label).decode(bytes));

/** Where no part of the worker guesses encodings. */
const western = async (bytes) => [new TextDecoder('windows-1252').decode(bytes), 'Windows-1252', true];

/**
 * The bytes as UTF-8 without byte order mark, and what had to be assumed: `{ bytes, note }`. `part`: the text may end within a
 * character. `decode(bytes)` gives the text of bytes that are not UTF-8, the name of its encoding, and whether that was guessed.
 */
export async function utf8(bytes, part = false, decode = western) {
  const marked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  const plain = marked ? bytes.subarray(3) : bytes;
  const wide = marked ? undefined : utf16(bytes);
  if (wide) return { bytes: again(wide, bytes), note: wide.guessed ? `it was read as ${wide.label.toUpperCase()}` : undefined };
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(plain, { stream: part });
    return { bytes: plain };
  } catch {
    const [text, name] = await decode(plain);
    const note = name.toLowerCase() === 'utf-8' ? 'it has bytes that are not UTF-8, which are shown as \ufffd' : `it is not UTF-8 and was read as ${name}`;
    return { bytes: new TextEncoder().encode(text), note };
  }
}

/** UTF-16 by its mark, or by its zero bytes: most characters of a table are of ASCII. */
function utf16(bytes) {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return { label: 'utf-16le' };
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return { label: 'utf-16be' };
  const head = bytes.subarray(0, 1_000);
  let even = 0, odd = 0;
  for (let at = 0; at < head.length; at += 1) if (head[at] === 0) at % 2 ? odd += 1 : even += 1;
  const half = head.length / 2;
  if (odd > half * 0.4 && even < half * 0.05) return { label: 'utf-16le', guessed: true };
  if (even > half * 0.4 && odd < half * 0.05) return { label: 'utf-16be', guessed: true };
  return undefined;
}
