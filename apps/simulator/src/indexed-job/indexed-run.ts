import { UserError } from "@kubewright/analysis/errors";
import { parseRules } from "@kubewright/analysis/fail-on";
import { inputArgs, parseSeeds, seedCommand } from "@kubewright/analysis/futures";
import { readRunInput, startTime } from "@kubewright/analysis/input";
import { reportOutputs } from "@kubewright/analysis/reports";
import { validateInput } from "@kubewright/analysis/run";

import type { RunFlags } from "../options/run-flags.js";
import type { CommandContext, CommandResult } from "../shell/command.js";
import { jobShape } from "./indexed-job-flags.js";
import { campaignText } from "./job-manifest.js";
import { type RecordedInputs, STANDARD_INPUT } from "./recorded-inputs.js";

/** `kubewright run … --seeds A-B --indexed-job IMAGE`: prints a Job that simulates the futures. */
export async function indexedRun(
  given: CommandContext<RunFlags>,
  { paths, flags }: { readonly paths: readonly string[]; readonly flags: RunFlags & { readonly seeds: string } },
  recorded: RecordedInputs,
): Promise<CommandResult> {
  refuse({ "--json": flags.json, "--html": flags.html, ...reportOutputs(flags) });
  if (flags.fromCluster === true)
    throw new UserError(
      "--indexed-job: pods read no cluster: write its objects to a file, and simulate that: kubectl get cronjobs,jobs -A -o yaml > cluster.yaml",
    );
  if (flags.nodeSize !== undefined)
    throw new UserError("--node-size is about all futures together, and a chunk of --indexed-job knows only its own");
  const rules = parseRules(flags.failOn ?? []);
  if (rules.length === 0)
    throw new UserError("--indexed-job: say what is to be found with --fail-on, for example --fail-on failed");
  for (const { text, maxShare: maxFutures, condition } of rules)
    if (maxFutures !== undefined || condition.type === "change")
      throw new UserError(
        `--fail-on: ${JSON.stringify(text)} is about all futures together, and a chunk of --indexed-job knows only its own`,
      );
  const seeds = parseSeeds(flags.seeds);
  const shape = jobShape(flags, seeds);
  const input = await readRunInput(paths, flags, recorded.io);
  const { problems, notes } = await validateInput(input, given.io.timeZoneData);
  given.note(...notes);
  if (problems.length > 0) throw new UserError(problems.join("\n"));
  // Every pod has the same start, at any time.
  const pinned = input.repeat === undefined ? given.flags : { ...given.flags, start: startTime(input.startMs) };
  const args = inputArgs(
    given.args.map((path) => (path === "-" ? STANDARD_INPUT : path)),
    pinned,
  );
  const failOn = (given.flags.failOn ?? []).flatMap((rule) => ["--fail-on", rule]);
  const command = {
    name: "run",
    seeds: flags.seeds,
    args: [...args, ...failOn],
    replay: `${seedCommand(given.args, pinned)} --seed`,
    files: recorded.files,
  };
  return { text: campaignText(command, shape) };
}

/** @throws UserError for an output file, because pods have no access to this machine. */
export function refuse(outputs: Readonly<Record<string, string | undefined>>): void {
  for (const [flag, value] of Object.entries(outputs))
    if (value !== undefined)
      throw new UserError(`${flag} names a file of this machine, which no pod has: name a volume with --results`);
}
