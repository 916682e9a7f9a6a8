import type { WorkloadEntry } from "@kubewright/simulation";
import type { LearnedWorkload } from "./learn-workloads.js";

/** Formats a workloads file as YAML, with a comment about the observations before each entry. */
export function workloadsText(learned: readonly LearnedWorkload[]): string {
  const entries = learned.map((workload) => `  # ${basisText(workload)}\n${entryText(workload.entry)}`);
  return `# Learned by kubewright learn. Dates are UTC.
apiVersion: sim.kubewright.dev/v1
kind: Workloads
workloads:
${entries.join("")}`;
}

/** `37 runs, 2 failed, 2026-05-01 to 2026-05-08` */
function basisText({ runs, failed, timed, firstEndMs, lastEndMs }: LearnedWorkload): string {
  const [first, last] = [dayOf(firstEndMs), dayOf(lastEndMs)];
  return [
    `${runs} ${runs === 1 ? "run" : "runs"}`,
    ...(failed === 0 ? [] : [`${failed} failed`]),
    ...(timed === 0 ? ["it is not known how long they took"] : []),
    ...(timed > 0 && timed < runs - failed ? [`durations of ${timed}`] : []),
    first === last ? first : `${first} to ${last}`,
  ].join(", ");
}

function dayOf(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10);
}

// JSON strings are valid YAML for any text; names such as `on` and `123` need the quotes.
function entryText({ select: { kind, namespace, name }, container, duration, exitCode }: WorkloadEntry): string {
  return [
    `  - select: { kind: ${kind}, namespace: ${JSON.stringify(namespace)}, name: ${JSON.stringify(name)} }\n`,
    container === undefined ? "" : `    container: ${JSON.stringify(container)}\n`,
    duration === undefined ? "" : `    duration: ${duration}\n`,
    exitCode === undefined ? "" : `    exitCode: ${exitCodeYaml(exitCode)}\n`,
  ].join("");
}

function exitCodeYaml(exitCode: NonNullable<WorkloadEntry["exitCode"]>): string {
  if (typeof exitCode === "number") return String(exitCode);
  return `{ ${Object.entries(exitCode)
    .map(([code, share]) => `${code}: ${share}`)
    .join(", ")} }`;
}
