// Makes the frame's Trusted Types policy, before Mermaid loads. Mermaid writes texts into elements as HTML, which the frame's policy
// refuses unless they come from here. There is no other policy: DOMPurify, which Mermaid cleans its texts with, would make its own.
// Nothing runs because of it: the frame runs its own script only, by its hash.
const policy = globalThis.trustedTypes?.createPolicy('turnwise', { createHTML: (text) => text });
if (policy) {
  Object.defineProperty(globalThis, 'trustedTypes', { value: undefined });
  const html = (text) => policy.createHTML(text ?? '');
  const { get, set } = Object.getOwnPropertyDescriptor(Element.prototype, 'innerHTML');
  Object.defineProperty(Element.prototype, 'innerHTML', { get, set(text) { set.call(this, html(text)); } });
  const { parseFromString } = DOMParser.prototype;
  DOMParser.prototype.parseFromString = function parse(text, type) { return parseFromString.call(this, html(text), type); };
}
