// Starts the app. A separate file, so that the page needs no inline script (see the CSP in index.html).
import init from "./app.js";
import { AppWorker, trustedUrl } from "./turnwise/app-client.js";

// The app finds its connection to the worker that drives its runs here.
globalThis.TurnwiseAppWorker = AppWorker;
// Starts the tools' worker, whatever address it is given.
const TOOLS = new URL("./turnwise/worker.js", import.meta.url).href;
globalThis.turnwiseWorker = (_, name) => new Worker(trustedUrl(TOOLS), { type: "module", name });
// Draws a table or a chart; the code for it loads with the first one.
globalThis.turnwiseFigure = (place, figure) => import("./figure.js").then(({ draw }) => draw(place, figure));
// Draws the formulas of a text, and its diagrams once it is complete; the code for each loads with the first one.
globalThis.turnwiseDrawings = (host) => {
  if (host.querySelector("code.tex")) import("./formula.js").then(({ draw }) => draw(host));
  if (!host.closest("[data-streaming]") && host.querySelector(".code[data-lang=mermaid]")) import("./diagram.js").then(({ draw }) => draw(host));
};
// Shows a file's text at a place, and makes buttons of mentions of the files, whose paths are one per line.
let paths = "";
let sweep;
globalThis.turnwiseFiles = (now) => {
  paths = now;
  // Texts that are already shown may mention a new file. They are looked at when the page is drawn.
  sweep ??= requestAnimationFrame(() => {
    sweep = undefined;
    document.querySelectorAll(".prose:not([data-streaming])").forEach(turnwiseCite);
  });
};
globalThis.turnwiseCite = (host) => {
  if (paths && /, (page|slide|sheet|lines?|section) |:\d/.test(host.textContent)) import("./preview.js").then(({ cite, named }) => cite(host, named(paths.split("\n"))));
};
globalThis.turnwiseShow = (host, text, place) => import("./preview.js").then(({ show }) => show(host, text, place));
// The space that is used, folders on the user's disk, and dropped archives. The picker needs the click that led here, so it is called before anything loads.
globalThis.turnwiseSpace = async () => (await navigator.storage?.estimate?.()) ?? {};
globalThis.turnwiseHasPicker = () => "showDirectoryPicker" in window;
globalThis.turnwisePick = () => window.showDirectoryPicker({ mode: "read" });
globalThis.turnwiseWalk = (folder, leftOut) => import("./folder.js").then(({ walk }) => walk(folder, leftOut.split("\n")));
globalThis.turnwiseIsOther = async (folder, open) => !await folder.isSameEntry(open.handle);
globalThis.turnwiseMayWrite = (folder) => import("./folder.js").then(({ mayWrite }) => mayWrite(folder.handle));
globalThis.turnwiseUnzip = (archive) => import("./unzip.js").then(({ open }) => open(archive));
// Reads skills: those of the user, of a site, and the one that is shipped.
globalThis.turnwiseSkills = (what, ...given) => import("./skills.js").then((skills) => skills[what](...given));
globalThis.turnwiseInflate = (packed, format, most) => import("./unzip.js").then(({ inflate }) => inflate(packed, format, most));

init({ module_or_path: new URL("./app_bg.wasm", import.meta.url) }).then(keep, (error) => {
  const note = document.getElementById("boot-note");
  if (note) note.textContent = `Turnwise could not start: ${error instanceof Error ? error.message : error}`;
  throw error;
});

/** Makes the app available offline (sw.js), and notifies the page when a new version is waiting. */
async function keep() {
  const workers = navigator.serviceWorker;
  if (!workers) return; // missing on plain http and in some private windows
  const registration = await workers.register(trustedUrl(new URL("./sw.js", import.meta.url).href)).catch(() => null);
  if (!registration) return;
  const offer = () => {
    // Without a controller, this is the first visit and not an update.
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
    // Another tab activated the new version, and this one still runs the old one.
    else if (!first) window.dispatchEvent(new Event("turnwise-update"));
  });
}
