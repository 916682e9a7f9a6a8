import type { CronJob } from "@kubewright/api";
import { expect, test } from "vitest";

import { create, NOW_MS, row, update, updateStatus } from "../../../test/strategy-calls.js";
import { cronJobStrategy } from "./strategy.js";

const template = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "busybox" }] } };

function cronJob(spec: object = {}, jobSpec: object = {}, name = "c"): object {
  return {
    metadata: { name },
    spec: { schedule: "0 0 * * *", jobTemplate: { spec: { template, ...jobSpec } }, ...spec },
  };
}

function created(manifest: object): CronJob {
  const { object, message } = create(cronJobStrategy, manifest);
  expect(message).toBe("");
  return object;
}

test("a minimal CronJob gets its own and its pods' defaults, but no Job defaults", () => {
  const { metadata, spec, status } = created(cronJob());
  expect(spec).toMatchObject({
    concurrencyPolicy: "Allow",
    suspend: false,
    successfulJobsHistoryLimit: 3,
    failedJobsHistoryLimit: 1,
  });
  expect(Object.keys(spec.jobTemplate.spec!)).toEqual(["template"]);
  expect(spec.jobTemplate.spec?.template.spec).toMatchObject({
    dnsPolicy: "ClusterFirst",
    schedulerName: "default-scheduler",
  });
  expect([metadata.generation, status]).toEqual([1, {}]);
});

const schedule = (text: string, sentence: string): [object, string] => [
  { schedule: text },
  `spec.schedule: Invalid value: ${JSON.stringify(text)}: ${sentence}`,
];
const zone = (timeZone: string, sentence: string): [object, string] => [
  { timeZone },
  `spec.timeZone: Invalid value: ${JSON.stringify(timeZone)}: ${sentence}`,
];
const EXPLICIT = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones";

test.each<[object, string]>([
  [{ schedule: "@every 1h" }, ""],
  [{ schedule: "? * * JAN sun" }, ""],
  [{ schedule: "0 0 31 2 *" }, ""],
  [{ schedule: "" }, "spec.schedule: Required value"],
  schedule("* * * *", "expected exactly 5 fields, found 4: [* * * *]"),
  schedule("60 * * * *", "end of range (60) above maximum (59): 60"),
  schedule("*/0 * * * *", "step of range should be a positive number: */0"),
  schedule("@foo", "unrecognized descriptor: @foo"),
  schedule("5-3 * * * *", "beginning of range (5) beyond end of range (3): 5-3"),
  schedule("* * * * 7", "end of range (7) above maximum (6): 7"),
  schedule("TZ=UTC 0 0 * * *", "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"),
  [{ timeZone: "Europe/Zurich" }, ""],
  zone("", "timeZone must be nil or non-empty string"),
  zone("Local", EXPLICIT),
  zone("Nope/Zone", "unknown time zone Nope/Zone"),
  zone("../x", "unknown time zone ../x"),
  zone(" UTC", "unknown time zone  UTC"),
  [{ timeZone: "posix/Europe/Zurich" }, ""],
  zone("Europe//Zurich", "unknown time zone Europe//Zurich"),
  zone("Europe", "is a directory"),
  zone("Europe/Zurich/x", "not a directory"),
  zone("zone1970.tab", "malformed time zone information"),
  zone("a..b", "time: invalid location name"),
  [{ timeZone: "local" }, `[${zone("local", EXPLICIT)[1]}, ${zone("local", "unknown time zone local")[1]}]`],
  [
    { concurrencyPolicy: "X" },
    'spec.concurrencyPolicy: Unsupported value: "X": supported values: "Allow", "Forbid", "Replace"',
  ],
  [
    { startingDeadlineSeconds: -5 },
    "spec.startingDeadlineSeconds: Invalid value: -5: must be greater than or equal to 0",
  ],
  [
    { successfulJobsHistoryLimit: -1, failedJobsHistoryLimit: -2 },
    "[spec.successfulJobsHistoryLimit: Invalid value: -1: must be greater than or equal to 0, spec.failedJobsHistoryLimit: Invalid value: -2: must be greater than or equal to 0]",
  ],
])("a CronJob with %j is judged", (spec, message) => {
  expect(create(cronJobStrategy, cronJob(spec)).message).toBe(message);
});

