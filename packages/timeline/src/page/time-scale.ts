/** Maps times to screen positions. */
export interface TimeScale {
  readonly fromMs: number;
  readonly toMs: number;
  /** Pixels. */
  readonly width: number;
}

export function xOf({ fromMs, toMs, width }: TimeScale, atMs: number): number {
  return ((atMs - fromMs) / (toMs - fromMs)) * width;
}

export function timeAt({ fromMs, toMs, width }: TimeScale, x: number): number {
  return fromMs + (x / width) * (toMs - fromMs);
}

/**
 * Returns a time step that is at least `minPx` and less than twice as wide. It does not depend on the position of the
 * window.
 */
export function roundStep({ fromMs, toMs, width }: TimeScale, minPx: number): number {
  return 1_000 * 2 ** Math.ceil(Math.log2((((toMs - fromMs) / width) * minPx) / 1_000));
}
