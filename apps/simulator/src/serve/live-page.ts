import type { PathHandler } from "@kubewright/cluster";
import { contentSecurityPolicy, htmlPage, pageAssets } from "@kubewright/analysis/page";

import type { Io } from "../io/io.js";

export const PAGE_PATH = "/ui/";

/** Serves the live page under {@link PAGE_PATH}. Reads its assets at the first request. */
export function livePagePaths(io: Io): Readonly<Record<string, PathHandler>> {
  return {
    [PAGE_PATH]: async () => {
      const assets = await pageAssets(io);
      return {
        status: 200,
        contentType: "text/html; charset=utf-8",
        text: await htmlPage(assets, undefined),
        headers: {
          // No page may embed this one in a frame. A policy in the page itself cannot forbid this; older browsers use
          // the second header.
          "content-security-policy": `${contentSecurityPolicy(assets, { live: true })}; frame-ancestors 'none'`,
          "x-frame-options": "DENY",
          "referrer-policy": "no-referrer",
          "cache-control": "no-cache",
        },
      };
    },
    [PAGE_PATH.slice(0, -1)]: async () => ({
      status: 307,
      contentType: "text/plain; charset=utf-8",
      text: `The page is at ${PAGE_PATH}\n`,
      headers: { location: PAGE_PATH },
    }),
  };
}
