import type { PageData } from "../data/page-data.js";

/**
 * What `packData` packed. Nothing is fetched for it: the page's policy does not let it.
 *
 * @throws Error when it is damaged, or the browser is too old to read it.
 */
export async function unpackData(packed: string): Promise<PageData> {
  if (typeof DecompressionStream === "undefined")
    throw new Error("this browser is too old for it: Chrome 80, Firefox 113 and Safari 16.4 can read it");
  const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
  const json = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return (await new Response(json).json()) as PageData;
}
