import { ScheduleError, parseSchedule } from "@kubewright/cron";

import type { Io } from "./io.js";
import { parseStart } from "./run-command.js";
import { styleFor } from "./style.js";
import { UserError } from "./user-error.js";

export interface ScheduleFlags {
  readonly timeZone: string;
  readonly from: string;
  readonly count: string;
}

/** `kubewright schedule`: the next runs of a schedule, in its zone and in UTC. */
export async function scheduleCommand(expression: string, flags: ScheduleFlags, io: Io): Promise<void> {
  const count = Number(flags.count);
  if (!Number.isInteger(count) || count < 1 || count > 10_000)
    throw new UserError(`--count: ${JSON.stringify(flags.count)} is not a whole number from 1 to 10000`);
  const style = styleFor(io.stdout.hasColours);
  const schedule = parse(expression, flags.timeZone);
  const zoned = new Intl.DateTimeFormat("en-GB", {
    timeZone: flags.timeZone,
    weekday: "short",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hourCycle: "h23",
    timeZoneName: "longOffset",
  });
  let atMs: number | undefined = parseStart(flags.from);
  for (let index = 0; index < count; index++) {
    atMs = schedule.next(atMs);
    if (atMs === undefined) {
      io.stdout.write(index === 0 ? "never\n" : style.dim("no later run within five years\n"));
      return;
    }
    const parts = Object.fromEntries(zoned.formatToParts(atMs).map(({ type, value }) => [type, value]));
    const offset = (parts["timeZoneName"] ?? "GMT").replace("GMT", "") || "+00:00";
    const local = `${parts["weekday"]} ${parts["year"]}-${parts["month"]}-${parts["day"]} ${parts["hour"]}:${parts["minute"]}:${parts["second"]} ${offset}`;
    io.stdout.write(`${local}  ${style.dim(`${new Date(atMs).toISOString().slice(0, 19)}Z`)}\n`);
  }
}

function parse(expression: string, timeZone: string): ReturnType<typeof parseSchedule> {
  try {
    return parseSchedule(expression, { timeZone });
  } catch (error) {
    if (error instanceof ScheduleError) throw new UserError(error.message, { cause: error });
    throw error;
  }
}
