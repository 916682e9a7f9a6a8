import { realClock } from "@kubewright/clock";

import {
  parseStart,
  type InputIo,
  loadManifests,
  PROJECT_FILE,
  type ProjectFile,
  readProjectFile,
  workloadEntries,
  readWorkloadsFile,
} from "@kubewright/analysis/input";
import { InterruptedError, ViolationsError, UserError } from "@kubewright/analysis/errors";
import type { Io } from "../io/io.js";
import { checkOutputs, openOutput } from "@kubewright/analysis/ports";
import { printable, styleFor } from "@kubewright/analysis/text";
import {
  DisabledRules,
  checkRuleNames,
  lintManifests,
  type LintReport,
  levelsText,
  lintJson,
  lintSarif,
  lintText,
} from "@kubewright/analysis/lint";

export interface LintFlags {
  /** Default: now. */
  readonly from?: string;
  readonly workloads?: string;
  readonly duration?: readonly string[];
  readonly json?: string;
  readonly sarif?: string;
}

/** `kubewright lint`: finds mistakes in CronJobs and Jobs without random outcomes. */
export async function lintCommand(given: readonly string[], flags: LintFlags, io: Io): Promise<void> {
  const fromMs = flags.from === undefined ? realClock.now() : parseStart(flags.from, "--from");
  const project = await readProjectFile(io);
  const disabled = project?.lint?.disable ?? [];
  checkRuleNames(disabled, `${PROJECT_FILE}: lint.disable`);
  const paths = pathsOf(given, project);
  checkOutputs({ "--json": flags.json, "--sarif": flags.sarif }, paths);
  const texts = new Map<string, string>();
  const { manifests, problems, notes } = await loadManifests(paths, recordingIo(texts, io));
  const comments = new DisabledRules(texts, disabled);
  const problemLines = [...problems, ...comments.problems];
  const workloads = [
    ...(await workloadsOf(flags.workloads ?? project?.workloads, io)),
    ...workloadEntries(flags, manifests),
  ];
  const { findings: all, subjects } = await lintManifests(manifests, {
    fromMs,
    timeZoneData: io.timeZoneData,
    workloads,
    signal: io.stopped,
  });
  if (subjects.length === 0 && all.length === 0) {
    const nothing = `${paths.join(", ")}: no CronJob and no Job found`;
    throw new UserError([...notes, ...(problemLines.length > 0 ? problemLines : [nothing])].join("\n"));
  }
  const findings = all.filter((finding) => !comments.has(finding));
  const report: LintReport = { fromMs, timeZoneData: io.timeZoneData, findings, subjects };
  for (const note of notes) io.stderr.write(`kubewright: ${printable(note)}\n`);
  // An incomplete report does not replace an earlier file.
  if (problemLines.length === 0 && !io.stopped.aborted) {
    if (flags.sarif !== undefined) await write("--sarif", flags.sarif, lintSarif(report), io);
    if (flags.json === "-") io.stdout.write(lintJson(report));
    else if (flags.json !== undefined) await write("--json", flags.json, lintJson(report), io);
  }
  if (flags.json !== "-") io.stdout.write(lintText(report, styleFor(io.stdout.hasColours)));
  if (problemLines.length > 0) throw new UserError(problemLines.join("\n"));
  if (io.stopped.aborted) throw new InterruptedError("stopped before all was looked at");
  const serious = findings.filter(({ level }) => level !== "note");
  if (serious.length > 0) throw new ViolationsError([`lint: ${levelsText(serious)}`]);
}

/** @throws UserError when neither the command line nor a project file names inputs. */
function pathsOf(given: readonly string[], project: ProjectFile | undefined): readonly string[] {
  if (given.length > 0) return given;
  if (project === undefined)
    throw new UserError(`name manifest files or folders: kubewright lint PATH…; or write a ${PROJECT_FILE}`);
  return project.input ?? ["."];
}

async function workloadsOf(workloads: ProjectFile["workloads"], io: Io): ReturnType<typeof readWorkloadsFile> {
  return typeof workloads === "string" ? readWorkloadsFile(workloads, io) : (workloads ?? []);
}

/** Stores the texts that are read, because their comments may disable rules. */
function recordingIo(texts: Map<string, string>, io: InputIo): InputIo {
  const { readStandardInput } = io;
  const keep = (name: string, text: string): string => {
    texts.set(name, text);
    return text;
  };
  return {
    ...io,
    listFolder: (path) => io.listFolder(path),
    readFile: async (path) => keep(path, await io.readFile(path)),
    ...(readStandardInput === undefined
      ? {}
      : { readStandardInput: async () => keep("standard input", await readStandardInput()) }),
  };
}

async function write(flag: string, path: string, text: string, io: Io): Promise<void> {
  const file = await openOutput(flag, path, io);
  await file.write(text);
  await file.close();
}
