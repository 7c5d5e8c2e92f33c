// The panel's texts. A site can replace any of them: element.texts = { placeholder: '…' }. `{name}` is a placeholder.
import { NAMES } from './providers.js';

export const TEXTS = {
  en: {
    label: 'Ask the docs', heading: 'Ask the docs', placeholder: 'Ask a question', followUp: 'Ask a follow-up',
    greeting: 'What would you like to know?', about: 'The answer comes from the pages of this site and links to their sections.',
    suggestions: 'Examples',
    send: 'Send', stop: 'Stop', stopping: 'Wrapping up', cancel: 'Cancel', close: 'Close', menu: 'Menu', transcript: 'Conversation', newConversation: 'New conversation',
    openApp: 'Open in the app', download: 'Download the record', model: 'Model and key',
    handedOver: 'Opened in the app.', notHandedOver: 'The app did not accept the record, so it was downloaded. Drop the file onto the app.',
    docs_finding: 'Looking for the docs of this site', docs_loading: 'Reading the docs: {done} of {total} pages', docs_indexing: 'Preparing the search: {done} of {total} pages',
    docs_failed: 'The docs of this site could not be read: {why}', docs_ready: 'Searching {pages} pages',
    starting: 'Starting', thinking: 'Thinking',
    search_docs: 'Searched', read_page: 'Read', list_pages: 'Listed the pages', search_files: 'Searched', read_file: 'Read', list_files: 'Listed the files', calculate: 'Calculated',
    tool: 'Tool {name}', toolRunning: 'running', toolFailed: 'failed', toolRefused: 'not allowed', arguments: 'Arguments', sawTitle: 'What the model saw',
    retry: 'Trying again in {s} s: {why}', retrying: 'Trying again: {why}',
    synthesis: 'Synthesis: {why}', trigger_max_turns: 'the turn limit was reached', trigger_stop: 'you asked it to wrap up', trigger_context: 'the context window is full',
    trigger_wall_time: 'the time is up', trigger_tokens: 'the token budget is used up', trigger_cost: 'the cost budget is used up',
    sources: 'Sources', newTab: 'opens in a new tab', notRead: 'not read for this answer', good: 'Good answer', bad: 'Bad answer', thanks: 'Thank you.', copy: 'Copy the answer', copyCode: 'Copy the code', copied: 'Copied.',
    turn: '1 turn', turns: '{n} turns', meter: 'Turn {n} of {max}, {left} left', meterSynthesis: 'Synthesis after {n} of {max} turns',
    ended: 'Answered in {turns}.', endedSynthesis: 'Concluded after {turns}: {why}.', endedNoSynthesis: 'Ended after {turns}: {why}.',
    cancelled: 'Cancelled.', failed: 'No answer.', continue: 'Continue', again: 'Try again', brokenOff: 'This was interrupted before it was answered.', lost: 'One earlier answer could not be shown.', lostTask: 'One earlier answer could not be shown: “{task}”', useKey: 'Use your own key',
    wants: 'The assistant wants to use {name}.', allow: 'Allow', allowAlways: 'Allow for this answer', deny: 'Don’t allow', asksYou: 'Waiting for you',
    contact: 'Contact a person', contactAsk: 'Send this conversation along?', contactWhy: 'It helps whoever answers you. Your key is never part of it.', contactWith: 'With the conversation', contactWithout: 'Without it',
    answerReady: 'Answer:', offline: 'You are offline. Connect, then try again.',
    startFailed: 'The agent could not start: {why}', foreign: 'the attribute src of this tag names another site, {origin}. Only a script of this page may do that.', blocked: 'The security policy of this site blocks the agent. Whoever runs the site has to add this to its Content-Security-Policy header:',
    keyTitle: 'Which model should answer?', keyWhy: 'This site does not provide a model. Choose one: your key goes from this browser to the provider and nowhere else.',
    keyOwn: 'Your key goes from this browser to the provider and nowhere else.',
    keyRefused: 'The key was refused. Check it, or choose another way.',
    way: 'Provider', way_ollama: 'Ollama on this computer',
    'way_prompt-api': 'Built into this browser', way_demo: 'Demo: scripted, not an AI',
    key: 'API key', keyMemory: 'Kept only in the memory of this page: gone when you leave the page.', modelName: 'Model', signIn: 'Sign in at OpenRouter', or: 'or paste a key',
    use: 'Use it', back: 'Back', needKey: 'Paste a key first.', signInFailed: 'Sign-in failed: {why}. Try again, or paste a key.',
    builtInMissing: 'This browser has no built-in model. Chrome on a desktop has one: use it, or choose another way.', builtInDownload: 'Downloading the model: {percent} %',
    ollamaHint: 'Ollama must allow this site: set OLLAMA_ORIGINS to {origin} and start it again.',
    demo: 'Demo: scripted, not an AI', answersBy: '{model}: answers may be wrong, check the sections',
  },
  de: {
    label: 'Frag die Doku', heading: 'Frag die Doku', placeholder: 'Frage stellen', followUp: 'Nachfragen',
    greeting: 'Was möchten Sie wissen?', about: 'Die Antwort kommt aus den Seiten dieser Website und verweist auf die Abschnitte.',
    suggestions: 'Beispiele',
    send: 'Senden', stop: 'Stopp', stopping: 'Fasst zusammen', cancel: 'Abbrechen', close: 'Schließen', menu: 'Menü', transcript: 'Unterhaltung', newConversation: 'Neue Unterhaltung',
    openApp: 'In der App öffnen', download: 'Aufzeichnung herunterladen', model: 'Modell und Schlüssel',
    handedOver: 'In der App geöffnet.', notHandedOver: 'Die App hat sie nicht übernommen, deshalb wurde die Aufzeichnung heruntergeladen: Datei auf die App ziehen.',
    docs_finding: 'Sucht die Dokumentation dieser Website', docs_loading: 'Liest die Dokumentation: {done} von {total} Seiten', docs_indexing: 'Bereitet die Suche vor: {done} von {total} Seiten',
    docs_failed: 'Die Dokumentation dieser Website ließ sich nicht lesen: {why}', docs_ready: 'Durchsucht {pages} Seiten',
    starting: 'Startet', thinking: 'Denkt nach',
    search_docs: 'Gesucht', read_page: 'Gelesen', list_pages: 'Seiten aufgelistet', search_files: 'Gesucht', read_file: 'Gelesen', list_files: 'Dateien aufgelistet', calculate: 'Gerechnet',
    tool: 'Werkzeug {name}', toolRunning: 'läuft', toolFailed: 'fehlgeschlagen', toolRefused: 'nicht erlaubt', arguments: 'Argumente', sawTitle: 'Was das Modell sah',
    retry: 'Neuer Versuch in {s} s: {why}', retrying: 'Neuer Versuch: {why}',
    synthesis: 'Zusammenfassung: {why}', trigger_max_turns: 'die Höchstzahl der Schritte ist erreicht', trigger_stop: 'Sie haben angehalten', trigger_context: 'das Kontextfenster ist voll',
    trigger_wall_time: 'die Zeit ist um', trigger_tokens: 'die Token sind verbraucht', trigger_cost: 'das Budget ist verbraucht',
    sources: 'Quellen', newTab: 'öffnet einen neuen Tab', notRead: 'für diese Antwort nicht gelesen', good: 'Gute Antwort', bad: 'Schlechte Antwort', thanks: 'Danke.', copy: 'Antwort kopieren', copyCode: 'Code kopieren', copied: 'Kopiert.',
    turn: '1 Schritt', turns: '{n} Schritten', meter: 'Schritt {n} von {max}, {left} übrig', meterSynthesis: 'Zusammenfassung nach {n} von {max} Schritten',
    ended: 'Beantwortet in {turns}.', endedSynthesis: 'Zusammengefasst nach {turns}: {why}.', endedNoSynthesis: 'Beendet nach {turns}: {why}.',
    cancelled: 'Abgebrochen.', failed: 'Keine Antwort.', continue: 'Weitermachen', again: 'Noch einmal', brokenOff: 'Das wurde vor der Antwort abgebrochen.', lost: 'Eine frühere Antwort konnte nicht angezeigt werden.', lostTask: 'Eine frühere Antwort konnte nicht angezeigt werden: „{task}“', useKey: 'Eigenen Schlüssel verwenden',
    wants: 'Der Assistent möchte {name} benutzen.', allow: 'Erlauben', allowAlways: 'Für diese Antwort erlauben', deny: 'Nicht erlauben', asksYou: 'Wartet auf Sie',
    contact: 'Einen Menschen fragen', contactAsk: 'Diese Unterhaltung mitschicken?', contactWhy: 'Das hilft dem, der Ihnen antwortet. Ihr Schlüssel ist nie dabei.', contactWith: 'Mit der Unterhaltung', contactWithout: 'Ohne',
    answerReady: 'Antwort:', offline: 'Keine Verbindung. Verbinden und noch einmal versuchen.',
    startFailed: 'Der Agent konnte nicht starten: {why}', foreign: 'Das Attribut src dieses Tags nennt eine andere Website, {origin}. Das darf nur ein Skript dieser Seite.', blocked: 'Die Sicherheitsrichtlinie dieser Website sperrt den Agenten. Wer die Website betreibt, muss in ihrem Header Content-Security-Policy ergänzen:',
    keyTitle: 'Welches Modell soll antworten?', keyWhy: 'Diese Website bringt kein Modell mit. Wählen Sie eines: Ihr Schlüssel geht von diesem Browser zum Anbieter und nirgendwohin sonst.',
    keyOwn: 'Ihr Schlüssel geht von diesem Browser zum Anbieter und nirgendwohin sonst.',
    keyRefused: 'Der Schlüssel wurde abgelehnt. Bitte prüfen, oder einen anderen Weg wählen.',
    way: 'Anbieter', way_ollama: 'Ollama auf diesem Rechner',
    'way_prompt-api': 'In diesen Browser eingebaut', way_demo: 'Demo: nach Drehbuch, keine KI',
    key: 'API-Schlüssel', keyMemory: 'Bleibt nur im Speicher dieser Seite: weg, wenn Sie sie verlassen.', modelName: 'Modell', signIn: 'Bei OpenRouter anmelden', or: 'oder Schlüssel einfügen',
    use: 'Verwenden', back: 'Zurück', needKey: 'Bitte erst einen Schlüssel einfügen.', signInFailed: 'Die Anmeldung ist misslungen: {why}. Noch einmal versuchen, oder einen Schlüssel einfügen.',
    builtInMissing: 'Dieser Browser hat kein eingebautes Modell. Chrome auf einem Rechner hat eines: dort öffnen, oder einen anderen Weg wählen.', builtInDownload: 'Modell wird geladen: {percent} %',
    ollamaHint: 'Ollama muss diese Website zulassen: OLLAMA_ORIGINS auf {origin} setzen und neu starten.',
    demo: 'Demo: nach Drehbuch, keine KI', answersBy: '{model}: Antworten können falsch sein, bitte die Abschnitte prüfen',
  },
};

// Names also come from models and pages, and every object has a `constructor`.
const at = (of, name) => (of && Object.hasOwn(of, name) ? of[name] : undefined);

/** Returns a function that gives a text by its name and values, in the closest language; the site's own texts come first. */
export function speak(language, own) {
  const shipped = at(TEXTS, language.split('-')[0]) ?? TEXTS.en;
  return (name, values = {}) => String(at(own, name) ?? at(shipped, name) ?? at(TEXTS.en, name) ?? at(NAMES, name) ?? name).replace(/\{(\w+)\}/g, (all, key) => at(values, key) ?? all);
}

/** Tools whose calls have their own text. */
const TOOLS = new Set(['search_docs', 'read_page', 'list_pages', 'search_files', 'read_file', 'list_files', 'calculate']);
const MAX_NAME = 80;

/** Returns the text for a tool call; a model may call a tool by any name. */
export const toolWords = (t, name) => (TOOLS.has(name) ? t(name) : t('tool', { name: String(name).slice(0, MAX_NAME) }));
