import type { ReportData } from "../report/report-data.js";
import { App } from "./app.js";
import { LiveSource } from "./live-source.js";

const root = document.querySelector<HTMLElement>("#app")!;
const embedded = document.querySelector("#report");
if (embedded === null) showLive();
else new App(root, JSON.parse(embedded.textContent) as ReportData).show();

function showLive(): void {
  const source = new LiveSource(() => app.refresh());
  const app = new App(root, source);
  app.show();
  void source.run();
  // Time passes and bars grow without any news.
  setInterval(() => {
    if (source.connection === "connected" && source.status?.speed !== "manual") app.refresh();
  }, 1_000);
}
