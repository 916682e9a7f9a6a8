import { base64Url, bytesOfBase64Url } from "../base64.js";
import { hmacSha256, isSameSecret } from "../sha256.js";

export type Claims = Readonly<Record<string, unknown>>;

/** Signs bytes and verifies its own signatures. */
export interface SigningKey {
  /** Name of the algorithm in a token's header: `RS256`. */
  readonly algorithm: string;
  sign(content: Uint8Array): Uint8Array;
  verify(content: Uint8Array, signature: Uint8Array): boolean;
}

const MIN_SECRET_BYTES = 32;

/** Signs claims as JSON Web Tokens (RFC 7519) and verifies its own tokens. */
export class TokenSigner {
  readonly #header: string;
  readonly #key: SigningKey;

  /**
   * @param key - Bytes or text: a secret of at least 32 bytes (HS256).
   * @throws Error when the secret is too short, or when it is a private key in PEM, which must be passed as a {@link
   * SigningKey}.
   */
  constructor(key: string | Uint8Array | SigningKey) {
    this.#key = typeof key === "string" || key instanceof Uint8Array ? secretKey(key) : key;
    this.#header = base64Url(utf8(JSON.stringify({ alg: this.#key.algorithm, typ: "JWT" })));
  }

  sign(claims: Claims): string {
    const content = `${this.#header}.${base64Url(utf8(JSON.stringify(claims)))}`;
    return `${content}.${base64Url(this.#key.sign(utf8(content)))}`;
  }

  /** Returns the claims of a token that this signer signed, else `undefined`. The caller checks times and audiences. */
  verify(token: string): Claims | undefined {
    const [header, payload = "", signature, ...rest] = token.split(".");
    // The header of this signer's tokens is constant: a different header belongs to another signer.
    if (header !== this.#header || signature === undefined || rest.length > 0) return undefined;
    const signed = bytesOfBase64Url(signature);
    if (signed === undefined || !this.#key.verify(utf8(`${header}.${payload}`), signed)) return undefined;
    return JSON.parse(new TextDecoder().decode(bytesOfBase64Url(payload))) as Claims;
  }
}

function secretKey(key: string | Uint8Array): SigningKey {
  if (typeof key === "string" && key.includes("-----BEGIN"))
    throw new Error("a private key in PEM signs by `signingKey(pem)` of @kubewright/apiserver/http");
  const secret = typeof key === "string" ? utf8(key) : key;
  if (secret.byteLength < MIN_SECRET_BYTES)
    throw new Error(`a signing secret of ${secret.byteLength} bytes is too short: give at least ${MIN_SECRET_BYTES}`);
  const sign = (content: Uint8Array): Uint8Array => hmacSha256(secret, content);
  return { algorithm: "HS256", sign, verify: (content, signature) => isSameSecret(sign(content), signature) };
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
