// Folders of the user's own disk, through the handles of the browser's picker. Loads when the first one is opened.

/** Most files of one folder, and most bytes of all of them. */
const MOST_FILES = 5_000;
const MOST_BYTES = 1_073_741_824;

/**
 * The files below a folder, as references: nothing is read from them yet. `leftOut`: names that are passed over, in small or capital letters.
 * A file that does not fit is left out by itself; `large` counts these. `more`: there are more files than fit.
 * `folder` is what writes to it: its handle, and what was left out of it, which nothing is written to (crates/tools/src/folder.rs).
 */
export async function walk(folder, leftOut, mostBytes = MOST_BYTES) {
  const names = new Set(leftOut.map((name) => name.toLowerCase()));
  const found = { paths: [], files: [], large: 0, more: false, folder: { handle: folder, leftOut: [], more: false } };
  const leave = (path) => found.folder.leftOut.push(path);
  const open = [[folder, '']];
  let size = 0;
  while (open.length > 0) {
    const [at, path] = open.pop();
    try {
      for await (const entry of at.values()) {
        if (names.has(entry.name.toLowerCase())) continue;
        const below = path + entry.name;
        if (entry.kind === 'directory') {
          open.push([entry, `${below}/`]);
          continue;
        }
        if (found.files.length + found.folder.leftOut.length >= MOST_FILES) {
          found.more = found.folder.more = true;
          return found;
        }
        // A file that cannot be opened now is left out, such as one that another program holds.
        const file = await entry.getFile().catch(() => null);
        if (file && size + file.size <= mostBytes) {
          size += file.size;
          found.paths.push(below);
          found.files.push(file);
        } else {
          if (file) found.large += 1;
          leave(below);
        }
      }
    } catch (error) {
      // A folder inside that cannot be read.
      if (path === '') throw error;
      leave(path.slice(0, -1));
    }
  }
  return found;
}

/** Asks for write access to a folder; whether it was given. Needs a click of the user. */
export async function mayWrite(folder) {
  // A browser without this function asks when the file is written.
  if (!folder.requestPermission) return true;
  return await folder.requestPermission({ mode: 'readwrite' }).catch(() => '') === 'granted';
}
