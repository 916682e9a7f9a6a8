import { X509Certificate } from "node:crypto";

/** The certificates in a text in PEM, in order. @throws Error when there is none, or one that cannot be read. */
export function parseCertificates(pem: string): X509Certificate[] {
  const texts = pem.match(/-----BEGIN CERTIFICATE-----[^]*?-----END CERTIFICATE-----/g);
  if (texts === null) throw new Error("there is no certificate in PEM");
  try {
    return texts.map((text) => new X509Certificate(text));
  } catch (error) {
    throw new Error("a certificate in PEM cannot be read", { cause: error });
  }
}
