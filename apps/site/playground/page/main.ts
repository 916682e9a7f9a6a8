import { Engine } from "./engine/engine.ts";
import { firstWorker, makeWorker } from "./engine/first-worker.ts";
import { Playground } from "./playground.ts";

const root = document.querySelector<HTMLElement>("#app")!;
const playground = new Playground(root, new Engine(makeWorker, firstWorker), new Engine(makeWorker));
await playground.start();
await playground.addHelp();
// What is not needed at first is fetched now, and all of it is kept for when there is no network.
if (window.isSecureContext) await navigator.serviceWorker.register("./service-worker.js");
