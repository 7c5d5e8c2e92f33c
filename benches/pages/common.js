// Shared by all pages, so that they do the same work: one tool, whose result is 1,024 characters long.
export const MODEL = 'bench-1';
export const SYSTEM = 'You are measured.';
export const TASK = 'Call echo until you are told to answer.';
export const ECHO = {
  name: 'echo',
  description: 'Returns the text, padded',
  parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'], additionalProperties: false },
};
export const echo = ({ text }) => String(text).padEnd(1024, '.');
