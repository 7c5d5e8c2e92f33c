// State that is kept while a visitor goes from page to page of the site: in this tab only (sessionStorage), and never a key.
// Storage may be denied or full; then a conversation lasts as long as its page.

// Tool results are truncated: the stored part only serves as a preview.
const MAX_RESULT = 4000;
const cut = (key, value) => (key === 'result' && value?.length > MAX_RESULT ? `${value.slice(0, MAX_RESULT)}…` : value);

const guarded = (act) => {
  try {
    return act();
  } catch {
    return undefined;
  }
};

/** The storage of one conversation. `lasting`: whether what was said may be kept. */
export const place = (key, lasting) => ({
  load: () => guarded(() => lasting && ({ runs: [JSON.parse(sessionStorage.getItem(`${key}:runs`) ?? '[]')].flat(), last: sessionStorage.getItem(`${key}:last`) ?? undefined })) || { runs: [] },
  runs: (runs) => guarded(() => lasting && sessionStorage.setItem(`${key}:runs`, JSON.stringify(runs, cut))),
  /** Stores the record of the last run, as text. If it is too large for the storage, none is kept and a follow-up starts afresh. */
  last: (text) => guarded(() => { if (lasting) sessionStorage.setItem(`${key}:last`, text); return true; }) ?? guarded(() => sessionStorage.removeItem(`${key}:last`)),
  open: (state) => guarded(() => (state ? sessionStorage.setItem(`${key}:open`, state) : sessionStorage.removeItem(`${key}:open`))),
  clear: () => ['runs', 'last', 'draft', 'read'].forEach((name) => guarded(() => sessionStorage.removeItem(`${key}:${name}`))),
  /** Reads and removes a value that can be used only once. */
  take: (name) => guarded(() => {
    const value = sessionStorage.getItem(`${key}:${name}`);
    sessionStorage.removeItem(`${key}:${name}`);
    return value;
  }),
  put: (name, value) => guarded(() => sessionStorage.setItem(`${key}:${name}`, value)),
});
