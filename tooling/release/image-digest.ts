import { createHash } from "node:crypto";

/** Basic credentials for a registry's token service. */
export interface Credentials {
  readonly username: string;
  readonly password: string;
}

const DOCKER_HUB = "registry-1.docker.io";
const MANIFESTS = [
  "application/vnd.oci.image.index.v1+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.docker.distribution.manifest.v2+json",
].join(", ");

/**
 * Asks the registry of an image for its manifest by the registry API v2, and returns the SHA-256 digest of the answer,
 * such as `sha256:…`. The digest is computed, and compared with that of the registry.
 *
 * @param image - `[HOST/]NAME:TAG`; without a host of Docker Hub. Hosts of this machine are asked over HTTP.
 * @throws Error that names the image when it has no tag, the registry refuses, or the digests differ.
 */
export async function imageDigest(image: string, credentials?: Credentials): Promise<string> {
  const { host, name, tag } = parts(image);
  const protocol = /^(?:localhost|127\.0\.0\.1)(?::|$)/.test(host) ? "http" : "https";
  const url = `${protocol}://${host}/v2/${name}/manifests/${tag}`;
  const get = (headers: Readonly<Record<string, string>>): Promise<Response> =>
    fetch(url, { headers: { accept: MANIFESTS, ...headers } });
  let response = await get({});
  const challenge = response.headers.get("www-authenticate");
  if (response.status === 401 && challenge !== null)
    response = await get({ authorization: await authorization(image, challenge, credentials) });
  if (!response.ok) throw new Error(`${image}: ${url} answers ${response.status}`);
  const digest = `sha256:${createHash("sha256")
    .update(Buffer.from(await response.arrayBuffer()))
    .digest("hex")}`;
  const stated = response.headers.get("docker-content-digest") ?? digest;
  if (stated !== digest) throw new Error(`${image}: the manifest has ${digest}, but the registry states ${stated}`);
  return digest;
}

function parts(image: string): { readonly host: string; readonly name: string; readonly tag: string } {
  const [, reference, tag] = /^([^@]+):([\w][\w.-]{0,127})$/.exec(image) ?? [];
  if (reference === undefined || tag === undefined) throw new Error(`${image}: write an image as [HOST/]NAME:TAG`);
  const slash = reference.indexOf("/");
  const first = reference.slice(0, Math.max(0, slash));
  // As Docker does: a first part without dot and port is not a host.
  if (first === "localhost" || /[.:]/.test(first)) return { host: first, name: reference.slice(slash + 1), tag };
  return { host: DOCKER_HUB, name: slash < 0 ? `library/${reference}` : reference, tag };
}

/** Returns the header for a challenge of the registry: a token of its token service, or the credentials. */
async function authorization(image: string, challenge: string, credentials?: Credentials): Promise<string> {
  const basic =
    credentials && `Basic ${Buffer.from(`${credentials.username}:${credentials.password}`).toString("base64")}`;
  if (/^basic\b/i.test(challenge) && basic !== undefined) return basic;
  const { realm, ...query } = Object.fromEntries(
    [...challenge.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name!, value!]),
  );
  if (realm === undefined) throw new Error(`${image}: the registry asks for ${challenge}`);
  const url = new URL(realm);
  for (const name of ["service", "scope"]) if (query[name] !== undefined) url.searchParams.set(name, query[name]);
  const response = await fetch(url, basic === undefined ? {} : { headers: { authorization: basic } });
  if (!response.ok) throw new Error(`${image}: the token service ${url.origin} answers ${response.status}`);
  const { token, access_token: accessToken } = (await response.json()) as Record<string, string | undefined>;
  return `Bearer ${token ?? accessToken}`;
}
