import type { ComparisonReport, DifferingGroup, ReportData } from "../data/report-data.js";
import { type CalendarBins, calendarBins } from "./calendar-bins.js";
import { fitCanvas, h, addListener } from "./dom.js";
import { type Item, ghostItem, groupId, runItem } from "./item.js";
import { Lane } from "./lane.js";
import { laneBins } from "./lane-bins.js";
import { LanePainter, hatchPattern } from "./lane-painter.js";
import type { Palette } from "./palette.js";
import { slots } from "./scene.js";
import { type TimeScale, timeAt, xOf } from "./time-scale.js";
import { timeTicks } from "./time-ticks.js";
import type { ZonedTime } from "./zoned-time.js";

const AXIS_PX = 20;
const LANE_PX = 26;
const LABEL_PX = 26;
const HIT_PX = 8;
/** Minimum distance of the labels of the axis. */
const LABEL_GAP_PX = 10;

/** Where a click leads. */
export interface ComparisonTarget {
  readonly side: "a" | "b";
  /** The run or skipped slot; `undefined` for several that are too close to be distinguished. */
  readonly item: Item | undefined;
  readonly fromMs: number;
  readonly toMs: number;
}

/** The slots of one CronJob, or the run of one Job: a lane for each side, one above the other. */
export class ComparisonLanes {
  readonly element: HTMLElement;
  readonly #canvas: HTMLCanvasElement;
  readonly #lanes: readonly (readonly ["a" | "b", Lane])[];
  readonly #window: Pick<TimeScale, "fromMs" | "toMs">;
  readonly #zone: ZonedTime;

  constructor(
    report: ComparisonReport,
    group: DifferingGroup,
    zone: ZonedTime,
    open: (target: ComparisonTarget) => void,
  ) {
    this.#lanes = (["a", "b"] as const).map((side) => [side, laneOf(report[side], group)]);
    const { startMs, endMs } = report.a;
    const margin = (endMs - startMs) * 0.012;
    this.#window = { fromMs: startMs - margin, toMs: endMs + margin };
    this.#zone = zone;
    this.#canvas = addListener(
      h("canvas", {
        class: "two-lanes",
        role: "img",
        "aria-label": `Runs of ${group.name} in A, and below in B. The table lists the differences.`,
      }),
      {
        onclick: (event) => {
          const target = this.#targetAt(event.offsetX, event.offsetY);
          if (target !== undefined) open(target);
        },
      },
    );
    this.element = h("div", { class: "two-lanes-box" }, this.#canvas);
  }

  /**
   * Draws for the present width and theme.
   *
   * @returns The unit of the numbers in the lanes: `day`. `undefined` when the lanes show single runs.
   */
  draw(palette: Palette): string | undefined {
    const width = this.element.clientWidth;
    if (width <= LABEL_PX) return undefined;
    let hasBins = false;
    const drawing = fitCanvas(this.#canvas, width, AXIS_PX + 2 * LANE_PX);
    const { scale, calendar } = this.#scales();
    drawing.translate(LABEL_PX, 0);
    this.#paintAxis(drawing, scale, palette);
    const painter = new LanePainter(drawing, { scale, calendar }, palette, hatchPattern(drawing));
    for (const [index, [side, lane]] of this.#lanes.entries()) {
      const middle = AXIS_PX + (index + 0.5) * LANE_PX;
      drawing.fillStyle = palette.stripe;
      if (index === 0) drawing.fillRect(0, AXIS_PX, scale.width, LANE_PX);
      hasBins = painter.lane(lane, middle, LANE_PX - 8) || hasBins;
      drawing.fillStyle = palette.surface;
      drawing.fillRect(-LABEL_PX, middle - LANE_PX / 2, LABEL_PX, LANE_PX);
      drawing.font = `600 12px ${palette.font}`;
      drawing.fillStyle = palette.ink;
      drawing.fillText(side.toUpperCase(), -LABEL_PX + 6, middle);
    }
    return hasBins ? calendar.unit : undefined;
  }

  #scales(): { readonly scale: TimeScale; readonly calendar: CalendarBins } {
    const scale = { ...this.#window, width: this.element.clientWidth - LABEL_PX };
    return { scale, calendar: calendarBins(scale, this.#zone) };
  }

  #paintAxis(drawing: CanvasRenderingContext2D, scale: TimeScale, palette: Palette): void {
    drawing.font = `11px ${palette.font}`;
    drawing.textBaseline = "middle";
    let free = 0;
    for (const { atMs, label } of timeTicks(scale, this.#zone).fine) {
      const x = xOf(scale, atMs);
      drawing.fillStyle = palette.line;
      drawing.fillRect(Math.round(x), AXIS_PX - 4, 1, 4 + 2 * LANE_PX);
      const wide = drawing.measureText(label).width;
      if (x - wide / 2 < free || x + wide / 2 > scale.width) continue;
      drawing.fillStyle = palette.muted;
      drawing.fillText(label, x - wide / 2, AXIS_PX / 2 - 1);
      free = x + wide / 2 + LABEL_GAP_PX;
    }
  }

  #targetAt(x: number, y: number): ComparisonTarget | undefined {
    const { scale, calendar } = this.#scales();
    const found = this.#lanes[Math.floor((y - AXIS_PX) / LANE_PX)];
    if (found === undefined || x < LABEL_PX) return undefined;
    const [side, lane] = found;
    const atMs = timeAt(scale, x - LABEL_PX);
    const bins = laneBins(lane, scale, calendar);
    const bin = bins?.find(({ fromMs, toMs }) => atMs >= fromMs && atMs < toMs);
    if (bin !== undefined) return { side, item: undefined, fromMs: bin.fromMs, toMs: bin.toMs };
    const item = bins === undefined ? lane.hit(atMs, ((scale.toMs - scale.fromMs) / scale.width) * HIT_PX) : undefined;
    return item === undefined ? undefined : { side, item, fromMs: item.startMs, toMs: item.endMs };
  }
}

function laneOf({ groups, endMs }: ReportData, wanted: DifferingGroup): Lane {
  const group = groups.find((each) => groupId(each) === groupId(wanted));
  const items = (group?.rows ?? []).map((row) =>
    row.type === "run" ? runItem(group!, row, endMs) : ghostItem(group!, row, row.slotMs),
  );
  return new Lane(wanted.kind === "CronJob" ? slots(items) : items);
}
