// Preloaded into a process: a connection, a look-up of a name or a datagram ends it at once.
import dgram from 'node:dgram';
import dns from 'node:dns';
import net from 'node:net';

const refuse = (what) => () => {
  process.stderr.write(`the network was used: ${what}\n`);
  process.exit(99);
};
net.Socket.prototype.connect = refuse('a connection');
dgram.Socket.prototype.send = refuse('a datagram');
dns.lookup = refuse('a look-up');
dns.promises.lookup = refuse('a look-up');
globalThis.fetch = refuse('fetch');
