import { isIP } from "node:net";

/** Certificates generated for one cluster, in PEM. */
export interface TlsIdentity {
  readonly ca: string;
  readonly server: { readonly cert: string; readonly key: string };
  /** Certificate of user `kubernetes-admin` in group `system:masters`. */
  readonly client: { readonly cert: string; readonly key: string };
}

const YEAR_MS = 365 * 86_400_000;
const KEY = { keyType: "ec", curve: "P-256", algorithm: "sha256" } as const;

/**
 * Generates an authority, a server certificate for these hosts, and an administrator certificate, each valid for a
 * year.
 */
export async function makeTlsIdentity(hosts: readonly string[]): Promise<TlsIdentity> {
  // Loaded on demand, because loading takes a quarter of the remaining startup time.
  const { generate } = await import("selfsigned");
  const validity = { notBeforeDate: new Date(Date.now() - 60_000), notAfterDate: new Date(Date.now() + YEAR_MS) };
  const authority = await generate([{ name: "commonName", value: "kubewright-ca" }], {
    ...KEY,
    ...validity,
    extensions: [
      { name: "basicConstraints", cA: true, critical: true },
      { name: "keyUsage", keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  const ca = { cert: authority.cert, key: authority.private };
  const altNames = hosts.map((host) =>
    isIP(host) ? { type: 7 as const, ip: host } : { type: 2 as const, value: host },
  );
  const forServer = generate([{ name: "commonName", value: "kubewright" }], {
    ...KEY,
    ...validity,
    ca,
    extensions: [
      { name: "keyUsage", digitalSignature: true, critical: true },
      { name: "extKeyUsage", serverAuth: true },
      { name: "subjectAltName", altNames },
    ],
  });
  const forClient = generate(
    [
      { name: "organizationName", value: "system:masters" },
      { name: "commonName", value: "kubernetes-admin" },
    ],
    {
      ...KEY,
      ...validity,
      ca,
      extensions: [
        { name: "keyUsage", digitalSignature: true, critical: true },
        { name: "extKeyUsage", clientAuth: true },
      ],
    },
  );
  const [server, client] = await Promise.all([forServer, forClient]);
  return {
    ca: authority.cert,
    server: { cert: server.cert, key: server.private },
    client: { cert: client.cert, key: client.private },
  };
}
