interface Workload {
  readonly name: string;
  readonly namespace?: string;
  readonly schedule?: string;
  readonly policy?: string;
  /** Further fields of the CronJob's spec, in YAML. */
  readonly more?: string;
  /** Fields of the Job's spec, in YAML. */
  readonly job?: string;
  readonly duration: string;
  readonly failureRate?: string;
  readonly cpu?: string;
}

export function manifest(workload: Workload): string {
  const { name, namespace = "default", schedule, policy = "Allow", more = "", job = "", duration, cpu } = workload;
  const { failureRate = "0" } = workload;
  const resources = cpu === undefined ? "" : `, resources: { requests: { cpu: ${cpu} } }`;
  const metadata = `{ name: ${name}, namespace: ${namespace} }`;
  const annotations = `sim.kubewright.dev/duration: ${duration}, sim.kubewright.dev/failure-rate: "${failureRate}"`;
  const spec = `{ ${job === "" ? "" : `${job}, `}template: { metadata: { annotations: { ${annotations} } }, spec: { restartPolicy: Never, containers: [{ name: main, image: busybox${resources} }] } } }`;
  return schedule === undefined
    ? `apiVersion: batch/v1\nkind: Job\nmetadata: ${metadata}\nspec: ${spec}\n---\n`
    : `apiVersion: batch/v1\nkind: CronJob\nmetadata: ${metadata}\nspec: { schedule: "${schedule}", concurrencyPolicy: ${policy}, ${more === "" ? "" : `${more}, `}jobTemplate: { spec: ${spec} } }\n---\n`;
}

/** The workloads of a fictitious team, with all kinds of results. */
export const TEAM = [
  { name: "invoices", schedule: "0 * * * *", policy: "Forbid", duration: "20m..80m", failureRate: "0.1", cpu: "500m" },
  { name: "poll", schedule: "*/2 * * * *", policy: "Forbid", duration: "5m..15m" },
  { name: "refresh", schedule: "*/20 * * * *", policy: "Replace", duration: "25m", cpu: "250m" },
  { name: "heartbeat", schedule: "* * * * *", duration: "5s" },
  { name: "nightly-backup", namespace: "storage", schedule: "30 2 * * *", duration: "1h..2h", cpu: "2" },
  { name: "too-big", namespace: "storage", schedule: "0 */6 * * *", duration: "10m", cpu: "64" },
  {
    name: "first-wins",
    duration: "10m..50m",
    job: "completionMode: Indexed, completions: 4, parallelism: 4, successPolicy: { rules: [{ succeededCount: 1 }] }",
  },
  { name: "migration", duration: "5m", failureRate: "1", job: "backoffLimit: 3" },
]
  .map(manifest)
  .join("");

export const HUNDRED = Array.from({ length: 100 }, (_, index) =>
  manifest({
    name: `report-${String(index + 1).padStart(3, "0")}`,
    namespace: ["billing", "search", "shop", "storage"][index % 4]!,
    schedule: `${(index * 7) % 60} * * * *`,
    policy: index % 10 === 0 ? "Forbid" : "Allow",
    duration: index % 10 === 0 ? "40m..90m" : "2m..30m",
    failureRate: index % 7 === 0 ? "0.2" : "0",
    cpu: `${100 + (index % 5) * 100}m`,
  }),
).join("");

/** Workloads for a longer window: fewer runs a day, and one that is suspended. */
export const MONTH = [
  { name: "invoices", schedule: "0 * * * *", policy: "Forbid", duration: "20m..80m", failureRate: "0.1", cpu: "500m" },
  { name: "refresh", schedule: "30 */3 * * *", policy: "Replace", duration: "4h", cpu: "250m" },
  { name: "heartbeat", schedule: "*/30 * * * *", duration: "5s" },
  { name: "on-hold", schedule: "15 * * * *", duration: "5m", more: "suspend: true" },
  { name: "nightly-backup", namespace: "storage", schedule: "30 2 * * *", duration: "1h..2h", cpu: "2" },
]
  .map(manifest)
  .join("");
