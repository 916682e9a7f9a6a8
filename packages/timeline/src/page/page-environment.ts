/** What the page is in: a document of its own, or an element in somebody else's. */
export interface PageEnvironment {
  /** What the page's parts are put into. Its parent is the page's own as well, and holds what stands above it. */
  readonly root: HTMLElement;
  /** Has `data-theme`: `light`, `dark`, or `auto`, as the system has it, or the page around. */
  readonly themed: HTMLElement;
  /** Where keys are heard. */
  readonly keys: EventTarget;
  readonly address: Address;
  /** Whether the page is a part of another, which has landmarks, a title and a theme of its own. */
  readonly isEmbedded: boolean;
  /** Packed data that comes with the page, by its name. */
  part(id: string): string | undefined;
  /** Hears what is selected. Default: nobody does. */
  readonly onSelect?: (selection: Selection | undefined) => void;
}

/** A run, one of its pods, or the ghost of a run that never was. */
export interface Selection {
  readonly kind: "CronJob" | "Job" | "Pod";
  readonly namespace: string;
  /** Of a skipped run: that of its CronJob. */
  readonly name: string;
  /** The slot, of a run of a CronJob, or one that was skipped. Epoch milliseconds. */
  readonly slotMs?: number;
  /** What became of it: `Complete`, `Failed`, `Skipped` … */
  readonly outcome: string;
}

/** Keeps what is looked at. */
export interface Address {
  /** With a leading `#`, or empty. */
  readonly hash: string;
  /** What leads others here; `undefined` when nothing does. */
  readonly link: string | undefined;
  /** @param hash - Without a leading `#`. */
  replace(hash: string): void;
  /** To where the way back leads here. */
  push(hash: string): void;
  listen(type: "hashchange" | "popstate", listener: () => void, signal?: AbortSignal): void;
}

/** A document with nothing else in it: `data-theme` on its root, and the link is its address. */
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

/** What is looked at in an element: only the page itself knows. */
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

/** What is focused in the document or the shadow tree that an element is in. */
export function focusedBeside(element: Element): Element | null {
  const tree = element.getRootNode();
  return tree instanceof Document || tree instanceof ShadowRoot ? tree.activeElement : null;
}

/** A landmark of a document of its own; in an element it is one of its parts. */
export function partTag<Tag extends "header" | "main" | "aside">(
  { isEmbedded }: PageEnvironment,
  tag: Tag,
): Tag | "div" | "section" {
  if (!isEmbedded) return tag;
  return tag === "header" ? "div" : "section";
}
