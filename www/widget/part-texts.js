// The texts of the parts that load on first use. They join those of texts.js when their part is loaded.

/** The form in which the visitor chooses a model (keys.js). */
export const FORM = {
  keyTitle: 'Which model should answer?', keyWhy: 'This site does not provide a model. Choose one: your key goes from this browser to the provider and nowhere else.',
  keyOwn: 'Your key goes from this browser to the provider and nowhere else.',
  way: 'Provider', key: 'API key', keyMemory: 'Kept only in the memory of this page: gone when you leave the page.', modelName: 'Model', signIn: 'Sign in at OpenRouter',
  use: 'Use it', needKey: 'Paste a key first.',
  builtInMissing: 'This browser has no built-in model. Chrome on a desktop has one: use it, or choose another way.', builtInDownload: 'Downloading the model: {percent} %',
  ollamaHint: 'Ollama must allow this site: set OLLAMA_ORIGINS to {origin} and start it again.',
};

/** Handing over to the app and to a person (hand-over.js). */
export const HAND_OVER = {
  handedOver: 'Opened in the app.', notHandedOver: 'The app did not accept the record, so it was downloaded. Drop the file onto the app.', contactAsk: 'Send this conversation along?', contactWhy: 'It helps whoever answers you. Your key is never part of it.', contactWith: 'With the conversation', contactWithout: 'Without it',
};

/** The comment field and further questions (care.js). */
export const CARE = {
  comment: 'Anything to add?', skip: 'Skip', related: 'What do the docs say about “{section}”?',
};
