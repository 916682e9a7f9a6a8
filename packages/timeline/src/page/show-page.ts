import type { PageData } from "../data/page-data.js";
import { App, type AppOptions } from "./app.js";
import type { PageEnvironment } from "./page-environment.js";

/** A displayed page. */
export interface ShownPage {
  /** Removes all listeners, before another page replaces this one. */
  close(): void;
}

/** Shows the page for the data. Page types other than the timeline of a run are loaded on demand. */
export async function showPage(
  environment: PageEnvironment,
  data: PageData,
  options: AppOptions = {},
): Promise<ShownPage> {
  if ("a" in data) {
    const { ComparisonPage } = await import("./comparison-page.js");
    const page = new ComparisonPage(environment, data);
    page.show();
    return page;
  }
  if (!("page" in data)) {
    const app = new App(environment, data, {}, options);
    app.show();
    return {
      close: () => {
        app.writeLink();
        app.close();
      },
    };
  }
  switch (data.page) {
    case "futures": {
      const { FuturesPage } = await import("./futures-page.js");
      const page = new FuturesPage(environment, data);
      await page.show();
      return page;
    }
    case "recorded-run": {
      const { RecordedRunPage } = await import("./recorded-run/recorded-run-page.js");
      const page = new RecordedRunPage(environment, data);
      page.show();
      return page;
    }
    case "spread": {
      const { SpreadPage } = await import("./spread-page.js");
      new SpreadPage(environment, data).show();
      return { close: () => {} };
    }
    default:
      return data satisfies never;
  }
}
