import { App } from "./app.js";
import { ComparisonPage } from "./comparison-page.js";
import { FuturesPage } from "./futures-page.js";
import { LiveSource } from "./live-source.js";
import { RecordedRunPage } from "./recorded-run/recorded-run-page.js";
import { SpreadPage } from "./spread-page.js";
import { unpackData } from "./unpack-data.js";

const root = document.querySelector<HTMLElement>("#app")!;
const embedded = document.querySelector("#report");
if (embedded === null) showLive();
else void showReport(embedded.textContent);

async function showReport(packed: string): Promise<void> {
  root.textContent = "Reading the report…";
  try {
    const data = await unpackData(packed);
    if ("a" in data) new ComparisonPage(root, data).show();
    else if (!("page" in data)) new App(root, data).show();
    else if (data.page === "futures") await new FuturesPage(root, data).show();
    else if (data.page === "recorded-run") new RecordedRunPage(root, data).show();
    else new SpreadPage(root, data).show();
  } catch (error) {
    root.textContent = `This report cannot be shown: ${(error as Error).message}`;
    throw error;
  }
}

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
