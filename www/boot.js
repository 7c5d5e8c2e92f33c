// Starts the app. A file of its own, so that the page needs no inline script (see the CSP in index.html).
import init from "./app.js";

init({ module_or_path: new URL("./app_bg.wasm", import.meta.url) }).catch((error) => {
  const note = document.getElementById("boot-note");
  if (note) note.textContent = `Turnwise could not start: ${error instanceof Error ? error.message : error}`;
  throw error;
});
