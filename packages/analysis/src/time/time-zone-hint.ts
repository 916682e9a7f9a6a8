import { suggestTimeZone } from "@kubewright/cron";

/** Returns ` (did you mean Europe/Berlin?)`, or nothing. */
export function timeZoneHint(timeZone: string): string {
  const zone = suggestTimeZone(timeZone);
  return zone === undefined ? "" : ` (did you mean ${zone}?)`;
}
