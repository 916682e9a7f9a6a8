import { formatTime } from "@kubewright/api";

/**
 * Formats an instant as RFC 3339 with whole seconds and an offset: `2026-03-02T11:00:00+01:00`. An offset of zero is
 * `Z`. The seconds of an offset, which only historic times have, are omitted, as in Go's layout.
 */
export function formatOffsetTime(epochMs: number, offsetSeconds: number): string {
  if (offsetSeconds === 0) return formatTime(epochMs);
  const wall = formatTime(epochMs + offsetSeconds * 1000).slice(0, -1);
  const minutes = Math.trunc(Math.abs(offsetSeconds) / 60);
  const twoDigits = (value: number): string => String(value).padStart(2, "0");
  return `${wall}${offsetSeconds < 0 ? "-" : "+"}${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}`;
}

/** Formats an instant in UTC as Go's `time.RFC1123Z`: `Thu, 19 May 2016 10:00:00 +0000`. */
export function formatRfc1123(epochMs: number): string {
  return new Date(epochMs).toUTCString().replace(/GMT$/, "+0000");
}
