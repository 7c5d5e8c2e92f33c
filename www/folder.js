// Folders of the user's own disk, through the handles of the browser's picker. Loads when the first one is opened.

/** Most files of one folder, and most bytes of all of them. */
const MOST_FILES = 5_000;
const MOST_BYTES = 1_073_741_824;

/**
 * The files below a folder, as references: nothing is read from them yet. `leftOut`: names that are passed over.
 * A file that does not fit is left out by itself; `large` counts these. `more`: there are more files than fit.
 */
export async function walk(folder, leftOut, mostBytes = MOST_BYTES) {
  const found = { paths: [], files: [], large: 0, more: false };
  const open = [[folder, '']];
  let size = 0;
  while (open.length > 0) {
    const [at, path] = open.pop();
    for await (const entry of at.values()) {
      if (leftOut.includes(entry.name)) continue;
      const below = path + entry.name;
      if (entry.kind === 'directory') {
        open.push([entry, `${below}/`]);
        continue;
      }
      // A file that cannot be opened now is left out, such as one that another program holds.
      const file = await entry.getFile().catch(() => null);
      if (!file) continue;
      if (found.files.length >= MOST_FILES) return { ...found, more: true };
      if (size + file.size > mostBytes) {
        found.large += 1;
        continue;
      }
      size += file.size;
      found.paths.push(below);
      found.files.push(file);
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
