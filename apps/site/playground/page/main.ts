import { Engine } from "./engine/engine.ts";
import { Playground, loadRest } from "./playground.ts";

const root = document.querySelector<HTMLElement>("#app")!;
const { href } = document.querySelector<HTMLLinkElement>("#engine")!;
const makeEngine = (): Engine => new Engine(() => new Worker(href, { type: "module", name: "kubewright" }));
const engine = makeEngine();
// It reads itself while the page is made.
engine.warmUp();
await new Promise((resolve) => setTimeout(resolve));
const playground = new Playground(root, engine, makeEngine());
await playground.start();
(window.requestIdleCallback ?? setTimeout)(() => void loadRest());
