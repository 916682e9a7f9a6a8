import { durationText } from "./duration-text.js";
import type { CalendarBins } from "./calendar-bins.js";
import { type Item, LOOKS, type Look, hindrance } from "./item.js";
import type { Lane, Span } from "./lane.js";
import { type LaneBin, laneBins } from "./lane-bins.js";
import type { Palette } from "./palette.js";
import { type TimeScale, xOf } from "./time-scale.js";

/** Narrower bars are merged with their neighbours. */
const GRAIN_PX = 2.5;
/** Minimum width of a bar with text. */
const TEXT_PX = 44;
/** Minimum width of a bar with rounded corners. */
const ROUND_PX = 7;
const TEXT_HEIGHT = 14;
/** Maximum height of a bar, and maximum radius of a mark, in a high lane. */
const MAX_BAR_PX = 56;
const MAX_MARK_PX = 11;
/** Lanes of this height show bins as columns. */
const COLUMN_LANE_PX = 44;
/** Opacity of ordinary outcomes in a column, so that failed and skipped runs stand out. */
const COLUMN_ALPHA = 0.3;
/** Room for the number above a column. */
const COLUMN_TEXT_PX = 15;
/** Minimum height of each outcome in a bin. */
const MIN_SHARE_PX = 3;

/** Position and size of a painted span, in pixels. */
interface Box {
  readonly x: number;
  readonly width: number;
  readonly middle: number;
  readonly height: number;
}

/** Paints lanes of bars. Each outcome has its own color and shape. */
export class LanePainter {
  readonly #context: CanvasRenderingContext2D;
  readonly #scale: TimeScale;
  readonly #calendar: CalendarBins;
  readonly #palette: Palette;
  readonly #hatch: CanvasPattern;
  readonly #grainMs: number;

  constructor(
    context: CanvasRenderingContext2D,
    { scale, calendar }: { readonly scale: TimeScale; readonly calendar: CalendarBins },
    palette: Palette,
    hatch: CanvasPattern,
  ) {
    this.#context = context;
    this.#scale = scale;
    this.#calendar = calendar;
    this.#palette = palette;
    this.#hatch = hatch;
    this.#grainMs = ((scale.toMs - scale.fromMs) / scale.width) * GRAIN_PX;
    context.textBaseline = "middle";
  }

