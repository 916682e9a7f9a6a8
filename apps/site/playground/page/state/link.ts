import { DEFAULT_FUTURES, MAX_FUTURES, type PlaygroundState } from "./playground-state.ts";

/** Version of new links. Links of earlier versions stay readable. */
const VERSION = "1";
/** Maximum length of a fragment in characters. Browsers accept longer ones; messengers and mail programs do not. */
export const MAX_LINK = 32_000;
/** Maximum length of the unpacked text in characters: a short link can unpack to a very large text. */
const MAX_TEXT = 1_000_000;

/** An invalid link, with a message for the user. */
export class LinkError extends Error {
  override readonly name = "LinkError";
}

/**
 * Returns the fragment of a link to a state, with its `#`: `#1.` and the state's JSON, deflated, in base64url.
 *
 * @throws LinkError when the fragment is longer than {@link MAX_LINK}.
 */
export async function linkTo({ manifests, scenario, kubernetes, futures }: PlaygroundState): Promise<string> {
  const packed = {
    m: manifests,
    ...(scenario === "" ? {} : { s: scenario }),
    ...(kubernetes === "" ? {} : { k: kubernetes }),
    ...(futures === DEFAULT_FUTURES ? {} : { f: futures }),
  };
  const bytes = await through(new TextEncoder().encode(JSON.stringify(packed)), new CompressionStream("deflate-raw"));
  const fragment = `#${VERSION}.${base64url(bytes)}`;
  if (fragment.length > MAX_LINK)
    throw new LinkError(
      `This is too much for a link: ${fragment.length.toLocaleString("en")} characters, of ${MAX_LINK.toLocaleString("en")} at most. Download the files and send those.`,
    );
  return fragment;
}

/**
 * Reads the state from a fragment.
 *
 * @param fragment - With or without its `#`. Returns `undefined` for an empty fragment.
 * @throws LinkError for a fragment that `linkTo` did not write.
 */
export async function stateOf(fragment: string): Promise<PlaygroundState | undefined> {
  const text = fragment.replace(/^#/, "");
  if (text === "") return undefined;
  const [, version, data] = /^(\d+)\.([\w-]*)$/.exec(text) ?? [];
  if (version === undefined || data === undefined) throw damaged();
  if (version !== VERSION)
    throw new LinkError(
      `This link is of version ${version}, which this playground does not know yet. Reload the page.`,
    );
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(await unpacked(data)));
  } catch (error) {
    throw error instanceof LinkError ? error : damaged();
  }
  const {
    m: manifests,
    s: scenario = "",
    k: kubernetes = "",
    f: futures = DEFAULT_FUTURES,
  } = (value ?? {}) as Record<string, unknown>;
  if (typeof manifests !== "string" || typeof scenario !== "string" || !isFutures(futures)) throw damaged();
  if (typeof kubernetes !== "string") throw damaged();
  return { manifests, scenario, kubernetes, futures };
}

function damaged(): LinkError {
  return new LinkError("This link is damaged: a part of it was lost or changed on the way. Ask for it again.");
}

function isFutures(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= MAX_FUTURES;
}

function unpacked(data: string): Promise<Uint8Array> {
  const binary = atob(data.replaceAll("-", "+").replaceAll("_", "/"));
  return through(
    Uint8Array.from(binary, (character) => character.charCodeAt(0)),
    new DecompressionStream("deflate-raw"),
  );
}

async function through(
  bytes: Uint8Array<ArrayBuffer>,
  stream: CompressionStream | DecompressionStream,
): Promise<Uint8Array<ArrayBuffer>> {
  const writer = stream.writable.getWriter();
  // A failed write also fails the read.
  const written = writer.write(bytes).then(() => writer.close());
  written.catch(() => {});
  const reader = stream.readable.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    length += read.value.length;
    if (length > MAX_TEXT) {
      await reader.cancel();
      throw new LinkError("This link holds more than a playground takes: a million characters.");
    }
    chunks.push(read.value);
  }
  const all = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}

function base64url(bytes: Uint8Array): string {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
