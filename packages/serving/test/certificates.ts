import { createPublicKey } from "node:crypto";

import { generate } from "selfsigned";

/** A certificate with its private key, both in PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

export interface Validity {
  readonly notBefore: string | Date;
  readonly notAfter: string | Date;
}

export interface AuthorityOptions {
  /** Private key of the authority, in PEM. Default: a new key. */
  readonly key?: string;
  /** Issuer of the authority's certificate. Default: self-signed. */
  readonly issuer?: Certificate;
  readonly validity?: Validity;
  /** Whether the certificate is marked as a certificate authority. Default true. */
  readonly isAuthority?: boolean;
  /** Whether its key may sign certificates. Default true. */
  readonly signsCertificates?: boolean;
  /** Extended key usage of the authority. Default: unspecified, which allows every usage. */
  readonly usage?: Usage;
}

export interface SignOptions {
  readonly dnsName?: string;
  readonly validity?: Validity;
  /** Extended key usage. Default: servers and clients. */
  readonly usage?: Usage;
}

type Usage = "clients" | "servers" | "both" | "unsaid";

const KEY = { keyType: "ec", curve: "P-256", algorithm: "sha256" } as const;
/** Covers the dates that tests simulate, and today. */
const DEFAULT_VALIDITY: Validity = { notBefore: "2020-01-01T00:00:00Z", notAfter: "2049-01-01T00:00:00Z" };

/** Creates an authority for one test. */
export async function makeAuthority(name: string, options: AuthorityOptions = {}): Promise<Certificate> {
  const {
    issuer,
    validity = DEFAULT_VALIDITY,
    isAuthority = true,
    signsCertificates = true,
    usage = "unsaid",
  } = options;
  const { cert, private: key } = await generate([{ name: "commonName", value: name }], {
    ...KEY,
    ...(issuer === undefined ? {} : { ca: issuer }),
    ...(options.key === undefined ? {} : { keyPair: keyPairOf(options.key) }),
    notBeforeDate: new Date(validity.notBefore),
    notAfterDate: new Date(validity.notAfter),
    extensions: [
      { name: "basicConstraints", cA: isAuthority, critical: true },
      { name: "keyUsage", keyCertSign: signsCertificates, cRLSign: true, critical: true },
      ...extendedUsage(usage),
    ],
  });
  return { cert, key };
}

/** Creates a certificate signed by the authority, valid for servers at 127.0.0.1 and for clients. */
export async function sign(
  ca: Certificate,
  commonName: string,
  organization?: string,
  { dnsName, validity = DEFAULT_VALIDITY, usage = "both" }: SignOptions = {},
): Promise<Certificate> {
  const subject = [
    ...(organization === undefined ? [] : [{ name: "organizationName", value: organization }]),
    { name: "commonName", value: commonName },
  ];
  const { cert, private: key } = await generate(subject, {
    ...KEY,
    ca,
    notBeforeDate: new Date(validity.notBefore),
    notAfterDate: new Date(validity.notAfter),
    extensions: [
      { name: "basicConstraints", cA: false, critical: true },
      { name: "keyUsage", digitalSignature: true, critical: true },
      ...extendedUsage(usage),
      {
        name: "subjectAltName",
        altNames: [
          { type: 7, ip: "127.0.0.1" },
          ...(dnsName === undefined ? [] : [{ type: 2 as const, value: dnsName }]),
        ],
      },
    ],
  });
  return { cert, key };
}

/** Returns the certificates that a client sends: its own first, then the others. */
export function chain(leaf: Certificate, ...others: readonly Certificate[]): Certificate {
  return { cert: [leaf, ...others].map(({ cert }) => cert.trim()).join("\n"), key: leaf.key };
}

function keyPairOf(privateKey: string): { privateKey: string; publicKey: string } {
  return { privateKey, publicKey: createPublicKey(privateKey).export({ type: "spki", format: "pem" }).toString() };
}

function extendedUsage(usage: Usage) {
  if (usage === "unsaid") return [];
  return [
    {
      name: "extKeyUsage" as const,
      ...(usage === "clients" ? {} : { serverAuth: true }),
      ...(usage === "servers" ? {} : { clientAuth: true }),
    },
  ];
}
