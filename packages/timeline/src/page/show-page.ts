import type { PageData } from "../data/page-data.js";
import { App, type Wishes } from "./app.js";
import type { Surroundings } from "./surroundings.js";

/** A page that is shown. */
export interface ShownPage {
  /** Hears nothing any more, so that another may take its place. */
  close(): void;
}

/** Shows whatever the data is about. All but the timeline of a run is loaded when it is asked for. */
export async function showPage(surroundings: Surroundings, data: PageData, wishes: Wishes = {}): Promise<ShownPage> {
  if ("a" in data) {
    const { ComparisonPage } = await import("./comparison-page.js");
    const page = new ComparisonPage(surroundings, data);
    page.show();
    return page;
  }
  if (!("page" in data)) {
    const app = new App(surroundings, data, {}, wishes);
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
      const page = new FuturesPage(surroundings, data);
      await page.show();
      return page;
    }
    case "recorded-run": {
      const { RecordedRunPage } = await import("./recorded-run/recorded-run-page.js");
      const page = new RecordedRunPage(surroundings, data);
      page.show();
      return page;
    }
    case "spread": {
      const { SpreadPage } = await import("./spread-page.js");
      new SpreadPage(surroundings, data).show();
      return { close: () => {} };
    }
    default:
      return data satisfies never;
  }
}
