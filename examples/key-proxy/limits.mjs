// How requests are counted: for each visitor, and for all of them.

const MINUTE = 60_000;

/**
 * Counts a request in each window of time, `[length in ms, most]`, unless one of them is full: then it returns how long to wait,
 * and `counts` must not be stored. `counts` is what earlier calls left.
 */
export function count(counts, limits, now = Date.now()) {
  for (const [length, most] of limits) {
    const current = Math.floor(now / length);
    const held = counts[length];
    // A window that has begun does not end because a clock goes back, or because another machine's is behind.
    const window = held?.window === current + 1 ? held.window : current;
    const so = held?.window === window ? held.count : 0;
    if (so >= most) return { seconds: Math.ceil(((window + 1) * length - now) / 1000) };
    counts[length] = { window, count: so + 1 };
  }
  return undefined;
}

/**
 * Meters in the memory of one process. They begin anew with it, and each process has its own. A meter with `keep` is never forgotten:
 * there is one for each kind of request. `most` meters of visitors are held. For a new one, the meter is forgotten that was asked
 * longest ago, whatever the answer was, and that is not full. If all are full, whoever is new has to wait.
 */
export function inMemory(most = 10_000) {
  const [kept, visitors] = [new Map(), new Map()];
  return (name, { keep = false } = {}) => ({
    async take(limits) {
      const now = Date.now();
      const all = keep ? kept : visitors;
      const held = all.get(name);
      const counts = { ...held?.counts };
      const wait = count(counts, limits, now);
      if (held) {
        all.delete(name); // so that the one that was asked last is last
        all.set(name, held);
      }
      if (wait) return wait;
      if (!held && !keep && all.size >= most && !forget(all, now)) return { seconds: MINUTE / 1000 };
      const next = count({ ...counts }, limits, now);
      all.set(name, { counts, fullUntil: next ? now + next.seconds * 1000 : 0 });
      return undefined;
    },
  });
}

/** Forgets the first meter that is not full; `false` if there is none. */
function forget(all, now) {
  for (const [name, { fullUntil }] of all) if (fullUntil <= now) return all.delete(name);
  return false;
}

/**
 * Returns the network that an address counts for: the address itself, or in IPv6 its /64, all of which belongs to one customer.
 * Whatever is not an address is one network, so that no made-up text is a new visitor.
 */
export function network(address) {
  // Some proxies add the port of the connection, some systems the interface.
  const bare = String(address ?? '').trim().replace(/^\[(.*)\](:\d+)?$/, '$1').replace(/%.*$/, '');
  const four = /^(\d{1,3}(?:\.\d{1,3}){3})(:\d+)?$/.exec(bare)?.[1];
  if (four) return parsed(`http://${four}/`)?.hostname ?? '';
  const six = /^[\da-f:.]+$/i.test(bare) && parsed(`http://[${bare}]/`)?.hostname.slice(1, -1); // in its canonical form
  if (!six) return '';
  const [head, tail] = six.split('::').map((part) => part.split(':').filter(Boolean));
  const groups = tail ? [...head, ...Array(8 - head.length - tail.length).fill('0'), ...tail] : head;
  if (/^(0:){5}ffff:/.test(groups.join(':'))) {
    // An IPv4 address written as IPv6.
    return groups.slice(6).map((group) => parseInt(group, 16)).map((pair) => `${pair >> 8}.${pair & 255}`).join('.');
  }
  return groups.slice(0, 4).join(':');
}

/** The address, or `undefined`: `URL.parse` is newer than Node.js 20. */
export function parsed(address) {
  try {
    return new URL(address);
  } catch {
    return undefined;
  }
}
