import { UserError } from "@kubewright/analysis/errors";
import {
  type InputIo,
  type ProjectFile,
  PROJECT_FILE,
  allProblems,
  loadManifests,
  parseStart,
  readProjectFile,
  readWorkloadsFile,
  renderOptions,
  workloadEntries,
} from "@kubewright/analysis/input";
import {
  type Level,
  type LintReport,
  DisabledRules,
  LEVELS,
  checkRuleNames,
  levelsText,
  lintJson,
  lintManifests,
  lintSarif,
  lintText,
  oncePerFile,
} from "@kubewright/analysis/lint";
import { realClock } from "@kubewright/clock";

import type { Io } from "../io/io.js";
import { MANIFESTS, RENDER_OPTIONS } from "../options/input-options.js";
import { type Command, type CommandContext, type CommandResult, collect } from "../shell/command.js";

export interface LintFlags {
  /** Default: now. */
  readonly from?: string;
  readonly workloads?: string;
  readonly duration?: readonly string[];
  readonly json?: string;
  readonly sarif?: string;
  readonly failOn?: string;
  readonly kustomize?: string;
  readonly allowNetwork?: boolean;
}

/** `kubewright lint`: finds mistakes in CronJobs and Jobs without random outcomes. */
export const lintCommand: Command<LintFlags> = {
  argument: MANIFESTS,
  options: [
    ["--from <time>", "check schedules and clock changes from this time on (default: now)"],
    ["--workloads <file>", "how long containers run, as in a scenario's workloads"],
    ["--duration <selection=time>", "how long they run: 'report=5m', 'billing/*=5m..40m'", collect],
    ["--json <file>", "also write what was found as one object; - writes only that, to standard output"],
    ["--sarif <file>", "also write what was found for code scanning, with its place in the manifests"],
    ["--fail-on <level>", "end with status 1 from this level on: error, warning or note", "error"],
    ...RENDER_OPTIONS,
  ],
  help: `
Ends with status 1 for errors; --fail-on warning does so for warnings too. A comment on the line before, or at the top of the file, switches rules off:
  # kubewright-lint-disable no-time-zone, rarely-fires

Examples:
  $ kubewright lint manifests/
  $ helm template chart/ | kubewright lint -
  $ kubewright lint cronjob.yaml --duration 'report=90m'
  $ kubewright lint manifests/ --fail-on warning
  $ kubewright lint manifests/ --sarif lint.sarif`,
  run: lint,
};

async function lint({
  args: given,
  flags,
  io,
  outputs,
  format,
  note,
}: CommandContext<LintFlags>): Promise<CommandResult> {
  const fromMs = flags.from === undefined ? realClock.now() : parseStart(flags.from, "--from");
  const failLevels = parseFailLevels(flags.failOn);
  const project = await readProjectFile(io);
  const disabled = project?.lint?.disable ?? [];
  checkRuleNames(disabled, `${PROJECT_FILE}: lint.disable`);
  const paths = pathsOf(given, project);
  outputs.declare({ "--sarif": flags.sarif, "--json": flags.json }, paths);
  const texts = new Map<string, string>();
  const loaded = await loadManifests(paths, recordingIo(texts, io), renderOptions(flags));
  const { manifests, notes } = loaded;
  const comments = new DisabledRules(texts, disabled);
  const problemLines = [...allProblems(loaded), ...comments.problems];
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
  const findings = oncePerFile(all.filter((finding) => !comments.has(finding)));
  const report: LintReport = { fromMs, timeZoneData: io.timeZoneData, findings, subjects };
  note(...notes);
  // An incomplete report does not replace an earlier file.
  if (problemLines.length === 0 && !io.stopped.aborted) {
    await outputs.open();
    await outputs.write("--sarif", () => lintSarif(report));
    await outputs.write("--json", () => lintJson(report));
  }
  const failing = findings.filter(({ level }) => failLevels.includes(level));
  return {
    text: lintText(report, format.style),
    problems: problemLines,
    interrupted: io.stopped.aborted ? "stopped before all was looked at" : undefined,
    findings: failing.length > 0 ? [`lint: ${levelsText(failing)}`] : [],
  };
}

/**
 * Returns the levels whose findings make the command fail.
 *
 * @throws UserError for anything but a level.
 */
function parseFailLevels(text = "error"): readonly Level[] {
  const index = LEVELS.findIndex((level) => level === text);
  if (index < 0) throw new UserError(`--fail-on: ${JSON.stringify(text)} is not a level; write ${LEVELS.join(", ")}`);
  return LEVELS.slice(0, index + 1);
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
