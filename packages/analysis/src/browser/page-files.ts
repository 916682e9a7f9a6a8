import type { PageAssets } from "../html-report/page-assets.js";

/** The page's script and style from `@kubewright/timeline`: `page.js` and `page.css`. */
export interface PageFiles {
  readonly script: string;
  readonly style: string;
}

/** Adds hashes. Requires a secure context: HTTPS, or a server on the same machine. */
export async function pageAssetsOf({ script, style }: PageFiles): Promise<PageAssets> {
  const [scriptHash, styleHash] = await Promise.all([script, style].map(sha256));
  return { script, style, scriptHash: scriptHash!, styleHash: styleHash! };
}

async function sha256(text: string): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  return `sha256-${btoa(String.fromCharCode(...digest))}`;
}
