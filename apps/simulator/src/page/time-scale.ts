/** Where times are on the screen. */
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
