import { UserError } from "@kubewright/analysis/errors";
import { allProblems, loadManifests } from "@kubewright/analysis/input";
import { type Style, printable } from "@kubewright/analysis/text";
import type { Job, Pod, UnstructuredObject } from "@kubewright/api";

import { type Collected, collectChunks } from "../indexed-job/collect-chunks.js";
import { SEEDS_ANNOTATION } from "../indexed-job/job-manifest.js";
import type { Command, CommandContext, CommandResult } from "../shell/command.js";

/** `kubewright collect`: prints the findings so far of the Jobs that `--indexed-job` printed. */
export const collectCommand: Command<{ readonly json?: boolean }> = {
  argument: [
    "[export...]",
    "files with those Jobs and their pods, as kubectl get -o json prints; - for standard input",
  ],
  options: [["--json", "as one object, for scripts"]],
  help: `
Ends with status 1 when something was found.

Examples:
  $ kubectl get jobs,pods -l kubewright.dev/campaign -o json | kubewright collect -`,
  run: collect,
};

async function collect({
  args: paths,
  flags: { json },
  io,
  format: { style },
}: CommandContext<{ readonly json?: boolean }>): Promise<CommandResult> {
  const loaded = await loadManifests(paths.length === 0 ? ["-"] : paths, io);
  const { manifests } = loaded;
  const problems = allProblems(loaded);
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
  const text = json === true ? `${JSON.stringify(collected, null, 2)}\n` : collectedText(collected, style);
  const { length } = collected.findings;
  const found = collected.campaigns.reduce((sum, campaign) => sum + campaign.found.length, 0);
  const findings = found > 0 ? [`${countText(length, "finding")} in ${countText(found, "chunk")}`] : [];
  return { text, findings };
}

/** kubectl prints objects as the API server returned them, so their types are correct. */
function asTyped<T>(objects: readonly UnstructuredObject[]): readonly T[] {
  return objects as readonly unknown[] as readonly T[];
}

function collectedText({ campaigns, findings }: Collected, style: Style): string {
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
