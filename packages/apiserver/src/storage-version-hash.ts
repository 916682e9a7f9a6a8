import { sha256 } from "./sha256.js";

/**
 * Returns discovery's storage version hash: the first bytes of a SHA-256, in base64. Upstream:
 * `discovery.StorageVersionHash`.
 */
export function storageVersionHash(group: string, version: string, kind: string): string {
  return btoa(String.fromCharCode(...sha256(new TextEncoder().encode(`${group}/${version}/${kind}`)).subarray(0, 8)));
}
