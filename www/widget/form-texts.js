// The texts of the form in which the visitor chooses a model: like those in texts.js, which they join when the form is loaded.
export const FORM_TEXTS = {
  keyTitle: 'Which model should answer?', keyWhy: 'This site does not provide a model. Choose one: your key goes from this browser to the provider and nowhere else.',
  keyOwn: 'Your key goes from this browser to the provider and nowhere else.',
  way: 'Provider', key: 'API key', keyMemory: 'Kept only in the memory of this page: gone when you leave the page.', modelName: 'Model', signIn: 'Sign in at OpenRouter',
  use: 'Use it', needKey: 'Paste a key first.',
  builtInMissing: 'This browser has no built-in model. Chrome on a desktop has one: use it, or choose another way.', builtInDownload: 'Downloading the model: {percent} %',
  ollamaHint: 'Ollama must allow this site: set OLLAMA_ORIGINS to {origin} and start it again.',
};
