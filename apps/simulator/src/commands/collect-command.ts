import type { Job, Pod, UnstructuredObject } from "@kubewright/api";

import { loadManifests } from "@kubewright/analysis/input";
import type { Io } from "../io/io.js";
import { ViolationsError, UserError } from "@kubewright/analysis/errors";
import { printable, styleFor } from "@kubewright/analysis/text";
import { type Collected, collectChunks } from "../indexed-job/collect-chunks.js";
import { SEEDS_ANNOTATION } from "../indexed-job/job-manifest.js";

/** `kubewright collect`: prints the findings so far of the Jobs that `--indexed-job` printed. */
export async function collectCommand(
  paths: readonly string[],
  { json }: { readonly json?: boolean },
  io: Io,
): Promise<void> {
  const { manifests, problems } = await loadManifests(paths.length === 0 ? ["-"] : paths, io);
  if (problems.length > 0) throw new UserError(problems.join("\n"));
  const objects = manifests.map(({ object }) => object);
  const jobs = objects.filter(
    ({ kind, metadata }) => kind === "Job" && metadata.annotations?.[SEEDS_ANNOTATION] !== undefined,
  );
  if (jobs.length === 0)
    throw new UserError(
      "there is no Job of --indexed-job: give it what kubectl get jobs,pods -l kubewright.dev/campaign -o json prints",
    );
  const pods = objects.filter(({ kind }) => kind === "Pod");
  const collected = collectChunks(asTyped<Job>(jobs), asTyped<Pod>(pods));
  io.stdout.write(json === true ? `${JSON.stringify(collected, null, 2)}\n` : collectedText(collected, io));
  const { length } = collected.findings;
  const found = collected.campaigns.reduce((sum, campaign) => sum + campaign.found.length, 0);
  if (found > 0) throw new ViolationsError([`${countText(length, "finding")} in ${countText(found, "chunk")}`]);
}

/** kubectl prints objects as the API server returned them, so their types are correct. */
function asTyped<T>(objects: readonly UnstructuredObject[]): readonly T[] {
  return objects as readonly unknown[] as readonly T[];
}

function collectedText({ campaigns, findings }: Collected, io: Io): string {
  const style = styleFor(io.stdout.hasColours);
  const lines: string[] = [];
  for (const { name, seeds, chunks, simulated, clean, found, broken, unknown } of campaigns) {
    const left = chunks - clean - found.length - broken.length;
    const parts = [
      `${clean.toLocaleString("en-US")} clean`,
      `${found.length.toLocaleString("en-US")} with findings`,
      ...(broken.length === 0 ? [] : [`${broken.length.toLocaleString("en-US")} broken`]),
      ...(left === 0 ? [] : [`${left.toLocaleString("en-US")} not done`]),
    ];
    lines.push(
      `${style.bold(printable(name))}  seeds ${printable(seeds)} in ${countText(chunks, "chunk")}: ${parts.join(", ")}; ${simulated.toLocaleString("en-US")} played`,
      ...broken.map(({ chunk, why }) => `  chunk ${chunk} broke: ${printable(why)}`),
      ...(unknown.length === 0 ? [] : [`  what these chunks found is gone with their pods: ${unknown.join(", ")}`]),
    );
  }
  for (const { what, count, at, replay } of findings)
    lines.push(
      "",
      `${style.red(printable(what))}  ${countText(count, "time")}, first in ${printable(at)}`,
      `  ${printable(replay)}`,
    );
  return `${lines.join("\n")}\n`;
}

function countText(count: number, what: string): string {
  return `${count.toLocaleString("en-US")} ${what}${count === 1 ? "" : "s"}`;
}
