import { generate } from "selfsigned";

export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

const KEY = { keyType: "ec", curve: "P-256", algorithm: "sha256" } as const;

/** An authority of its own, made for one test. */
export async function makeAuthority(name: string): Promise<Certificate> {
  const { cert, private: key } = await generate([{ name: "commonName", value: name }], {
    ...KEY,
    extensions: [
      { name: "basicConstraints", cA: true, critical: true },
      { name: "keyUsage", keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  return { cert, key };
}

/** A certificate that an authority signed, good for servers at 127.0.0.1 and for clients. */
export async function sign(
  ca: Certificate,
  commonName: string,
  organization?: string,
  dnsName?: string,
): Promise<Certificate> {
  const subject = [
    ...(organization === undefined ? [] : [{ name: "organizationName", value: organization }]),
    { name: "commonName", value: commonName },
  ];
  const { cert, private: key } = await generate(subject, {
    ...KEY,
    ca,
    extensions: [
      { name: "basicConstraints", cA: false, critical: true },
      { name: "keyUsage", digitalSignature: true, critical: true },
      { name: "extKeyUsage", serverAuth: true, clientAuth: true },
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
