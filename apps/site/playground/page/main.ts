import { Engine } from "./engine/engine.ts";
import { Playground } from "./playground.ts";

const root = document.querySelector<HTMLElement>("#app")!;
const { href } = document.querySelector<HTMLLinkElement>("#engine")!;
const makeEngine = (): Engine => new Engine(() => new Worker(href, { type: "module", name: "kubewright" }));
const engine = makeEngine();
// It reads itself while the page is made.
engine.warmUp();
await new Promise((resolve) => setTimeout(resolve));
const playground = new Playground(root, engine, makeEngine());
await playground.start();
await playground.addHelp();
// What is not needed at first is fetched now, and all of it is kept for when there is no network.
if (window.isSecureContext) await navigator.serviceWorker.register("./service-worker.js");
