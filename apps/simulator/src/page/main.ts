import { App, ownDocument, showPage, unpackData } from "@kubewright/timeline/page";

import { LiveSource } from "./live-source.js";

const root = document.querySelector<HTMLElement>("#app")!;
const embedded = document.querySelector("#report");
if (embedded === null) showLive();
else void showReport(embedded.textContent);

async function showReport(packed: string): Promise<void> {
  root.textContent = "Reading the report…";
  try {
    await showPage(ownDocument(root), await unpackData(packed));
  } catch (error) {
    root.textContent = `This report cannot be shown: ${(error as Error).message}`;
    throw error;
  }
}

function showLive(): void {
  const source = new LiveSource(() => app.refresh());
  const app = new App(ownDocument(root), source);
  app.show();
  void source.run();
  // Refreshes the page without new records, because time passes and bars grow.
  setInterval(() => {
    if (source.connection === "connected" && source.status?.speed !== "manual") app.refresh();
  }, 1_000);
}
