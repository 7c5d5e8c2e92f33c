// Which addresses of the web may be asked for: public ones, by http and https. One rule for whoever fetches on behalf of a model: the tool
// `fetch_url` in pages and in Node.js, and the relay. Plain JavaScript without imports, for every host.

/** Why an address is not asked for. The message is for the model and the user. */
export class Refused extends Error {
  /** @param {string} code @param {string} message */
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

const MAX_URL = 4_000;
/** Other ports are often those of services that are no web servers. */
const PORTS = ['', '80', '443', '8080', '8443'];

/** IPv4 networks that are not public (the IANA registries of special-purpose and multicast addresses), and why. */
const V4 = [
  ['0.0.0.0/8', 'unspecified'], ['10.0.0.0/8', 'private'], ['100.64.0.0/10', 'private (shared by a provider)'], ['127.0.0.0/8', 'loopback'],
  ['169.254.0.0/16', 'link-local'], ['172.16.0.0/12', 'private'], ['192.0.0.0/24', 'reserved'], ['192.0.2.0/24', 'for documentation'],
  ['192.88.99.0/24', 'reserved'], ['192.168.0.0/16', 'private'], ['198.18.0.0/15', 'for benchmarks'], ['198.51.100.0/24', 'for documentation'],
  ['203.0.113.0/24', 'for documentation'], ['224.0.0.0/4', 'multicast'], ['240.0.0.0/4', 'reserved'],
  // A public number that means the platform itself, in every virtual network of Azure.
  ['168.63.129.16/32', 'of a cloud platform'],
].map(([network, why]) => [...range(network), why]);

/** IPv6 networks inside of 2000::/3 that are not public; outside of it none is. */
const V6 = [
  ['2001::/23', 'reserved (Teredo and others)'], ['2001:db8::/32', 'for documentation'], ['2002::/16', 'reserved (6to4)'], ['3fff::/20', 'for documentation'],
];

/** Names of machines and networks at home, which no public name server knows. */
const LOCAL_NAMES = ['localhost', 'localdomain', 'local', 'internal', 'intranet', 'private', 'corp', 'home', 'lan', 'home.arpa'];
/** Public names that are made to mean any address, such as `127.0.0.1.nip.io`, or always this machine. */
const MADE_NAMES = ['nip.io', 'sslip.io', 'xip.io', 'localtest.me', 'lvh.me', 'vcap.me', 'lacolhost.com', 'traefik.me', 'backname.io'];

function range(network) {
  const [base, bits] = network.split('/');
  const size = 2 ** (32 - Number(bits));
  const first = number(base);
  return [first, first + size];
}

function number(address) {
  return address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
}

/** What no rule of the user permits: it gives out the credentials of machines in clouds, and no page is there. */
const NEVER = ['link-local', 'of a cloud platform'];

const IS_V4 = /^\d{1,3}(\.\d{1,3}){3}$/;

/** The 16-bit groups of an IPv6 address, or undefined. */
function groups(address) {
  let text = address.replace(/^\[|\]$/g, '').replace(/%.*$/, '');
  const tail = /^(.*:)(\d{1,3}(?:\.\d{1,3}){3})$/.exec(text);
  if (tail) {
    const last = number(tail[2]);
    text = `${tail[1]}${Math.floor(last / 65_536).toString(16)}:${(last % 65_536).toString(16)}`;
  }
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const [before, after] = halves.map((half) => (half ? half.split(':') : []));
  const missing = 8 - before.length - (after?.length ?? 0);
  if (after ? missing < 1 : missing) return undefined;
  const all = [...before, ...Array(after ? missing : 0).fill('0'), ...(after ?? [])];
  return all.every((part) => /^[0-9a-f]{1,4}$/i.test(part)) ? all.map((part) => parseInt(part, 16)) : undefined;
}

const v4In = (parts, at) => `${parts[at] >> 8}.${parts[at] & 255}.${parts[at + 1] >> 8}.${parts[at + 1] & 255}`;
const beginsWith = (parts, network) => {
  const [base, bits] = network.split('/');
  const wanted = groups(base);
  return parts.every((part, at) => {
    const rest = Math.min(16, Math.max(0, Number(bits) - 16 * at));
    return part >> (16 - rest) === wanted[at] >> (16 - rest);
  });
};

/**
 * Why a network address is not public, such as `'loopback'`; undefined if it is. Of an IPv6 address that carries an IPv4 address (mapped,
 * NAT64), that one counts.
 *
 * @param {string} address IPv4 in four decimal parts, or IPv6, with or without brackets
 * @returns {string | undefined}
 *
 * @example notPublic('169.254.169.254') // 'link-local'
 */
export function notPublic(address) {
  if (IS_V4.test(address)) {
    const value = number(address);
    return V4.find(([first, end]) => value >= first && value < end)?.[2];
  }
  const parts = groups(address);
  if (!parts) return 'no network address';
  if (beginsWith(parts, '::ffff:0:0/96') || beginsWith(parts, '64:ff9b::/96')) return notPublic(v4In(parts, 6));
  if (parts.every((part) => part === 0)) return 'unspecified';
  if (parts.slice(0, 7).every((part) => part === 0)) return parts[7] === 1 ? 'loopback' : 'reserved';
  if (beginsWith(parts, 'fe80::/10')) return 'link-local';
  if (beginsWith(parts, 'fc00::/7')) return 'private';
  if (beginsWith(parts, 'ff00::/8')) return 'multicast';
  if (!beginsWith(parts, '2000::/3')) return 'reserved';
  return V6.find(([network]) => beginsWith(parts, network))?.[1];
}

/**
 * Why a host is not public as far as its name says; undefined if nothing speaks against it. A name has to be looked up where that is possible.
 *
 * @param {string} host as `URL` gives it, in small letters
 * @returns {string | undefined}
 */
export function localHost(host) {
  // Browsers do not agree on which other characters a host may have.
  if (!/^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])$/.test(host)) return 'written with characters that no name has';
  if (host.startsWith('[') || IS_V4.test(host)) return notPublic(host);
  const name = host.replace(/\.$/, '');
  if (!name.includes('.')) return 'a name of this machine or its own network';
  const below = (one) => name === one || name.endsWith(`.${one}`);
  if (LOCAL_NAMES.some(below)) return 'a name of this machine or its own network';
  return MADE_NAMES.some(below) ? 'a name that can mean this machine or its own network' : undefined;
}

