// Shows a panel above everything of the host's page. It is a popover, beside which the page can be used. If a modal dialog of the page
// makes it inert, hides it from screen readers, or takes the focus or the clicks from it, the dialog around it becomes modal: then the
// page is inert, and with it the page's dialog, until the panel is closed.

const DIALOGS = 'dialog:modal, [aria-modal=true], [role$=dialog]';
/** Events that the focus trap of a page would swallow, or take for a wish to leave its dialog. */
const TRAPPED = ['keydown', 'pointerdown', 'pointerup', 'mousedown', 'mouseup', 'touchstart', 'touchend', 'click'];

/** Hands an event to the panel's own listeners only. What the browser does by default, it does once, for the original. */
function keep(event, shadow) {
  if (event.type === 'keydown' && !/^(Tab|Escape)$/.test(event.key)) return;
  event.stopImmediatePropagation();
  if (!/^(keydown|click)$/.test(event.type)) return; // nothing here listens to the others
  const { key, ctrlKey, metaKey, shiftKey, altKey } = event;
  const copy = new event.constructor(event.type, { key, ctrlKey, metaKey, shiftKey, altKey, bubbles: true, cancelable: true });
  let prevented;
  const last = () => {
    prevented = copy.defaultPrevented;
    copy.preventDefault();
  };
  shadow.addEventListener('click', last);
  const does = event.composedPath()[0].dispatchEvent(copy);
  shadow.removeEventListener('click', last);
  if (prevented ?? !does) event.preventDefault();
}

export class Layer {
  #shell;
  #panel;
  #modal;
  #focus;
  #close;
  #entered = false; // whether it got the focus since it was opened
  #over = new AbortController(); // aborted when the panel is closed
  #raised = new AbortController(); // aborted when it is no modal dialog any more

  /** `shell`: a dialog element in the tag's shadow root, with a popover in it. `modal`: whether it is always modal. `focus()` sets the focus
   *  in it; `close()` is called when the browser closes it. */
  constructor(shell, { modal, focus, close }) {
    this.#shell = shell;
    this.#panel = shell.firstChild;
    this.#modal = modal;
    this.#focus = focus;
    this.#close = close;
    // Radix asks at the element before it closes its dialog for a press or a focus outside: neither the panel nor the tag's button is outside.
    for (const what of ['pointerDown', 'focus']) this.#host.addEventListener(`dismissableLayer.${what}Outside`, (event) => event.preventDefault());
  }

  get #shown() {
    return this.#panel.matches(':popover-open');
  }

  get #inside() {
    return this.#panel.contains(this.#panel.getRootNode().activeElement);
  }

  /** Whether it is shown, but cannot be used because of a dialog of the page. */
  get blocked() {
    const { left, top, width, height } = this.#panel.getBoundingClientRect();
    // Nothing inert is found at a point.
    const there = this.#panel.getRootNode().elementFromPoint(left + width / 2, top + height / 2);
    return this.#shown && (!this.#panel.contains(there) || (!this.#shell.matches(':modal') && this.#host.closest('[inert], [aria-hidden=true]') !== null));
  }

  get #host() {
    return this.#panel.getRootNode().host;
  }

  /**
   * Shows it, also after the page took it out and put it back. With `focus` it gets the focus, once, and again if it was blocked since;
   * returns whether it did. Without, no dialog of the page loses its own.
   */
  show(focus) {
    if (!this.#panel.isConnected) return false;
    if (!this.#shown) this.#modal ? this.#raise() : this.#float();
    const { blocked } = this;
    if (!focus || (this.#entered && !blocked)) return false;
    this.#entered = true;
    if (blocked) this.#raise();
    this.#focus();
    // The page took the focus back at once.
    if (!this.#inside) this.#seize();
    return true;
  }

  #float() {
    this.#lower();
    this.#panel.showPopover();
    const { signal } = this.#over = new AbortController();
    const watch = (test) => setTimeout(() => this.#shown && !this.#shell.matches(':modal') && test() && this.#seize());
    this.#panel.addEventListener('focusin', () => watch(() => !this.#inside), { signal });
    for (const type of ['mousedown', 'touchstart']) {
      addEventListener(type, (event) => event.composedPath().includes(this.#panel) && watch(() => event.defaultPrevented), { signal, capture: true, passive: true });
    }
  }

  #seize() {
    this.#raise();
    this.#focus();
  }

  #raise() {
    const shell = this.#shell;
    const panel = this.#panel;
    const host = this.#host;
    this.#lower();
    shell.showModal();
    panel.showPopover();
    host.removeAttribute('aria-hidden');
    const { signal } = this.#raised = new AbortController();
    shell.addEventListener('cancel', (event) => {
      event.preventDefault();
      this.#close();
    }, { signal });
    // A browser does not ask twice.
    shell.addEventListener('close', () => shell.open || this.#close(), { signal });
    for (const type of TRAPPED) addEventListener(type, (event) => event.composedPath().includes(panel) && keep(event, panel.getRootNode()), { signal, capture: true });
    const dialogs = [...document.querySelectorAll(DIALOGS)].filter((dialog) => dialog.checkVisibility());
    if (this.#modal || !dialogs.length) return;
    const watch = new MutationObserver(() => {
      if (dialogs.some((dialog) => dialog.isConnected && dialog.checkVisibility())) return;
      const at = panel.getRootNode().activeElement;
      this.#float();
      at?.focus();
    });
    watch.observe(document, { attributes: true, childList: true, subtree: true });
    signal.addEventListener('abort', () => watch.disconnect());
  }

  hide() {
    this.#entered = false;
    this.#lower();
  }

  #lower() {
    this.#over.abort();
    this.#raised.abort();
    if (this.#shown) this.#panel.hidePopover();
    if (this.#shell.matches(':modal')) this.#shell.close();
    this.#shell.open = false; // left behind if the page took it out
  }
}
