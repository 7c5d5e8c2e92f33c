// The demo model is a script that only knows the built-in tools, so the docs pages that match a question are given to it as
// files, each at its page's own path below the root, so that the files it names can be linked to.

const PAGES = 8;

function decoded(path) {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

export async function demoFiles(agent, site, question) {
  const read = site.tools.find(({ name }) => name === 'read_page');
  const { hits } = await site.search(question, { limit: 3 * PAGES });
  const pages = new Set(hits.map(({ url }) => url.split('#')[0]));
  for (const url of [...pages].slice(0, PAGES)) {
    const path = decoded(url.startsWith(site.info.root) ? url.slice(site.info.root.length) : new URL(url).pathname.slice(1)) || 'index.html';
    const { text } = await read.execute({ url }, { signal: new AbortController().signal });
    agent.files.put(path.endsWith('/') ? `${path}index.html` : path, text);
  }
}
