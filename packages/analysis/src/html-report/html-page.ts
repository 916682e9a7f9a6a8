import type { PageData } from "@kubewright/timeline/data";

import type { PageAssets } from "./page-assets.js";
import { packData } from "./packed-data.js";

/**
 * Returns the page as one HTML text: with its data for a file, or without data for a live cluster.
 *
 * @param lazyData - Packed data that the page unpacks on demand, by element ID. IDs consist of letters, digits and `-`.
 */
export async function htmlPage(
  assets: PageAssets,
  data: PageData | undefined,
  lazyData: ReadonlyMap<string, string> = new Map(),
): Promise<string> {
  const packed = data === undefined ? [] : [["report", await packData(data)] as const, ...lazyData];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${contentSecurityPolicy(assets, { live: data === undefined })}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${titleOf(data)}</title>
<link rel="icon" href="${ICON}">
<style>${assets.style}</style>
</head>
<body>
<noscript>This page draws its timeline with a script, which this browser does not run. The trace as JSON lines (<code>kubewright run --json</code>) has the same contents.</noscript>
<div id="app"></div>
${packed.map(([id, text]) => `<script type="application/gzip" id="${id}">${text}</script>\n`).join("")}<script>${assets.script}</script>
</body>
</html>
`;
}

/**
 * Permits only the page's own script and style, by their hashes. Only the live page may fetch data, from its own
 * server.
 */
export function contentSecurityPolicy({ scriptHash, styleHash }: PageAssets, { live }: { live: boolean }): string {
  return [
    "default-src 'none'",
    `script-src '${scriptHash}'`,
    `style-src '${styleHash}'`,
    "img-src data:",
    ...(live ? ["connect-src 'self'"] : []),
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
}

/** Contains no text of a manifest. */
function titleOf(data: PageData | undefined): string {
  if (data === undefined) return "kubewright, live";
  if ("a" in data) return `${titleOf(data.a)}, compared`;
  const days = `${day(data.startMs)} to ${day(data.endMs)}`;
  if (!("page" in data)) return `kubewright ${days}`;
  switch (data.page) {
    case "futures":
      return `kubewright, every future of ${days}`;
    case "spread":
      return `kubewright, load of ${days}`;
    case "recorded-run":
      return "kubewright, a run step by step";
    default:
      return data satisfies never;
  }
}

function day(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10);
}

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='4' fill='%231d4ed8'/%3E%3Cpath d='M3 5h6M5 8h8M3 11h4' stroke='white' stroke-width='2' stroke-linecap='round'/%3E%3C/svg%3E";
