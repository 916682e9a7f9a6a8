import path from "node:path";

import { REPOSITORY, root, sourceUrl } from "./repository.ts";
import { pageOf } from "./site-map.ts";

const HERE = new RegExp(`^${REPOSITORY}/(?:tree|blob)/main/([^#]*)(#.*)?$`);

/** A link between Markdown's brackets, or the definition of one. */
const LINK = /(?<=\]\()([^)\s]+)(?=\))|(?<=^\[[^\]]+\]: )(\S+)/gm;
const FENCE = /^(`{3,}).*\n[\s\S]*?^\1$/gm;

/**
 * The text with links as the site has them: to its own pages where a document is one of them, else to the repository.
 *
 * @param source - The document, from the root of the checkout.
 * @throws Error that names a link which leads nowhere.
 */
export function withSiteLinks(text: string, source: string): string {
  return outsideFences(text, (part) => part.replace(LINK, (target: string) => siteLink(target, source)));
}

/** What is not code, changed. */
export function outsideFences(text: string, change: (part: string) => string): string {
  let result = "";
  let from = 0;
  for (const match of text.matchAll(FENCE)) {
    result += change(text.slice(from, match.index)) + match[0];
    from = match.index + match[0].length;
  }
  return result + change(text.slice(from));
}

function siteLink(target: string, source: string): string {
  const here = HERE.exec(target);
  if (here === null && /^(?:[a-z]+:|#|\/)/.test(target)) return target;
  const [, file = "", anchor = ""] = /^([^#]*)(#.*)?$/.exec(target)!;
  const wanted = here?.[1] ?? path.posix.join(path.posix.dirname(source), decodeURI(file));
  const hash = here?.[2] ?? anchor;
  const place = wanted.replace(/\/$/, "");
  const page = pageOf(place);
  if (page !== undefined) return `/${page.route === "index" ? "" : page.route}${hash === "#readme" ? "" : hash}`;
  if (place.startsWith("docs/images/")) return `/${place.slice("docs/".length)}`;
  const url = sourceUrl(place);
  if (url === undefined) throw new Error(`${source}: a link leads to ${path.join(root, place)}, which there is not`);
  return `${url}${hash}`;
}
