/**
 * The Lease of a manager with `--managed-by`, so that managers of other names lead beside it: `acme.io/foo` becomes
 * `<base>-acme.io--foo`. What a Lease's name cannot hold is replaced, and a checksum then keeps names apart.
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

/** FNV-1a, 32 bits. */
export function checksum(text: string): string {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash.toString(16).padStart(8, "0");
}
