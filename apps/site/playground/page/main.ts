import { Engine } from "./engine/engine.ts";
import { firstWorker, makeWorker } from "./engine/first-worker.ts";
import { Playground } from "./playground.ts";
import { nextStart } from "./scenario/next-start.ts";

const root = document.querySelector<HTMLElement>("#app")!;
const start = nextStart(Date.now());
const playground = new Playground(root, new Engine(makeWorker, firstWorker), new Engine(makeWorker), start);
await playground.start();
await playground.addHelp();
// The service worker fetches the remaining files now, and caches all files for offline use.
if (window.isSecureContext) await navigator.serviceWorker.register("./service-worker.js");
