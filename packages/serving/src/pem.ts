import { X509Certificate } from "node:crypto";

/**
 * Returns the certificates in a PEM text, in order.
 *
 * @throws Error when there is none, or one cannot be read.
 */
export function parseCertificates(pem: string): X509Certificate[] {
  const texts = pem.match(/-----BEGIN CERTIFICATE-----[^]*?-----END CERTIFICATE-----/g);
  if (texts === null) throw new Error("there is no certificate in PEM");
  try {
    return texts.map((text) => new X509Certificate(text));
  } catch (error) {
    throw new Error("a certificate in PEM cannot be read", { cause: error });
  }
}
