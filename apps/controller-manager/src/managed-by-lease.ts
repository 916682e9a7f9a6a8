/**
 * Name of the Lease of a manager with `--managed-by`, so that managers with different names can lead at the same time:
 * `acme.io/foo` becomes `<base>-acme.io--foo`. Characters that are invalid in a Lease's name are replaced, and a
 * checksum then keeps the names distinct.
 */
export function managedByLeaseName(base: string, managedBy: string): string {
  const name = managedBy
    .toLowerCase()
    .replace("/", "--")
    .replaceAll(/[^a-z0-9.-]/g, "-")
    .replaceAll(/\.(?=[.-])|(?<=[.-])\./g, "-");
  const plain = /^[a-z0-9.-]+\/[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(managedBy);
  return `${base}-${plain ? name : `${name}-${checksum(managedBy)}`}`;
}

/** FNV-1a, 32 bits, in hexadecimal. */
export function checksum(text: string): string {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash.toString(16).padStart(8, "0");
}
