// Reads skills for the app: files and archives of the user, the skill that is shipped, and those that a site offers. Loads with the first one.
import { findSkills, readSkills } from './turnwise/skills.js';

const ARCHIVE = /\.(zip|skill|tar|tgz|tar\.gz)$/i;
/** Most skills of a site that are listed. */
const MOST = 100;

/** What was read, as JSON; no two tools have one name, those of the skills that are there (`others`, JSON) included. */
async function answer({ skills, faults }, others) {
  const rest = JSON.parse(others).filter(({ name }) => !skills.some((skill) => skill.name === name));
  const all = await readSkills([...rest, ...skills]);
  return JSON.stringify({ skills: all.skills.slice(rest.length), faults });
}

/** Files with their paths; each archive is read by itself. */
export async function read(others, paths, files) {
  const homes = paths.filter((path) => /(^|\/)skill\.md$/i.test(path)).map((path) => path.slice(0, path.lastIndexOf('/') + 1));
  const loose = {};
  const archives = [];
  paths.forEach((path, at) => {
    // One in a folder is a file of its skill.
    if (ARCHIVE.test(path) && !path.includes('/')) archives.push(files[at]);
    // The rest of a large folder is not read.
    else if (homes.some((home) => path.startsWith(home))) loose[path] = files[at];
    else if (!homes.length) loose[path] = '';
  });
  return answer(await readSkills([...(Object.keys(loose).length ? [loose] : []), ...archives]), others);
}

/** Whether an archive holds a skill. */
export const holds = async (_, __, [file]) => JSON.stringify((await readSkills(file)).skills.length > 0);

export const shipped = async (others) => answer(await readSkills(new URL('./turnwise/skills/research-documents/SKILL.md', import.meta.url)), others);

/** What `load` takes: one function for each skill that was listed last. */
let loaders = [];

/** Lists what an address offers: a site, its index, a SKILL.md or an archive. Nothing is loaded but the index. */
export async function find(_, [given]) {
  const local = /^(localhost|127\.0\.0\.1)\b/i.test(given);
  const url = new URL(/^[a-z][a-z0-9+.-]*:/i.test(given) && !/^[\w.-]+:\d/.test(given) ? given : `${local ? 'http' : 'https'}://${given}`);
  const isOne = /\/skill\.md$/i.test(url.pathname) || ARCHIVE.test(url.pathname);
  const found = isOne
    ? [{ name: decodeURIComponent(url.pathname.split('/').at(/\.md$/i.test(url.pathname) ? -2 : -1)), description: '', url: url.href, load: () => readSkills(url) }]
    : await findSkills(url);
  loaders = found.map(({ load }) => load);
  const offered = found.slice(0, MOST).map(({ name, description, url: from }) => ({ name, description, url: from }));
  return JSON.stringify({ offered, more: found.length - offered.length });
}

export const load = async (others, [at]) => answer(await loaders[Number(at)](), others);
