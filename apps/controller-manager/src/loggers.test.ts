import { SimulatedClock } from "@kubewright/clock";
import { expect, test } from "vitest";

import { Loggers, type LoggersOptions } from "./loggers.js";

function setUp(options: Partial<LoggersOptions> = {}) {
  const lines: string[] = [];
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const loggers = new Loggers({
    format: "json",
    verbosity: 0,
    clock,
    pid: 1,
    write: (line) => lines.push(line),
    ...options,
  });
  const said = (): unknown[] => lines.splice(0).map((line) => (JSON.parse(line) as { msg: string }).msg);
  return { loggers, lines, said };
}

test("--vmodule sets the verbosity of loggers by name, which -v does not change", () => {
  const { loggers, said: takeMessages } = setUp({ vmodule: ["job-*=4", "cronjob-controller=0"] });
  for (const name of ["job-controller", "cronjob-controller", undefined]) loggers.for(name).debug({}, String(name));
  expect(takeMessages()).toEqual(["job-controller"]);
  loggers.set(4);
  for (const name of ["job-controller", "cronjob-controller", undefined]) loggers.for(name).debug({}, String(name));
  expect(takeMessages()).toEqual(["job-controller", "undefined"]);
  loggers.set(0);
  for (const name of ["job-controller", "cronjob-controller", undefined]) loggers.for(name).debug({}, String(name));
  expect(takeMessages()).toEqual(["job-controller"]);
});

test("lines name the component they come from, unless contextual logging is off", () => {
  const named = setUp();
  named.loggers.for("job-controller").info({}, "hello");
  expect(JSON.parse(named.lines[0]!)).toMatchObject({ logger: "job-controller", msg: "hello" });
  const nameless = setUp({ named: false });
  nameless.loggers.for("job-controller").info({}, "hello");
  expect(JSON.parse(nameless.lines[0]!)).not.toHaveProperty("logger");
});
