import path from "node:path";

import { REPOSITORY, root, sourceUrl } from "./repository.ts";
import { pageOf } from "./site-map.ts";

const HERE = new RegExp(`^${REPOSITORY}/(?:tree|blob)/main/([^#]*)(#.*)?$`);

/** A target between Markdown's brackets, or of a link definition. */
const LINK = /(?<=\]\()([^)\s]+)(?=\))|(?<=^\[[^\]]+\]: )(\S+)/gm;
const FENCE = /^(`{3,}).*\n[\s\S]*?^\1$/gm;

/**
 * Converts links to links of the site: to a page of the site where the target is one, otherwise to the repository.
 *
 * @param source - Path of the document, relative to the root of the checkout.
 * @throws Error that names a broken link.
 */
export function withSiteLinks(text: string, source: string): string {
  return outsideFences(text, (part) => part.replace(LINK, (target: string) => siteLink(target, source)));
}

/** Applies a change to all parts outside of code blocks. */
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
