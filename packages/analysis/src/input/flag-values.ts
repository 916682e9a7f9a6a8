import { UserError } from "../errors/user-error.js";

/** @throws UserError for anything but an RFC 3339 date or time. */
export function parseStart(text: string, option = "--start"): number {
  const date = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/.exec(text)?.[1];
  const dayMs = date === undefined ? Number.NaN : Date.parse(date);
  // `Date.parse` turns a day that the month does not have into a day of the next month.
  const valid = !Number.isNaN(dayMs) && new Date(dayMs).toISOString().startsWith(date!);
  const startMs = valid ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(startMs))
    throw new UserError(`${option}: ${JSON.stringify(text)} is not a time; write for example 2026-03-28T22:00:00Z`);
  return startMs;
}

/** @throws UserError for anything but an unsigned 32-bit integer. */
export function parseSeed(text: string): number {
  const seed = Number(text);
  if (!/^\d{1,10}$/.test(text) || seed > 0xffff_ffff)
    throw new UserError(`--seed: ${JSON.stringify(text)} is not a whole number from 0 to 4294967295`);
  return seed;
}
