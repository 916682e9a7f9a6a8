import type { ReportData } from "../data/report-data.js";
import type { Item } from "./item.js";
import type { NoteIndex } from "./note-index.js";
import type { Palette } from "./palette.js";
import type { Scene } from "./scene.js";
import type { Band } from "./time-bands.js";
import type { ViewState } from "./view-state.js";
import type { ZonedTime } from "./zoned-time.js";
import type { PageEnvironment } from "./page-environment.js";

/** Interface of the page for its parts. */
export interface PageContext {
  readonly environment: PageEnvironment;
  readonly data: ReportData;
  readonly scene: Scene;
  readonly state: ViewState;
  readonly notes: NoteIndex;
  readonly bands: readonly Band[];
  readonly zone: ZonedTime;
  readonly palette: Palette;
  /** The window that shows everything. */
  readonly whole: { readonly fromMs: number; readonly toMs: number };
  /** Fetches the manifest of an object that the report does not include. `undefined` without a server. */
  readonly fetchObject: ((kind: string, namespace: string, name: string) => Promise<unknown>) | undefined;
  /** Changes the view state, and redraws what depends on it. */
  update(change: Partial<ViewState>): void;
  /** Selects an item, moves the cursor to it, and scrolls it into view. */
  select(item: Item | undefined): void;
  zoomBy(factor: number, aroundMs?: number): void;
  panBy(share: number): void;
  /**
   * Announces a text to screen readers. `isVisible` also shows the text on the screen; false for information that is
   * already on the screen. Default: true.
   */
  announce(text: string, options?: { readonly isVisible?: boolean }): void;
}