  /**
   * @param middle - Pixels from the top to the middle of the lane.
   * @returns Whether the lane shows bins.
   */
  lane(lane: Lane, middle: number, height: number): boolean {
    const bins = laneBins(lane, this.#scale, this.#calendar);
    if (bins !== undefined) {
      const most = bins.reduce((max, { total }) => Math.max(max, total), 0);
      for (const bin of bins)
        if (height < COLUMN_LANE_PX) this.#bin(bin, middle, height);
        else this.#column(bin, most, middle, height);
      return true;
    }
    for (const look of LOOKS)
      for (const span of lane.spans(look, this.#scale.fromMs, this.#scale.toMs, this.#grainMs))
        this.#span(look, span, lane, middle, Math.min(MAX_BAR_PX, height));
    return false;
  }

  /** Paints a frame around one bar. */
  frame(item: Item, middle: number, laneHeight: number, colour: string, lineWidth: number): void {
    const context = this.#context;
    const height = Math.min(isMoment(item) ? 3 * MAX_MARK_PX : MAX_BAR_PX, laneHeight);
    const x = this.#x(item.startMs);
    const width = Math.max(this.#x(item.endMs) - x, isMoment(item) ? 0 : 2);
    const gap = isMoment(item) ? height / 2 + 2 : 2.5;
    context.strokeStyle = colour;
    context.lineWidth = lineWidth;
    context.beginPath();
    context.roundRect(x - gap, middle - height / 2 - 2.5, width + 2 * gap, height + 5, 5);
    context.stroke();
  }

  /**
   * Paints the count, and below it a strip with a share per outcome. Each share is visible, even for one item in a
   * thousand.
   */
  #bin({ fromMs, toMs, total, counts }: LaneBin, middle: number, height: number): void {
    const context = this.#context;
    const { looks, surface, ink, font } = this.#palette;
    const x = this.#x(fromMs) + 0.5;
    const width = this.#x(toMs) - x - 1;
    const top = middle - height / 2;
    const strip = height < TEXT_HEIGHT ? height : 5;
    const worst = LOOKS.findLast((look) => counts.has(look))!;
    if (strip < height) {
      context.fillStyle = surface;
      context.fillRect(x, top, width, height);
      context.globalAlpha = 0.16;
      context.fillStyle = looks[worst];
      context.fillRect(x, top, width, height);
      context.globalAlpha = 1;
      const text = total < 1_000 ? String(total) : `${Math.round(total / 1_000)}k`;
      context.font = `500 10.5px ${font}`;
      context.fillStyle = ink;
      const wide = context.measureText(text).width;
      if (wide <= width) context.fillText(text, x + (width - wide) / 2, top + (height - strip) / 2 + 0.5);
    }
    const min = Math.min(MIN_SHARE_PX, width / counts.size);
    const room = width - min * counts.size;
    let left = x;
    for (const [look, count] of counts) {
      const wide = min + (room * count) / total;
      context.fillStyle = looks[look];
      context.fillRect(left, top + height - strip, wide, strip);
      if (look === "failed" && strip === height) {
        context.fillStyle = this.#hatch;
        context.fillRect(left, top, wide, height);
      }
      left += wide;
    }
  }

  /** Paints the share of the largest bin as a column: its outcomes stacked, the most important on top, and the count. */
  #column({ fromMs, toMs, total, counts }: LaneBin, most: number, middle: number, height: number): void {
    const context = this.#context;
    const { looks, ink, font } = this.#palette;
    const x = this.#x(fromMs) + 0.5;
    const width = this.#x(toMs) - x - 1;
    const bottom = middle + height / 2;
    const room = ((height - COLUMN_TEXT_PX) * total) / most - MIN_SHARE_PX * counts.size;
    let top = bottom;
    for (const look of LOOKS) {
      const count = counts.get(look);
      if (count === undefined) continue;
      const high = MIN_SHARE_PX + Math.max(0, (room * count) / total);
      top -= high;
      context.fillStyle = looks[look];
      const isNotable = look === "failed" || look === "skipped";
      context.globalAlpha = isNotable ? 1 : COLUMN_ALPHA;
      context.fillRect(x, top, width, high);
      context.globalAlpha = 1;
      if (!isNotable) context.fillRect(x, top, width, Math.min(high, MIN_SHARE_PX));
      if (look === "failed") {
        context.fillStyle = this.#hatch;
        context.fillRect(x, top, width, high);
      }
    }
    const text = total < 1_000 ? String(total) : `${Math.round(total / 1_000)}k`;
    context.font = `500 10.5px ${font}`;
    context.fillStyle = ink;
    const wide = context.measureText(text).width;
    if (wide <= width + 2) context.fillText(text, x + (width - wide) / 2, top - COLUMN_TEXT_PX / 2 + 1);
  }

  #x(atMs: number): number {
    // Far outside of the screen a canvas loses precision, and dashes become slow.
    return Math.min(this.#scale.width + 1_000, Math.max(-1_000, xOf(this.#scale, atMs)));
  }

  #span(look: Look, { fromMs, toMs, item }: Span, lane: Lane, middle: number, height: number): void {
    const x = this.#x(fromMs);
    const box = { x, width: Math.max(2, this.#x(toMs) - x), middle, height };
    if (item === undefined) this.#many(look, box);
    else if (item.type === "ghost") this.#ghost(item, lane, box);
    else if (isMoment(item)) this.#moment(item, box);
    else this.#bar(item, box);
  }

  /** Paints several bars that are too dense to be distinguished. */
  #many(look: Look, { x, width, middle, height }: Box): void {
    const context = this.#context;
    const colour = this.#palette.looks[look];
    // Failed and skipped items extend above and below the row, so that one bar in a thousand is visible.
    const high = look === "waiting" ? height / 3 : height;
    context.fillStyle = colour;
    context.globalAlpha = look === "stopped" ? 0.5 : 1;
    if (look === "skipped") {
      context.fillRect(x, middle - high / 2, width, 2);
      context.fillRect(x, middle + high / 2 - 2, width, 2);
    } else context.fillRect(x, middle - high / 2, width, high);
    if (look === "failed") {
      context.fillStyle = this.#hatch;
      context.fillRect(x, middle - high / 2, width, high);
    }
    context.globalAlpha = 1;
  }

  #bar(item: Exclude<Item, { type: "ghost" }>, { x, width, middle, height }: Box): void {
    const context = this.#context;
    const { look } = item;
    const colour = this.#palette.looks[look];
    const top = middle - height / 2;
    let left = x;
    if (item.type === "pod" && item.pod.startMs !== undefined) {
      // A pod is a thin line until its containers start.
      left = Math.min(this.#x(item.pod.startMs), x + width - 2);
      if (left - x > 1) this.#line(this.#palette.looks.waiting, x, left, middle);
    }
    const wide = x + width - left;
    const reason = item.type === "run" ? hindrance(item.row) : undefined;
    if (look === "waiting" && reason !== undefined) return this.#hindered(reason, colour, { x, width, middle, height });
    if (look === "waiting") return this.#line(colour, x, x + width, middle);
    if (wide < ROUND_PX && (look === "complete" || look === "failed")) {
      // Paths cost ten times as much as rectangles, and the difference is not visible at this size.
      context.fillStyle = colour;
      context.fillRect(left, top, wide, height);
      if (look === "failed" && wide > 3) {
        context.fillStyle = this.#hatch;
        context.fillRect(left, top, wide, height);
      }
      return;
    }
    context.beginPath();
    context.roundRect(left, top, wide, height, Math.min(3, height / 3, wide / 2));
    if (look === "stopped" || look === "running") {
      context.globalAlpha = 0.22;
      context.fillStyle = colour;
      context.fill();
      context.globalAlpha = 1;
      context.strokeStyle = colour;
      context.lineWidth = 1.25;
      if (look === "stopped") context.setLineDash([2, 2]);
      context.stroke();
      context.setLineDash([]);
      if (look === "running" && wide > 8) this.#chevron(colour, left + wide - 3, middle, height);
    } else {
      context.fillStyle = colour;
      context.fill();
      if (look === "failed") {
        context.fillStyle = this.#hatch;
        context.fill();
        if (wide >= 14 && height >= 10) this.#cross(left + wide - 7, middle, 3);
      }
    }
    if (wide >= TEXT_PX && height >= TEXT_HEIGHT) this.#barText(item, left, wide, middle, look === "failed" ? 14 : 0);
  }

  /** Paints a run that no pod serves: a dashed outline with the reason. */
  #hindered(reason: string, colour: string, { x, width, middle, height }: Box): void {
    const context = this.#context;
    const top = middle - height / 2;
    context.globalAlpha = 0.12;
    context.fillStyle = colour;
    context.fillRect(x, top, width, height);
    context.globalAlpha = 1;
    context.setLineDash([4, 3]);
    context.lineWidth = 1;
    context.strokeStyle = colour;
    context.strokeRect(x + 0.5, top + 0.5, Math.max(1, width - 1), height - 1);
    context.setLineDash([]);
    const from = Math.max(x, 0) + 6;
    const room = Math.min(x + width, this.#scale.width) - from - 4;
    if (room < TEXT_PX || height < TEXT_HEIGHT) return;
    context.font = `500 11px ${this.#palette.font}`;
    context.fillStyle = this.#palette.looks.failed;
    context.fillText(this.#fitting(reason, room), from, middle + 0.5);
  }

  #barText(item: Item, left: number, wide: number, middle: number, margin: number): void {
    const context = this.#context;
    const text = durationText(item.endMs - item.startMs);
    context.font = `500 11px ${this.#palette.font}`;
    const from = Math.max(left, 0) + 6;
    const room = Math.min(left + wide, this.#scale.width) - from - margin - 4;
    if (context.measureText(text).width > room) return;
    const isLight = item.look === "running" || item.look === "stopped";
    if (item.look === "failed") {
      // Hatching would make the text hard to read.
      context.fillStyle = this.#palette.looks.failed;
      context.fillRect(from - 3, middle - 6, context.measureText(text).width + 6, 12);
    }
    context.fillStyle = isLight ? this.#palette.ink : this.#palette.onBar;
    context.fillText(text, from, middle + 0.5);
  }

  /** Paints the slot of a run: a disc, or a square with a cross for a failed run. A tail shows a late start. */
  #moment(item: Exclude<Item, { type: "ghost" }>, { x, middle, height }: Box): void {
    const context = this.#context;
    const colour = this.#palette.looks[item.look];
    const radius = Math.min(MAX_MARK_PX, height * 0.32);
    const late = item.row.createdMs - (item.row.slotMs ?? item.row.createdMs) > 1_000;
    const startX = late ? this.#x(item.row.createdMs) : x;
    if (startX - x > radius + 2) {
      this.#line(colour, x, startX, middle);
      context.fillStyle = colour;
      context.fillRect(startX - 1, middle - radius, 2, radius * 2);
    }
    context.fillStyle = colour;
    context.beginPath();
    if (item.look === "failed") {
      context.roundRect(x - radius, middle - radius, radius * 2, radius * 2, 1.5);
      context.fill();
      this.#cross(x, middle, radius * 0.5);
    } else {
      context.arc(x, middle, radius, 0, 2 * Math.PI);
      if (item.look === "complete") context.fill();
      else {
        context.lineWidth = 1.75;
        context.strokeStyle = colour;
        context.stroke();
      }
    }
  }

  /** Paints a skipped run: a dashed outline of the expected run, a diamond, and the reason where it fits. */
  #ghost(item: Extract<Item, { type: "ghost" }>, lane: Lane, { x, width, middle, height }: Box): void {
    const context = this.#context;
    const colour = this.#palette.looks.skipped;
    const size = Math.min(6.5, height * 0.36);
    if (width > 2 * size) {
      context.globalAlpha = 0.12;
      context.fillStyle = colour;
      context.fillRect(x, middle - height / 2 + 1, width, height - 2);
      context.globalAlpha = 1;
      context.setLineDash([3, 3]);
      context.lineWidth = 1;
      context.strokeStyle = colour;
      context.strokeRect(x, middle - height / 2 + 1, width, height - 2);
      context.setLineDash([]);
    }
    context.beginPath();
    context.moveTo(x, middle - size);
    context.lineTo(x + size, middle);
    context.lineTo(x, middle + size);
    context.lineTo(x - size, middle);
    context.closePath();
    context.fillStyle = this.#palette.surface;
    context.fill();
    context.lineWidth = 1.5;
    context.strokeStyle = colour;
    context.stroke();
    if (height < TEXT_HEIGHT) return;
    context.font = `11px ${this.#palette.font}`;
    const from = x + size + 5;
    const room = Math.min(this.#x(lane.startAfter(item.startMs)), this.#scale.width) - from - size - 8;
    if (room < 60) return;
    context.fillStyle = colour;
    context.fillText(this.#fitting(item.row.reason, room), from, middle + 0.5);
  }

  /** Truncates a text to the available width. */
  #fitting(text: string, room: number): string {
    const { width } = this.#context.measureText(text);
    return width <= room ? text : `${text.slice(0, Math.max(1, Math.floor((text.length * (room - 10)) / width)))}…`;
  }

  #line(colour: string, from: number, to: number, middle: number): void {
    this.#context.fillStyle = colour;
    this.#context.fillRect(from, middle - 0.75, Math.max(2, to - from), 1.5);
  }

  #cross(x: number, y: number, size: number): void {
    const context = this.#context;
    context.strokeStyle = this.#palette.onBar;
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(x - size, y - size);
    context.lineTo(x + size, y + size);
    context.moveTo(x + size, y - size);
    context.lineTo(x - size, y + size);
    context.stroke();
  }

  #chevron(colour: string, x: number, y: number, height: number): void {
    const context = this.#context;
    const size = Math.min(4, height / 4);
    context.strokeStyle = colour;
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(x - size, y - size);
    context.lineTo(x, y);
    context.lineTo(x - size, y + size);
    context.stroke();
  }
}

function isMoment(item: Item): boolean {
  return item.type === "run" && item.startMs === item.endMs && item.row.slotMs === item.startMs;
}

/** Creates light diagonal lines, for failed items. */
export function hatchPattern(context: CanvasRenderingContext2D): CanvasPattern {
  const tile = document.createElement("canvas");
  tile.width = 6;
  tile.height = 6;
  const drawing = tile.getContext("2d")!;
  drawing.strokeStyle = "rgba(255, 255, 255, 0.42)";
  drawing.lineWidth = 1.4;
  drawing.beginPath();
  for (const shift of [-6, 0, 6]) {
    drawing.moveTo(shift, 6);
    drawing.lineTo(shift + 6, 0);
  }
  drawing.stroke();
  return context.createPattern(tile, "repeat")!;
}
