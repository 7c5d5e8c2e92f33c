// The panel's only style sheet, constructed: a host's policy on inline styles does not matter, and no rule leaks either way.
// The colours are the app's; text has a contrast of at least 4.5:1 on its background. `--turnwise-*` override them.

const CSS = `
.root {
  --bg: var(--turnwise-background, light-dark(#fffefb, #191a18)); --sunk: var(--turnwise-sunk, light-dark(#f4f2ec, #232421));
  --ink: var(--turnwise-text, light-dark(#1d1c1a, #eceae4)); --ink2: var(--turnwise-text-quiet, light-dark(#5a574f, #b2afa6));
  --line: var(--turnwise-line, light-dark(#e3dfd6, #34352f)); --edge: light-dark(#8d887d, #77746b);
  --calm: light-dark(#0f6b5c, #4fc3ae); --warn: light-dark(#8a5000, #f0b357); --urgent: light-dark(#b3261e, #ff8a80);
  --synth: light-dark(#5b3fb8, #b8a3ff); --synth-bg: light-dark(#f3effd, #251f3d); --link: var(--turnwise-link, var(--accent));
  --mono: var(--turnwise-mono, ui-monospace, "SF Mono", "Cascadia Code", Menlo, Consolas, "DejaVu Sans Mono", monospace);
  --radius: var(--turnwise-radius, 14px); --shadow: light-dark(0 1px 2px rgb(0 0 0 / .08), 0 1px 2px rgb(0 0 0 / .5)), light-dark(0 12px 40px rgb(0 0 0 / .18), 0 12px 40px rgb(0 0 0 / .55)) }
.panel {
  position: fixed; inset: auto; margin: 0; padding: 0; z-index: 2147483001; overflow: hidden; flex-direction: column;
  scrollbar-color: color-mix(in srgb, var(--ink2) 60%, transparent) transparent;
  color: var(--ink); background: var(--bg); border: 1px solid var(--line); border-radius: var(--radius); box-shadow: 0 1px 2px rgb(0 0 0 / .1), 0 12px 44px rgb(0 0 0 / .22) }
.panel.open { display: flex } .panel:focus { outline: none }
.panel:not(.open) { display: none }
.panel.floating { inline-size: min(var(--turnwise-width, 400px), calc(100% - 32px)); block-size: min(var(--turnwise-height, 640px), calc(100dvh - 40px)); max-inline-size: none; max-block-size: calc(100% - 40px) }
.panel.floating { inset-inline-end: max(16px, env(safe-area-inset-right)); inset-block-end: max(16px, env(safe-area-inset-bottom)) }
.root[data-at$=start] .panel.floating { inset-inline: max(16px, env(safe-area-inset-left)) auto }
.root[data-at^=top] .panel.floating { inset-block: max(16px, env(safe-area-inset-top)) auto }
.panel.modal { inset: 0; margin: auto; inline-size: min(var(--turnwise-width, 720px), calc(100% - 32px)); block-size: min(var(--turnwise-height, 760px), calc(100dvh - 48px)); max-inline-size: none; max-block-size: calc(100% - 48px) }
.shell { display: contents } .shell:modal { display: block; position: fixed; inset: 0 auto auto 0; inline-size: 0; block-size: 0; padding: 0; border: 0; overflow: visible }
.shell::backdrop { background: none } .shell.modal::backdrop { background: rgb(10 12 10 / .5) }
.panel.frame { inset: 0; inline-size: 100%; block-size: 100%; border: 0; border-radius: 0; box-shadow: none }
iframe { flex: 1; border: 0; background: var(--bg) }
.panel.inline { position: relative; z-index: auto; inline-size: 100%; block-size: var(--turnwise-height, 560px); box-shadow: none }
@media (max-width: 640px) {
  .panel.floating, .root[data-at] .panel.floating, .panel.modal {
    inset: auto 0 0; margin: 0; inline-size: 100%; block-size: min(92dvh, 100dvh - 24px); max-block-size: none; border-width: 1px 0 0; border-radius: 18px 18px 0 0; padding-block-end: env(safe-area-inset-bottom) }
}
/* On a touch screen fit.js sets size and place, within the visible part of the page. */
.root[data-at] .panel.sheet { inset: auto; left: 0; top: 0; margin: 0; transform-origin: 0 0; border-width: 1px 0 0; border-radius: 18px 18px 0 0; padding-block-end: env(safe-area-inset-bottom) }
button, textarea, input, select { font: inherit; color: inherit; margin: 0 }
button, summary, a { -webkit-tap-highlight-color: transparent }
button:not(:disabled), summary, select { cursor: pointer }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px }
h2, h3, h4, p, ol, ul, pre, blockquote { margin: 0 }
.hidden { position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
.icon { inline-size: 18px; block-size: 18px; fill: none; stroke: currentColor; stroke-width: 1.5px; stroke-linecap: round; stroke-linejoin: round; flex: none; display: block }
.icon path { vector-effect: non-scaling-stroke }
.icon-button { inline-size: 34px; block-size: 34px; padding: 0; display: grid; place-items: center; border: 0; border-radius: 8px; background: none; color: var(--ink2) }
.icon-button:disabled { opacity: .4 } .icon-button:hover:not(:disabled), .icon-button[aria-expanded=true] { background: var(--sunk); color: var(--ink) }
.icon-button[aria-pressed=true] { color: var(--accent); background: var(--sunk) }
.button { border: 1px solid var(--edge); border-radius: 8px; padding: 6px 12px; background: none; font-weight: 560; font-size: 14px }
.button:hover { background: var(--sunk) }
.button.main { background: var(--accent); border-color: var(--accent); color: var(--accent-ink) }
.button.main:hover { filter: brightness(1.08) }
header { display: flex; align-items: center; gap: 2px; padding: 10px 8px 8px 16px; flex: none; position: relative }
[dir=rtl] header { padding: 10px 16px 8px 8px }
header > svg { inline-size: 20px; block-size: 20px; color: var(--accent); flex: none; margin-inline-end: 8px }
h2 { flex: 1; min-inline-size: 0; font-size: 15px; font-weight: 640; line-height: 1.3; letter-spacing: -.01em; overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
.meter { display: flex; gap: 3px; padding: 0 16px; block-size: 4px; flex: none; margin-block-end: 8px }
.meter[hidden] { display: none }
.meter i { flex: 1; border-radius: 2px } .m-ahead { background: var(--line) }
.m-normal, .m-off { background: var(--calm) } .m-moderate { background: var(--warn) } .m-urgent, .m-failed { background: var(--urgent) }
.m-synthesis { background: var(--synth) } .m-live { background: var(--calm); animation: pulse 1.6s ease-in-out infinite }
@keyframes pulse { 50% { opacity: .3 } }
.menu { position: absolute; inset-block-start: 46px; inset-inline-end: 10px; z-index: 2; min-inline-size: 210px; padding: 6px; display: grid; background: var(--bg); border: 1px solid var(--line); border-radius: 10px; box-shadow: 0 8px 28px rgb(0 0 0 / .2) }
.menu[hidden] { display: none }
.menu button { border: 0; background: none; padding: 8px 10px; text-align: start; border-radius: 6px; font-size: 14px }
.menu button:hover:not(:disabled), .menu button:focus-visible { background: var(--sunk) }
.menu button:disabled { color: var(--ink2); opacity: .6 }
.scroll { flex: 1; overflow: auto; overscroll-behavior: contain; padding: 8px 16px 16px; border-block: 1px solid var(--line); scrollbar-width: thin; overflow-wrap: anywhere }
.scroll:focus-visible { outline-offset: -2px }
.column { max-inline-size: 680px; margin-inline: auto; min-block-size: 100%; display: flex; flex-direction: column }
.empty { margin-block: auto; padding-block: 16px; display: grid; gap: 6px }
.empty h3 { font-size: 20px; line-height: 1.3; font-weight: 640; letter-spacing: -.015em; text-wrap: balance }
.empty p { color: var(--ink2); font-size: 14px }
.suggestions { list-style: none; padding: 0; margin-block-start: 14px; display: grid; gap: 8px }
.suggestions button { inline-size: 100%; text-align: start; padding: 10px 14px; line-height: 1.4; background: none; border: 1px solid var(--line); border-radius: 10px }
.suggestions button:hover { border-color: var(--accent); background: var(--sunk) }
.run { padding-block: 14px 18px }
.run + .run { border-block-start: 1px solid var(--line) }
.lost { padding-block: 14px; font-size: 13.5px; color: var(--ink2) } :is(.run, .lost) + .lost, .lost + .run { border-block-start: 1px solid var(--line) }
.task { font-size: 17px; line-height: 1.35; font-weight: 640; letter-spacing: -.012em; margin-block-end: 10px; text-wrap: pretty; white-space: pre-wrap; max-block-size: 10lh; overflow: auto; scrollbar-width: thin }
.prose > * + * { margin-block-start: 10px }
.prose.aside { color: var(--ink2); font-size: 14px }
.prose.aside:not(:empty) { margin-block-end: 6px }
.live > p:last-child::after, .live > :is(ul, ol):last-child > li:last-child::after { content: ""; display: inline-block; inline-size: 7px; block-size: 1.05em; margin-inline-start: 3px; vertical-align: -2px; background: var(--accent); animation: pulse 1.6s ease-in-out infinite } .synthesis .live { --accent: var(--synth) }
.prose h3, .prose h4 { font-size: 15px; font-weight: 650; line-height: 1.35; margin-block-start: 16px }
.prose ul, .prose ol { padding-inline-start: 22px } .prose li + li { margin-block-start: 4px } .prose li > p { margin: 0 } .prose .box-item { list-style: none; margin-inline-start: -20px }
.prose a, .sources a { color: var(--link); text-decoration: underline; text-decoration-thickness: 1px; text-underline-offset: 2px }
.prose a.other { text-decoration-style: dashed; text-decoration-color: var(--ink2) } .prose a.unread::after { content: "?"; content: "?" / ""; display: inline-block; margin-inline-start: 3px; padding-inline: 4px; border-radius: 99px; font: 650 .7em/1.35 var(--turnwise-font, sans-serif); vertical-align: .25em; color: var(--warn); border: 1px solid currentColor } .prose a small { display: inline-block; white-space: pre-wrap; max-inline-size: 100%; overflow-wrap: anywhere; font-size: .84em; color: var(--ink2) }
.prose code { font: .88em var(--mono); background: var(--sunk); padding: 1px 4px; border-radius: 4px }
.prose pre { padding: 10px 12px; background: var(--sunk); border-radius: 8px; overflow: auto; direction: ltr; text-align: left; max-block-size: 360px; scrollbar-width: thin }
.prose pre code { font: 12.5px/1.55 var(--mono); background: none; padding: 0; overflow-wrap: normal; white-space: pre }
.code { position: relative } .code .icon-button { position: absolute; inset-block-start: 4px; right: 4px; inline-size: 28px; block-size: 28px; background: var(--sunk) } @media (hover: hover) { .code:not(:hover, :focus-within) .icon-button { opacity: 0 } }
.prose blockquote { padding-inline-start: 12px; border-inline-start: 3px solid var(--line); color: var(--ink2) }
.prose .written { overflow-wrap: anywhere; content-visibility: auto; contain-intrinsic-size: auto 1200px } .prose .written + .written { margin: 0 }
.prose hr { border: 0; border-block-start: 1px solid var(--line) }
.wide { overflow: auto } .wide table { inline-size: max-content; min-inline-size: 100% } .wide :is(th, td) { max-inline-size: 26ch } table { border-collapse: collapse; font-size: 13.5px; font-variant-numeric: tabular-nums }
th, td { padding-block: 5px; padding-inline: 0 10px; text-align: start; vertical-align: top; border-block-end: 1px solid var(--line); overflow-wrap: break-word } th { font-weight: 620 } .right { text-align: right } .center { text-align: center }
.c-comment { color: var(--ink2); font-style: italic } .c-string, .c-inserted { color: light-dark(#1b6b36, #8fd6a0) } .c-number, .c-constant { color: light-dark(#8a4b00, #f0b357) }
.c-keyword { color: light-dark(#5b3fb8, #b8a3ff) } .c-function, .c-name { color: light-dark(#0b5aa0, #8fc3f5) } .c-type { color: light-dark(#0f6b5c, #4fc3ae) } .c-deleted { color: var(--urgent) }
.turn { margin-block-end: 4px }
.call { font-size: 13.5px; color: var(--ink2) }
.call summary { list-style: none; display: flex; align-items: center; gap: 6px; padding-block: 3px; border-radius: 6px; min-block-size: 28px }
.call summary::-webkit-details-marker { display: none }
.call summary:hover { color: var(--ink) }
.call .icon { inline-size: 13px; block-size: 13px; transition: rotate .14s ease-out } .call[open] .icon { rotate: 90deg } [dir=rtl] .call:not([open]) .icon { rotate: 180deg }
.call b { font-weight: 560 } .call :is(b, .args) { overflow: hidden; text-overflow: ellipsis; white-space: nowrap } .call :is(b, em) { flex: none; max-inline-size: 70% } .call em { color: var(--urgent); font-style: normal }
.call[data-running] b { animation: pulse 1.6s ease-in-out infinite }
.call pre { font: 12px/1.5 var(--mono); white-space: pre-wrap; padding: 8px 10px; margin-block: 2px 8px; max-block-size: 220px; overflow: auto; background: var(--sunk); border-radius: 8px; color: var(--ink); direction: ltr; text-align: left; scrollbar-width: thin }
.retry { font-size: 13px; color: var(--warn); font-variant-numeric: tabular-nums } .retry:empty, .state:empty, .foot:empty { display: none }
.synthesis { border-inline-start: 3px solid var(--synth); background: var(--synth-bg); border-start-end-radius: 10px; border-end-end-radius: 10px; padding: 12px 14px; margin-block: 6px }
.synthesis > h4 { color: var(--synth); font-size: 13px; font-weight: 650; line-height: 1.4; margin-block-end: 6px } .synthesis .prose.aside { color: inherit; font-size: inherit } .synthesis .prose { --link: var(--synth) }
.synthesis code, .synthesis pre { background: color-mix(in srgb, var(--synth) 9%, transparent) }
.permit:focus { outline: none } .permit { border: 1px solid var(--warn); border-radius: 10px; padding: 12px 14px; margin-block: 8px; display: grid; gap: 10px; font-size: 14px } .permit p { font-weight: 560 }
.permit pre { font: 12px/1.5 var(--mono); white-space: pre-wrap; padding: 8px 10px; max-block-size: 180px; overflow: auto; background: var(--sunk); border-radius: 8px; direction: ltr; text-align: left }
.state { color: var(--ink2); font-size: 13.5px; display: flex; align-items: center; gap: 8px; min-block-size: 28px }
.dot { inline-size: 8px; block-size: 8px; border-radius: 50%; background: var(--accent); animation: pulse 1.6s ease-in-out infinite }
.sources:not(:empty) { margin-block-start: 16px }
.sources h4 { font-size: 13px; font-weight: 620; color: var(--ink2); margin-block-end: 4px }
.sources ol { padding: 0; list-style: none; display: grid; gap: 4px; counter-reset: s }
.sources li { counter-increment: s; position: relative; padding-inline-start: 22px; font-size: 14px; line-height: 1.4 } .sources li p { margin: 0 }
.sources li::before { content: counter(s); position: absolute; inset-inline-start: 0; font-size: 12.5px; line-height: 1.6; color: var(--ink2); font-variant-numeric: tabular-nums }
.sources small { display: block; color: var(--ink2); font-size: 12.5px; direction: ltr; text-align: start } .sources a { text-decoration: none; display: block } .sources a:hover { text-decoration: underline }
[dir=rtl] .sources small { text-align: end }
.foot { margin-block-start: 14px; display: flex; align-items: center; justify-content: space-between; flex-wrap: wrap; gap: 6px 10px }
.panel p { unicode-bidi: plaintext }
.ending { font-size: 13px; color: var(--ink2); font-variant-numeric: tabular-nums } .problem { color: var(--urgent); font-size: 14px; flex-basis: 100% }
.extra { display: grid; gap: 10px } .extra:not(:empty) { margin-block-start: 10px } .extra .suggestions { margin: 0 } .extra .suggestions button { font-size: 14px; padding: 8px 12px }
.comment { display: grid; gap: 8px } .comment textarea { inline-size: 100%; resize: vertical; border: 1px solid var(--edge); border-radius: 8px; padding: 7px 10px; background: var(--bg); font-size: 14px }
.actions { display: flex; gap: 4px; align-items: center; flex-wrap: wrap } :is(.keys, .permit) .actions, .problem + .actions { gap: 8px }
.docs { padding: 6px 16px 8px; font-size: 13px; color: var(--ink2); flex: none; font-variant-numeric: tabular-nums } .docs:empty { display: none } .docs.bad { color: var(--warn) }
progress { appearance: none; display: block; inline-size: 100%; block-size: 3px; border: 0; border-radius: 2px; background: var(--line); overflow: hidden; margin-block-start: 5px }
progress::-webkit-progress-bar { background: var(--line) } progress::-webkit-progress-value { background: var(--accent) } progress::-moz-progress-bar { background: var(--accent) }
.blocked { margin-block: auto; display: grid; gap: 10px; font-size: 14px }
form.ask { padding: 10px 12px 10px; flex: none; max-inline-size: 712px; inline-size: 100%; margin-inline: auto }
.box { display: flex; align-items: flex-end; gap: 6px; border: 1px solid var(--edge); border-radius: 12px; padding: 5px 5px 5px 12px; background: var(--bg) }
[dir=rtl] .box { padding: 5px 12px 5px 5px }
.box:focus-within { border-color: var(--accent); box-shadow: 0 0 0 1px var(--accent) }
.box textarea { overscroll-behavior: contain; flex: 1; min-inline-size: 0; resize: none; border: 0; background: none; outline: none; padding: 6px 0; line-height: 22px; block-size: 34px; max-block-size: 144px; scrollbar-width: thin }
.box textarea::placeholder { color: var(--ink2); opacity: 1 }
.send { inline-size: 34px; block-size: 34px; border: 0; border-radius: 8px; display: grid; place-items: center; padding: 0; background: var(--accent); color: var(--accent-ink); flex: none }
.send:disabled { background: var(--sunk); color: var(--ink2) } .send:not(:disabled):hover { filter: brightness(1.08) }
.send[data-stop] svg { fill: currentColor }
.wrap-up { flex: none; block-size: 34px; padding-block: 0; font-size: 13px }
.by { font-size: 12px; line-height: 1.4; color: var(--ink2); padding: 6px 4px 0; text-align: center } .by:empty { display: none }
/* Safari on a phone zooms in where a field with smaller text gets the focus. */
@media (max-width: 640px), (pointer: coarse) { .box textarea, .comment textarea { font-size: 16px } }
@media (prefers-reduced-motion: reduce) { .root *, .root ::before, .root ::after, ::backdrop { animation: none !important; transition: none !important } }
@media (forced-colors: active) { .panel, .box, .button { border-color: CanvasText } .meter i { forced-color-adjust: none } }`;

let sheet;
/** Gives the sheet to a shadow root that does not have it, or has lost it on its way through another document. */
export function dress({ adoptedStyleSheets: sheets }) {
  if (!sheet) (sheet = new CSSStyleSheet()).replaceSync(CSS);
  if (!sheets.includes(sheet)) sheets.push(sheet);
}
