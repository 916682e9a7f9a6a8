import { UserError } from "@kubewright/analysis/errors";

import { type FuzzFlags, parseFaults, parseSharding, seedsOf } from "../fuzz/fuzz-flags.js";
import type { CommandResult } from "../shell/command.js";
import { jobShape } from "./indexed-job-flags.js";
import { refuse } from "./indexed-run.js";
import { campaignText, commandLine } from "./job-manifest.js";

/** `kubewright fuzz … --indexed-job IMAGE`: prints a Job that runs the plans. */
export function indexedFuzz(flags: FuzzFlags): CommandResult {
  refuse({ "--json": flags.json, "--html": flags.html, "--save": flags.save });
  if (flags.forMinutes !== undefined)
    throw new UserError(
      "--for-minutes ends a campaign of one machine: say which seeds with --seeds, and rest the Job when it is enough",
    );
  if (flags.replay !== undefined || flags.resume !== undefined || flags.listMutants === true)
    throw new UserError("--indexed-job runs the plans of seeds: leave out --replay, --resume and --list-mutants");
  parseFaults(flags.faults, parseSharding(flags.sharding));
  const range = seedsOf(flags);
  const same = [
    ...(flags.faults === undefined ? [] : ["--faults", flags.faults]),
    ...(flags.sharding === undefined ? [] : ["--sharding", flags.sharding]),
    ...(flags.mutant === undefined ? [] : ["--mutant", flags.mutant]),
  ];
  const command = {
    name: "fuzz",
    seeds: `${range.first}-${range.last}`,
    args: [...same, ...(flags.minimize === true ? ["--minimize"] : [])],
    replay: commandLine("kubewright", "fuzz", ...same, "--replay"),
    files: new Map<string, string>(),
  };
  return { text: campaignText(command, jobShape(flags, range)) };
}
