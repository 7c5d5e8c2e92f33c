// What stays while a visitor goes from page to page of the site: in this tab only (sessionStorage), and never a key.
// Storage may be refused or full; then a conversation lives as long as its page.

// What the model saw of a page is kept as far as a glance needs it.
const MAX_RESULT = 4000;
const cut = (key, value) => (key === 'result' && value?.length > MAX_RESULT ? `${value.slice(0, MAX_RESULT)}…` : value);

const guarded = (act) => {
  try {
    return act();
  } catch {
    return undefined;
  }
};

/** The place of one conversation. */
export const place = (key) => ({
  load: () => guarded(() => ({ runs: [JSON.parse(sessionStorage.getItem(`${key}:runs`) ?? '[]')].flat(), last: sessionStorage.getItem(`${key}:last`) ?? undefined })) ?? { runs: [] },
  runs: (runs) => guarded(() => sessionStorage.setItem(`${key}:runs`, JSON.stringify(runs, cut))),
  /** The record of the last run, as text. One too large for the storage is not kept: a follow-up then starts afresh. */
  last: (text) => guarded(() => { sessionStorage.setItem(`${key}:last`, text); return true; }) ?? guarded(() => sessionStorage.removeItem(`${key}:last`)),
  open: (state) => guarded(() => (state ? sessionStorage.setItem(`${key}:open`, state) : sessionStorage.removeItem(`${key}:open`))),
  clear: () => ['runs', 'last', 'draft', 'read'].forEach((name) => guarded(() => sessionStorage.removeItem(`${key}:${name}`))),
  /** Takes a value that is good for once. */
  take: (name) => guarded(() => {
    const value = sessionStorage.getItem(`${key}:${name}`);
    sessionStorage.removeItem(`${key}:${name}`);
    return value;
  }),
  put: (name, value) => guarded(() => sessionStorage.setItem(`${key}:${name}`, value)),
});
