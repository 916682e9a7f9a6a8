import { type Selection, isSelectedBy, parseSelection } from "../input/selection.js";
import { UserError } from "../errors/user-error.js";
import type { Precedence } from "./propose.js";
import type { ScheduledLoad } from "./scheduled-load.js";

const MINUTE_MS = 60_000;

/** @throws UserError for invalid selections. */
export function parseSelections(flag: string, texts: readonly string[]): Selection[] {
  return texts
    .flatMap((text) => text.split(","))
    .map((text) => {
      const selection = parseSelection(text.trim());
      if (selection === undefined)
        throw new UserError(`${flag}: ${JSON.stringify(text)} names nothing; write for example report or 'billing/*'`);
      return selection;
    });
}

/** @throws UserError for a selection without a match, which may be misspelt. */
export function checkSelected(flag: string, selections: readonly Selection[], loads: readonly ScheduledLoad[]): void {
  const unmatched = selections.find((selection) => !loads.some((load) => isSelectedBy(selection, load)));
  if (unmatched === undefined) return;
  const text = unmatched.namespace === "*" ? unmatched.name : `${unmatched.namespace}/${unmatched.name}`;
  throw new UserError(`${flag}: ${JSON.stringify(text)} selects no CronJob that runs`);
}

/**
 * Parses `--after A,B`: in each hour in which both run, B starts after the expected duration of A.
 *
 * @throws UserError for names without a match, and for fewer than two names.
 */
export function precedencesOf(texts: readonly string[], loads: readonly ScheduledLoad[]): Precedence[] {
  return texts.flatMap((text) => {
    const names = text.split(",");
    if (names.length < 2)
      throw new UserError(`--after: ${JSON.stringify(text)} names one; write the first and what comes after it: A,B`);
    const steps = parseSelections("--after", [text]).map((selection) => {
      checkSelected("--after", [selection], loads);
      return [...loads.keys()].filter((each) => isSelectedBy(selection, loads[each]!));
    });
    return steps
      .slice(1)
      .flatMap((later, index) =>
        steps[index]!.flatMap((before) =>
          later
            .filter((after) => after !== before && runInSameHour(loads[before]!, loads[after]!))
            .map((after) => ({ before, after, gap: minutesOf(loads[before]!) })),
        ),
      );
  });
}

function minutesOf({ expectedMs }: ScheduledLoad): number {
  return Math.max(1, Math.ceil(expectedMs / MINUTE_MS));
}

/** Hours of zones that are half an hour apart never coincide. */
function runInSameHour(a: ScheduledLoad, b: ScheduledLoad): boolean {
  const hours = hoursOf(a);
  for (const hour of hoursOf(b)) if (hours.has(hour)) return true;
  return false;
}

/** Returns the starts of the wall-clock hours in which it runs, in minutes since the start of the window. */
function hoursOf({ starts, hourOffsetMinutes }: ScheduledLoad): Set<number> {
  return new Set(starts.map((start) => Math.floor((start - hourOffsetMinutes) / 60) * 60 + hourOffsetMinutes));
}
