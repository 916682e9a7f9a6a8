// oxlint-disable-next-line kubewright/no-ambient-io -- the one place that signs: no time, no randomness, no I/O
import {
  type KeyObject,
  createHmac,
  createPrivateKey,
  createPublicKey,
  sign,
  timingSafeEqual,
  verify,
} from "node:crypto";

export type Claims = Readonly<Record<string, unknown>>;

const MIN_SECRET_BYTES = 32;

/** Signs claims as JSON Web Tokens (RFC 7519) and tells its own from others'. */
export class TokenSigner {
  readonly #header: string;
  readonly #sign: (text: string) => Buffer;
  readonly #verify: (text: string, signature: Buffer) => boolean;

  /**
   * @param key - A private key in PEM: RSA (RS256) or P-256 (ES256). Anything else is a secret of at least 32 bytes (HS256).
   * @throws Error when the key is too short, or of another kind.
   */
  constructor(key: string | Uint8Array) {
    const text = typeof key === "string" ? key : "";
    if (text.includes("-----BEGIN")) {
      const { algorithm, privateKey } = readPrivateKey(text);
      const publicKey = createPublicKey(privateKey);
      const encoding = { dsaEncoding: "ieee-p1363" } as const;
      this.#header = headerOf(algorithm);
      this.#sign = (content) => sign("sha256", Buffer.from(content), { key: privateKey, ...encoding });
      this.#verify = (content, signature) =>
        verify("sha256", Buffer.from(content), { key: publicKey, ...encoding }, signature);
      return;
    }
    const secret = Buffer.from(key);
    if (secret.byteLength < MIN_SECRET_BYTES)
      throw new Error(`a signing secret of ${secret.byteLength} bytes is too short: give at least ${MIN_SECRET_BYTES}`);
    this.#header = headerOf("HS256");
    this.#sign = (content) => createHmac("sha256", secret).update(content).digest();
    this.#verify = (content, signature) => {
      const own = this.#sign(content);
      return own.byteLength === signature.byteLength && timingSafeEqual(own, signature);
    };
  }

  sign(claims: Claims): string {
    const content = `${this.#header}.${base64Url(JSON.stringify(claims))}`;
    return `${content}.${this.#sign(content).toString("base64url")}`;
  }

  /** What a token claims, if this signer signed it. Times and audiences are for the caller to check. */
  verify(token: string): Claims | undefined {
    const [header, payload = "", signature, ...rest] = token.split(".");
    // The header says nothing that is not known: another one means another signer.
    if (header !== this.#header || signature === undefined || rest.length > 0) return undefined;
    if (!this.#verify(`${header}.${payload}`, Buffer.from(signature, "base64url"))) return undefined;
    return JSON.parse(Buffer.from(payload, "base64url").toString()) as Claims;
  }
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

function headerOf(algorithm: string): string {
  return base64Url(JSON.stringify({ alg: algorithm, typ: "JWT" }));
}

function base64Url(text: string): string {
  return Buffer.from(text).toString("base64url");
}
