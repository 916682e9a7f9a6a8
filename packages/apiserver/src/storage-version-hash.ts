import { sha256 } from "./sha256.js";

/** What discovery shows of a resource's storage version: the start of a hash, in base64. Upstream: `discovery.StorageVersionHash`. */
export function storageVersionHash(group: string, version: string, kind: string): string {
  return btoa(String.fromCharCode(...sha256(new TextEncoder().encode(`${group}/${version}/${kind}`)).subarray(0, 8)));
}
