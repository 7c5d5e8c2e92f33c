// Starts the app. A file of its own, so that the page needs no inline script (see the CSP in index.html).
import init from "./app.js";
import { Desk } from "./turnwise/desk.js";

// Where the app finds its line to the worker that drives its runs.
globalThis.TurnwiseDesk = Desk;

init({ module_or_path: new URL("./app_bg.wasm", import.meta.url) }).then(keep, (error) => {
  const note = document.getElementById("boot-note");
  if (note) note.textContent = `Turnwise could not start: ${error instanceof Error ? error.message : error}`;
  throw error;
});

/** Keeps the app for when there is no network (sw.js), and tells the page when a new version waits. */
async function keep() {
  const workers = navigator.serviceWorker;
  if (!workers) return; // not on plain http, nor in some private windows
  const registration = await workers.register(new URL("./sw.js", import.meta.url)).catch(() => null);
  if (!registration) return;
  const offer = () => {
    // Without a controller this is the first visit, and no news.
    if (registration.waiting && workers.controller) window.dispatchEvent(new Event("turnwise-update"));
  };
  offer();
  registration.addEventListener("updatefound", () => {
    registration.installing?.addEventListener("statechange", offer);
  });
  let asked = false;
  window.addEventListener("turnwise-take-over", () => {
    asked = true;
    if (registration.waiting) registration.waiting.postMessage("take-over");
    else window.location.reload();
  });
  const first = !workers.controller;
  workers.addEventListener("controllerchange", () => {
    if (asked) window.location.reload();
    // Another tab took the new version, and this one still runs the old.
    else if (!first) window.dispatchEvent(new Event("turnwise-update"));
  });
}
