import { type CronJob, type DeepReadonly, cronJobs } from "@kubewright/api";
import {
  type Applied,
  type ObjectOf,
  createOperator,
  defineCustomResource,
  generationChanged,
  ownerReference,
  setCondition,
} from "@kubewright/operator";
import { z } from "zod";

const condition = z.object({
  type: z.string(),
  status: z.enum(["True", "False", "Unknown"]),
  reason: z.string().min(1),
  message: z.string(),
  lastTransitionTime: z.iso.datetime(),
  observedGeneration: z.int().min(0).optional(),
});

/** Requests a report once a day. */
export const reports = defineCustomResource({
  group: "example.com",
  version: "v1",
  kind: "Report",
  scope: "Namespaced",
  spec: z.object({
    at: z
      .string()
      .regex(/^([01][0-9]|2[0-3]):[0-5][0-9]$/)
      .describe("Time of day, such as 02:30."),
    timeZone: z.string().default("Etc/UTC").describe("Name of the time zone."),
    image: z.string().min(1).describe("What writes the report."),
    paused: z.boolean().default(false),
  }),
  status: z.object({
    lastReport: z.string().optional().describe("When the last report was complete."),
    conditions: z
      .array(condition)
      .optional()
      .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"] }),
  }),
  printerColumns: [{ name: "Last report", type: "date", jsonPath: ".status.lastReport" }],
});
export type Report = ObjectOf<typeof reports>;

/** Owns a CronJob for every Report, and shows in the status when it last succeeded. */
export const reportOperator = createOperator({ name: "report-operator" });

reportOperator
  .controllerFor(reports, { predicate: generationChanged })
  .owns(cronJobs)
  .reconcile(async ({ object, client, now }) => {
    const cronJob = await client.apply(cronJobs, cronJobOf(object));
    const lastReport = cronJob.status?.lastSuccessfulTime;
    const { paused } = object.spec;
    const conditions = setCondition(
      object,
      { type: "Scheduled", status: paused ? "False" : "True", reason: paused ? "Paused" : "CronJobApplied" },
      now,
    );
    await client.patchStatus(reports, object, { conditions, ...(lastReport === undefined ? {} : { lastReport }) });
  });

function cronJobOf(report: DeepReadonly<Report>): Applied<CronJob> {
  const { name, namespace } = report.metadata;
  const { at, timeZone, image, paused } = report.spec;
  const [hour, minute] = at.split(":").map(Number);
  return {
    metadata: { name: name!, namespace: namespace!, ownerReferences: [ownerReference(reports, report)] },
    spec: {
      schedule: `${minute} ${hour} * * *`,
      timeZone,
      suspend: paused,
      concurrencyPolicy: "Forbid",
      jobTemplate: {
        spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "report", image }] } } },
      },
    },
  };
}
