// What a visitor reads about a failure: one short text per kind, which says what the visitor can do, or that only the site's owner can do
// something. The slug, the status and the message are in the event `turnwise-error` and in the console.

const KINDS = { busy: /^rate_limited$/, cut: /^(stream_cut|timeout|interrupted)$/, long: /^context_/, reach: /^network_error$/, site: /^(auth|quota)_error$/ };

/** Whether a slug says that the visitor ended it, which is no failure. */
export const wanted = (slug) => /^(stopped|cancelled)$/.test(slug);

/** Returns the slugs of a failed run, most significant first, and the HTTP status of its last refusal, from its record. */
export function details({ turns, events, termination_reason: reason }) {
  const slugs = turns.at(-1)?.attempts.at(-1)?.slugs ?? [];
  const error = events.findLast(({ event }) => event.type === 'model_failed')?.event.error;
  return { slugs: slugs.length ? slugs : [reason], status: slugs.includes(error?.slug) ? error.status : undefined };
}

/**
 * Returns what to show of a failed run: `text`, the name of its text, and `key`, that of a button with which the visitor chooses another
 * model. Of the slugs, the first decides; one that no kind lists is a fault of the model's reply. `own`: whether the visitor chose the
 * model; `fix`: what a security policy lacks.
 */
export function failure({ slugs: [slug], status }, { own, fix, online = navigator.onLine } = {}) {
  if (!online) return { text: 'offline' };
  let kind = Object.keys(KINDS).find((name) => KINDS[name].test(slug)) ?? 'reply';
  // A server's own trouble passes; a request that it refuses, it refuses again.
  // What stands before a server that is down answers with 502 to 504.
  if (slug === 'provider_error') kind = status > 501 && status < 505 ? 'reach' : status < 500 && status !== 409 ? 'site' : 'busy';
  if (fix?.directive === 'connect-src') return { text: 'failed_site' };
  if (own && /reach|site/.test(kind)) kind = 'own';
  return { text: `failed_${kind}`, key: { own: 'model', site: 'useKey' }[kind] };
}
