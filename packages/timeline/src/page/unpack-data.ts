import type { PageData } from "../data/page-data.js";

/**
 * Unpacks the output of `packData`. Decodes it without a fetch, which the page's content security policy forbids.
 *
 * @throws Error when the data is damaged, or the browser is too old to read it.
 */
export async function unpackData(packed: string): Promise<PageData> {
  if (typeof DecompressionStream === "undefined")
    throw new Error("this browser is too old for it: Chrome 80, Firefox 113 and Safari 16.4 can read it");
  const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
  const json = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return (await new Response(json).json()) as PageData;
}
