// Benchmark of the number of next() calls per second of a parsed schedule, from run to run. Prints one JSON line per
// zone. Needs `npm run build`.
//
//     node bench/cron.mjs
import { parseSchedule } from "@kubewright/cron";

const SCHEDULES = [
  "* * * * *",
  "*/5 * * * *",
  "0 * * * *",
  "30 2 * * *",
  "0 9-17 * * 1-5",
  "0 0 1 * *",
  "0 0 29 2 *",
  "0 12 13 * 5",
  "@every 90s",
];
const START_MS = Date.UTC(2026, 0, 1);
const END_MS = Date.UTC(2036, 0, 1);
const STEPS = 200_000;

for (const timeZone of ["UTC", "America/New_York", "Europe/Berlin", "Australia/Lord_Howe"]) {
  const perSecond = {};
  let totalMs = 0;
  for (const text of SCHEDULES) {
    const schedule = parseSchedule(text, { timeZone });
    let time = START_MS;
    const step = () => {
      time = schedule.next(time) ?? START_MS;
      if (time > END_MS) time = START_MS;
    };
    for (let count = 0; count < STEPS / 10; count++) step();
    const before = performance.now();
    for (let count = 0; count < STEPS; count++) step();
    const elapsedMs = performance.now() - before;
    totalMs += elapsedMs;
    perSecond[text] = Math.round(STEPS / (elapsedMs / 1000));
  }
  console.log(
    JSON.stringify({
      bench: "cron next",
      timeZone,
      nextPerSecond: Math.round((STEPS * SCHEDULES.length) / (totalMs / 1000)),
      perSecond,
      goal: 300_000,
    }),
  );
}
