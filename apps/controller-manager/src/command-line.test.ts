import { expect, test } from "vitest";

import { parseCommandLine } from "./command-line.js";
import { UsageError } from "./flag-values.js";
import { type ControllerManagerOptions, defaultOptions } from "./options.js";

function options(...args: string[]): ControllerManagerOptions {
  const invocation = parseCommandLine(args);
  if (invocation.command !== "run") throw new Error(`asked for ${invocation.command}`);
  return invocation.options;
}

function usageError(...args: string[]): string {
  try {
    parseCommandLine(args);
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  throw new Error("it was accepted");
}

test("without flags everything has upstream's default", () => {
  expect(options()).toEqual(defaultOptions);
});

test("values follow a blank or an equals sign, and underscores are dashes", () => {
  expect(
    options("--kubeconfig", "/k", "--kube_api_burst=50", "--kube-api-qps", "0.5", "--concurrent-job-syncs=7"),
  ).toMatchObject({
    kubeconfig: "/k",
    kubeApiBurst: 50,
    kubeApiQps: 0.5,
    concurrentJobSyncs: 7,
  });
});

test("a boolean flag alone means true; another value needs an equals sign", () => {
  expect(options("--leader-elect").leaderElect).toBe(true);
  expect(options("--leader-elect=false").leaderElect).toBe(false);
  expect(usageError("--leader-elect", "false")).toBe(
    '"kubewright-controller-manager" does not take any arguments, got ["false"]',
  );
});

test("the first --controllers replaces the default, later ones add to it, and aliases are replaced", () => {
  expect(options("--controllers=job", "--controllers", "-cronjob,podgc").controllers).toEqual([
    "job-controller",
    "-cronjob-controller",
    "pod-garbage-collector-controller",
  ]);
  expect(options("--controllers=").controllers).toEqual([]);
});

test("durations are read in Go's form", () => {
  const {
    leaderElectLeaseDurationMs,
    leaderElectRenewDeadlineMs,
    leaderElectRetryPeriodMs,
    minResyncPeriodMs,
    controllerStartIntervalMs,
  } = options(
    "--leader-elect-lease-duration=1m30s",
    "--leader-elect-renew-deadline=1.5s",
    "--leader-elect-retry-period=300ms",
    "--min-resync-period=12h0m0s",
    "--controller-start-interval=0",
  );
  expect([
    leaderElectLeaseDurationMs,
    leaderElectRenewDeadlineMs,
    leaderElectRetryPeriodMs,
    minResyncPeriodMs,
    controllerStartIntervalMs,
  ]).toEqual([90_000, 1_500, 300, 43_200_000, 0]);
});

test.each([["-v=4"], ["-v4"], ["-v", "4"], ["--v=4"], ["--v", "4"]])("verbosity is set by %j %s", (...args) => {
  expect(options(...args).verbosity).toBe(4);
});

test.each([
  [["--nope"], "unknown flag: --nope"],
  [["--nope=1"], "unknown flag: --nope"],
  [["-x"], "unknown shorthand flag: 'x' in -x"],
  [["--kubeconfig"], "flag needs an argument: --kubeconfig"],
  [["run"], '"kubewright-controller-manager" does not take any arguments, got ["run"]'],
  [
    ["--kube-api-burst=abc"],
    'invalid argument "abc" for "--kube-api-burst" flag: strconv.ParseInt: parsing "abc": invalid syntax',
  ],
  [
    ["--kube-api-qps=x"],
    'invalid argument "x" for "--kube-api-qps" flag: strconv.ParseFloat: parsing "x": invalid syntax',
  ],
  [
    ["--leader-elect=maybe"],
    'invalid argument "maybe" for "--leader-elect" flag: strconv.ParseBool: parsing "maybe": invalid syntax',
  ],
  [["-v=x"], 'invalid argument "x" for "-v, --v" flag: strconv.ParseUint: parsing "x": invalid syntax'],
  [
    ["--min-resync-period=5"],
    'invalid argument "5" for "--min-resync-period" flag: time: missing unit in duration "5"',
  ],
  [
    ["--min-resync-period=5x"],
    'invalid argument "5x" for "--min-resync-period" flag: time: unknown unit "x" in duration "5x"',
  ],
  [
    ["--min-resync-period=soon"],
    'invalid argument "soon" for "--min-resync-period" flag: time: invalid duration "soon"',
  ],
  [["--controllers=-*"], '"*" is not in the list of known controllers'],
  [["--logging-format=xml"], 'format: Invalid value: "xml": Unsupported log format'],
  [["--leader-elect-resource-lock=configmaps"], 'resourceLock value must be "leases"'],
  [["--leader-elect-lease-duration=10s"], "leaseDuration must be greater than renewDeadline"],
  [["--leader-elect-renew-deadline=2s"], "renewDeadline must be greater than retryPeriod*JitterFactor"],
  [
    ["--concurrent-job-syncs=0", "--concurrent-cron-job-syncs=-1"],
    "[concurrent-job-syncs must be greater than 0, but got 0, concurrent-cron-job-syncs must be greater than 0, but got -1]",
  ],
])("%j is wrong usage: %s", (args, message) => {
  expect(usageError(...args)).toBe(message);
});

test("without leader election its other flags are not checked", () => {
  expect(options("--leader-elect=false", "--leader-elect-resource-lock=configmaps").leaderElectResourceLock).toBe(
    "configmaps",
  );
});

test("--version is answered even when other values make no sense together", () => {
  expect(parseCommandLine(["--version", "--concurrent-job-syncs=0"])).toEqual({ command: "version" });
});

test.each([["--help"], ["-h"]])("%s shows every flag with its default, and examples", (flag) => {
  const invocation = parseCommandLine([flag]);
  if (invocation.command !== "help") throw new Error("no help");
  const { text } = invocation;
  expect(text).toMatch(/^Usage: kubewright-controller-manager \[flags\]/);
  for (const part of [
    "Generic flags:",
    "Leader election flags:",
    "--kube-api-qps <float>",
    "(default: 20)",
    "-v, --v <level>",
    "Examples:",
  ]) {
    expect(text).toContain(part);
  }
});
