/** Caches the playground for offline use. */

/** Constants that the build defines: all files of this version, and the version. */
declare const FILES: readonly string[];
declare const VERSION: string;

/** The used part of the service worker's global scope. */
interface LifeEvent extends Event {
  waitUntil(done: Promise<unknown>): void;
}
interface RequestEvent extends Event {
  readonly request: Request;
  respondWith(response: Promise<Response>): void;
}
interface ServiceWorkerSide {
  readonly registration: { readonly scope: string };
  readonly clients: { claim(): Promise<void> };
  skipWaiting(): Promise<void>;
  addEventListener(type: "install" | "activate", listener: (event: LifeEvent) => void): void;
  addEventListener(type: "fetch", listener: (event: RequestEvent) => void): void;
}

const side = globalThis as unknown as ServiceWorkerSide;
const name = `playground-${VERSION}`;

side.addEventListener("install", (event) => event.waitUntil(keepAll()));
side.addEventListener("activate", (event) => event.waitUntil(takeOver()));
side.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || !request.url.startsWith(side.registration.scope)) return;
  event.respondWith(request.mode === "navigate" ? latestPage(request) : cachedFile(request));
});

async function keepAll(): Promise<void> {
  const cache = await caches.open(name);
  await cache.addAll(FILES);
  await side.skipWaiting();
}

async function takeOver(): Promise<void> {
  for (const other of await caches.keys())
    if (other.startsWith("playground-") && other !== name) await caches.delete(other);
  await side.clients.claim();
}

/** Fetches the page from the network first, because its name is the same in all versions. */
async function latestPage(request: Request): Promise<Response> {
  try {
    return await fetch(request);
  } catch (error) {
    const cached = await caches.match("./");
    if (cached === undefined) throw error;
    return cached;
  }
}

/** Returns other files from the cache first, because their names change with each version. */
async function cachedFile(request: Request): Promise<Response> {
  return (await caches.match(request)) ?? fetch(request);
}
