import type { Look } from "./item.js";

/** Colors for the canvas. They come from the style sheet, so both change together with the theme. */
export interface Palette {
  readonly looks: Readonly<Record<Look, string>>;
  readonly ink: string;
  readonly muted: string;
  readonly line: string;
  readonly stripe: string;
  readonly surface: string;
  readonly accent: string;
  readonly onBar: string;
  readonly band: string;
  readonly outage: string;
  readonly runningBand: string;
  readonly waitingBand: string;
  readonly cpu: string;
  readonly cpuBand: string;
  readonly font: string;
}

/** @param root - Root of the page, with the effective theme. */
export function readPalette(root: HTMLElement): Palette {
  // The property value contains the colors of both themes. Only a computed color is that of the effective theme.
  const probe = root.appendChild(document.createElement("span"));
  const colour = (name: string): string => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const palette: Palette = {
    looks: {
      complete: colour("complete"),
      failed: colour("failed"),
      running: colour("running"),
      waiting: colour("waiting"),
      stopped: colour("stopped"),
      skipped: colour("skipped"),
    },
    ink: colour("ink"),
    muted: colour("muted"),
    line: colour("line"),
    stripe: colour("stripe"),
    surface: colour("surface"),
    accent: colour("accent"),
    onBar: colour("on-bar"),
    band: colour("band"),
    outage: colour("outage"),
    runningBand: colour("running-band"),
    waitingBand: colour("waiting-band"),
    cpu: colour("cpu"),
    cpuBand: colour("cpu-band"),
    font: getComputedStyle(root).fontFamily,
  };
  probe.remove();
  return palette;
}
