// The script of the sandboxed frame: an origin of its own, and a policy that allows this script, by its hash, a worker from a
// blob, and WebAssembly. It receives `[text of the worker, first message]` and a port, and connects the two. Removing the
// frame ends the worker. The worker is a classic one: Chromium starts no module worker from a blob of such an origin.
// The frame inherits a page's Trusted Types.
const policy = globalThis.trustedTypes?.createPolicy('turnwise', { createScriptURL: (url) => url });
onmessage = ({ data: [text, first], ports: [port] }) => {
  onmessage = null;
  const url = URL.createObjectURL(new Blob([text], { type: 'text/javascript' }));
  const worker = new Worker(policy ? policy.createScriptURL(url) : url);
  worker.onmessage = ({ data }) => port.postMessage(data);
  worker.onerror = ({ message }) => port.postMessage({ failed: message || 'it could not be started' });
  port.onmessage = ({ data }) => worker.postMessage(data);
  worker.postMessage(first);
};
parent.postMessage('turnwise-sandbox', '*');
