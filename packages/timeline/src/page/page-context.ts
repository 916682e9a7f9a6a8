import type { ReportData } from "../data/report-data.js";
import type { Item } from "./item.js";
import type { NoteIndex } from "./note-index.js";
import type { Palette } from "./palette.js";
import type { Scene } from "./scene.js";
import type { Band } from "./time-bands.js";
import type { ViewState } from "./view-state.js";
import type { ZonedTime } from "./zoned-time.js";
import type { PageEnvironment } from "./page-environment.js";

/** What the parts of the page know of the whole. */
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
  /** Fetches the manifest of something that a report did not keep; `undefined` when there is no server to ask. */
  readonly fetchObject: ((kind: string, namespace: string, name: string) => Promise<unknown>) | undefined;
  /** Changes what is looked at, and draws what that changes. */
  update(change: Partial<ViewState>): void;
  /** Selects something, moves the cursor to it, and brings it into view. */
  select(item: Item | undefined): void;
  zoomBy(factor: number, aroundMs?: number): void;
  panBy(share: number): void;
  /** Says something to screen readers, and to everybody when it is not on the screen already. Default: it is not. */
  announce(text: string, options?: { readonly isVisible?: boolean }): void;
}
