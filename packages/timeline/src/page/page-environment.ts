/** The environment of the page: its own document, or an element in a host page. */
export interface PageEnvironment {
  /** Container of the page's parts. Its parent also belongs to the page, and contains the parts above the root. */
  readonly root: HTMLElement;
  /**
   * Element with the attribute `data-theme`: `light`, `dark`, or `auto` for the setting of the system or the host page.
   */
  readonly themed: HTMLElement;
  /** Event target for keyboard events. */
  readonly keys: EventTarget;
  readonly address: Address;
  /** Whether the page is embedded in a host page, which has its own landmarks, title and theme. */
  readonly isEmbedded: boolean;
  /** Returns packed data that is embedded in the page, by its element id. */
  part(id: string): string | undefined;
  /** Receives the selection. Default: none. */
  readonly onSelect?: (selection: Selection | undefined) => void;
}

/** A run, one of its pods, or a ghost for a skipped run. */
export interface Selection {
  readonly kind: "CronJob" | "Job" | "Pod";
  readonly namespace: string;
  /** For a skipped run: the name of its CronJob. */
  readonly name: string;
  /** The slot of a CronJob's run or of a skipped run. Epoch milliseconds. */
  readonly slotMs?: number;
  /** The outcome: `Complete`, `Failed`, `Skipped` and so on. */
  readonly outcome: string;
}

/** Stores the view state. */
export interface Address {
  /** With a leading `#`, or empty. */
  readonly hash: string;
  /** A link to the current view; `undefined` when the page has no address of its own. */
  readonly link: string | undefined;
  /** @param hash - Without a leading `#`. */
  replace(hash: string): void;
  /** Adds a history entry, so that the back button returns to the current view. */
  push(hash: string): void;
  listen(type: "hashchange" | "popstate", listener: () => void, signal?: AbortSignal): void;
}

/**
 * Creates the environment of a page that is the whole document. `data-theme` is set on its root element, and its
 * address is the link.
 */
export function ownDocument(root: HTMLElement): PageEnvironment {
  const address: Address = {
    get hash() {
      return window.location.hash;
    },
    get link() {
      return window.location.href;
    },
    replace: (hash) => window.history.replaceState(null, "", addressOf(hash)),
    push: (hash) => window.history.pushState(null, "", addressOf(hash)),
    listen: (type, listener, signal) => window.addEventListener(type, listener, signal === undefined ? {} : { signal }),
  };
  return {
    root,
    themed: document.documentElement,
    keys: window,
    address,
    isEmbedded: false,
    part: (id) => document.querySelector(`#${id}`)?.textContent ?? undefined,
  };
}

function addressOf(hash: string): string {
  const { pathname, search } = window.location;
  return hash === "" ? `${pathname}${search}` : `#${hash}`;
}

/** Creates an in-memory address for an embedded element. */
export function ownAddress(): Address {
  let current = "";
  const set = (hash: string): void => void (current = hash === "" ? "" : `#${hash}`);
  return {
    get hash() {
      return current;
    },
    link: undefined,
    replace: set,
    push: set,
    listen: () => {},
  };
}

/** Returns the focused element of the document or shadow tree that contains the element. */
export function focusedBeside(element: Element): Element | null {
  const tree = element.getRootNode();
  return tree instanceof Document || tree instanceof ShadowRoot ? tree.activeElement : null;
}

/** Returns the tag of a landmark for a whole document, or of a plain section for an embedded element. */
export function partTag<Tag extends "header" | "main" | "aside">(
  { isEmbedded }: PageEnvironment,
  tag: Tag,
): Tag | "div" | "section" {
  if (!isEmbedded) return tag;
  return tag === "header" ? "div" : "section";
}
