import { expect, test } from "vitest";

import { createLogger } from "./logging.js";

const AT = new Date(2026, 0, 2, 15, 4, 5, 7).getTime();

function logging(format: "text" | "json", verbosity = 0): { logger: ReturnType<typeof createLogger>; lines: string[] } {
  const lines: string[] = [];
  return {
    lines,
    logger: createLogger({
      format,
      verbosity,
      clock: { now: () => AT },
      pid: 42,
      write: (line) => void lines.push(line),
    }),
  };
}

test("text lines look like klog's", () => {
  const { logger, lines } = logging("text");
  logger.info({ version: "v1", workers: 5, ready: true }, 'Starting "it"');
  logger.child({ logger: "job-controller" }).warn({ key: "default/pi" }, "careful");
  expect(lines).toEqual([
    'I0102 15:04:05.007000      42 controller-manager] "Starting \\"it\\"" version="v1" workers=5 ready=true\n',
    'W0102 15:04:05.007000      42 job-controller] "careful" logger="job-controller" key="default/pi"\n',
  ]);
});

test("an error is logged as one line with the messages of its causes, without a stack", () => {
  const { logger, lines } = logging("text");
  logger.error({ err: new Error("list pods\nin default", { cause: new Error("no route") }) }, "command failed");
  expect(lines).toEqual([
    'E0102 15:04:05.007000      42 controller-manager] "command failed" err="list pods\\nin default: no route"\n',
  ]);
});

test("JSON lines carry the time in milliseconds, and a verbosity unless they are errors", () => {
  const { logger, lines } = logging("json", 4);
  logger.info({ a: 1 }, "one");
  logger.debug({}, "two");
  logger.child({ logger: "job-controller" }).error({ err: new Error("three") }, "failed");
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    { v: 0, ts: AT, a: 1, msg: "one" },
    { v: 4, ts: AT, msg: "two" },
    { ts: AT, logger: "job-controller", err: "three", msg: "failed" },
  ]);
});

test("debug lines are written at verbosity 4 and above", () => {
  const { logger, lines } = logging("text", 3);
  logger.debug({}, "hidden");
  expect(lines).toEqual([]);
});