/** The host of an address as rules name it, without a dot at its end: `example.org`, `example.org:8443`. @param {URL} url */
export const hostOf = (url) => `${url.hostname.replace(/\.$/, '')}${url.port && `:${url.port}`}`;

/**
 * The value of the most exact entry for an address in a table of hosts: its origin, its host, or the nearest domain above (`*.example.org`). An
 * address at a port of its own needs an entry with that port.
 *
 * @template T @param {Record<string, T>} hosts @param {URL} url @returns {T | undefined}
 */
export function ofHost(hosts, url) {
  const host = hostOf(url);
  const names = [`${url.protocol}//${host}`, host];
  if (!url.port) for (let at = host.indexOf('.'); at >= 0; at = host.indexOf('.', at + 1)) names.push(`*${host.slice(at)}`);
  const name = names.find((one) => Object.hasOwn(hosts, one));
  return name === undefined ? undefined : hosts[name];
}

/**
 * Reads an address and checks that it may be asked for: http or https, no user name or password, an ordinary port, a public host. An entry
 * with its exact origin (`http://127.0.0.1:8123`) permits any port and any host but link-local ones.
 *
 * @param {string} text @param {{ named?: (origin: string) => boolean, base?: string }} [rules] `named`: whether the user named this origin
 * @returns {URL} Throws `Refused`.
 *
 * @example address('http://0x7f.1/') // throws: … goes to 127.0.0.1, which is loopback …
 */
export function address(text, { named = () => false, base } = {}) {
  if (text.length > MAX_URL) throw new Refused('address_not_allowed', `the address is longer than ${MAX_URL} characters`);
  const url = URL.canParse(text, base) ? new URL(text, base) : undefined;
  if (!url) throw new Refused('address_not_allowed', 'this is no address: give a whole one, such as https://example.org/page');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new Refused('address_not_allowed', `only http and https addresses can be read, not ${url.protocol}`);
  if (url.username || url.password) throw new Refused('address_not_allowed', 'an address with a user name or a password is not asked for: give it without');
  url.hash = '';
  const plain = `${url.protocol}//${hostOf(url)}`;
  const why = localHost(url.hostname);
  if (NEVER.includes(why)) throw new Refused('address_not_allowed', `${plain} is never asked for, because its host is ${why}`);
  if (named(plain)) return url;
  if (!PORTS.includes(url.port)) throw new Refused('address_not_allowed', `the port ${url.port} is not asked for, only ${PORTS.filter(Boolean).join(', ')}, unless a rule names ${plain}`);
  if (why) throw new Refused('address_not_allowed', `${plain} is not asked for, because its host is ${why}; only public hosts are, unless a rule names this origin`);
  return url;
}

/**
 * Checks the network addresses that a name was resolved to. All have to be public: which one is connected to is not for the name's owner to choose.
 *
 * @param {string} host @param {string[]} found @param {boolean} [named] whether the user named the origin. Throws `Refused`.
 */
export function resolved(host, found, named = false) {
  const wrong = found.find((one) => (named ? NEVER.includes(notPublic(one)) : notPublic(one)));
  if (wrong) throw new Refused('address_not_allowed', `${host} is not asked for, because its name means ${wrong}, which is ${notPublic(wrong)}; only public hosts are, unless a rule names this origin`);
}