test.each<[object, string]>([
  [
    { selector: { matchLabels: { a: "b" } } },
    'spec.jobTemplate.spec.selector: Invalid value: {"matchLabels":{"a":"b"}}: `selector` will be auto-generated',
  ],
  [
    { manualSelector: true },
    'spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported values: "nil", "false"',
  ],
  [{ parallelism: -1 }, "spec.jobTemplate.spec.parallelism: Invalid value: -1: must be greater than or equal to 0"],
  [
    { template: { spec: { containers: [] } } },
    '[spec.jobTemplate.spec.template.spec.containers: Required value, spec.jobTemplate.spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"]',
  ],
])("a Job template with %j is refused", (jobSpec, message) => {
  expect(create(cronJobStrategy, cronJob({}, jobSpec)).message).toBe(message);
});

test("a name must leave room for the Jobs' suffix, but only on create", () => {
  const name = "n".repeat(53);
  const { object, message } = create(cronJobStrategy, cronJob({}, {}, name));
  expect(message).toBe(`metadata.name: Invalid value: "${name}": must be no more than 52 characters`);
  expect(update(cronJobStrategy, object, ({ spec }) => (spec.suspend = true)).message).toBe("");
});

test("a zone in the schedule may stay where it was, with a warning, unless there is a time zone too", () => {
  const stored = created(cronJob());
  stored.spec.schedule = "TZ=UTC 0 0 * * *";
  expect(update(cronJobStrategy, stored, ({ spec }) => (spec.schedule = "TZ=UTC 1 0 * * *"))).toMatchObject({
    message: "",
    warnings: [
      "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details",
    ],
  });
  expect(update(cronJobStrategy, stored, ({ spec }) => (spec.timeZone = "UTC")).message).toBe(
    'spec.schedule: Invalid value: "TZ=UTC 0 0 * * *": cannot use both timeZone field and TZ or CRON_TZ in schedule',
  );
});

test("a time zone that is no longer known is only refused when it changes", () => {
  const stored = created(cronJob());
  stored.spec.timeZone = "Nope/Zone";
  expect(update(cronJobStrategy, stored, ({ spec }) => (spec.suspend = true)).message).toBe("");
  expect(update(cronJobStrategy, stored, ({ spec }) => (spec.timeZone = "Nope/Other")).message).toContain(
    "unknown time zone",
  );
});

test("a status update stores the status and nothing else", () => {
  const { object, message } = updateStatus(cronJobStrategy, created(cronJob()), (next) => {
    next.spec.schedule = "nonsense";
    next.status = { active: [{ name: "x" }] };
  });
  expect([message, object.spec.schedule, object.status]).toEqual(["", "0 0 * * *", { active: [{ name: "x" }] }]);
});

test("a CronJob is printed", () => {
  const object = created(cronJob());
  object.metadata.creationTimestamp = "2025-12-31T23:59:00Z";
  expect(row(cronJobStrategy, object)).toEqual({
    Name: "c",
    Schedule: "0 0 * * *",
    Timezone: "<none>",
    Suspend: "False",
    Active: 0,
    "Last Schedule": "<none>",
    Age: "60s",
    Containers: "c",
    Images: "busybox",
    Selector: "<none>",
  });
  object.status = {
    active: [{ name: "x" }, { name: "y" }],
    lastScheduleTime: new Date(NOW_MS - 125_000).toISOString(),
  };
  delete object.spec.suspend;
  expect(row(cronJobStrategy, object)).toMatchObject({ Active: 2, "Last Schedule": "2m5s", Suspend: "<unset>" });
});
