import { type KeyObject, createPrivateKey, createPublicKey, sign, verify } from "node:crypto";

import type { SigningKey } from "../authentication/json-web-token.js";

/**
 * Returns a private key for service account tokens: RSA (RS256) or P-256 (ES256).
 *
 * @param pem - The key in PEM.
 * @throws Error when the key cannot be read or has another type.
 */
export function signingKey(pem: string): SigningKey {
  const { algorithm, privateKey } = readPrivateKey(pem);
  const publicKey = createPublicKey(privateKey);
  const encoding = { dsaEncoding: "ieee-p1363" } as const;
  return {
    algorithm,
    sign: (content) => sign("sha256", content, { key: privateKey, ...encoding }),
    verify: (content, signature) => verify("sha256", content, { key: publicKey, ...encoding }, signature),
  };
}

function readPrivateKey(pem: string): { algorithm: "RS256" | "ES256"; privateKey: KeyObject } {
  let privateKey: KeyObject;
  try {
    privateKey = createPrivateKey(pem);
  } catch (error) {
    throw new Error("the signing key cannot be read: give a private key in PEM", { cause: error });
  }
  if (privateKey.asymmetricKeyType === "rsa") return { algorithm: "RS256", privateKey };
  if (privateKey.asymmetricKeyDetails?.namedCurve === "prime256v1") return { algorithm: "ES256", privateKey };
  throw new Error(`the signing key is of type ${privateKey.asymmetricKeyType}: give an RSA or a P-256 key`);
}
