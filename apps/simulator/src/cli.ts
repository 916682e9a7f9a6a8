import { InvalidNodeError } from "@kubewright/cluster";
import { ClusterError, InterruptedError, UserError } from "@kubewright/analysis/errors";
import { Outputs } from "@kubewright/analysis/ports";
import { printable, styleFor } from "@kubewright/analysis/text";
import { Command as Program, CommanderError, Option as ProgramOption } from "commander";

import type { Io } from "./io/io.js";
import { OutOfMemoryError } from "./nodejs/out-of-memory-error.js";
import { parseFailExit } from "./options/fail-exit.js";
import type { Command, Option } from "./shell/command.js";

/**
 * Exit status: 0 success, 1 (or that of `--fail-exit`) findings or a failure, 2 wrong usage or input, 130 stopped by
 * the user.
 */
export type ExitCode = number;

interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  /** Loads the command, for its own command line and for help. */
  readonly load: () => Promise<Command<never>>;
}

/** In the order of the help. */
const COMMANDS: readonly CommandEntry[] = [
  {
    name: "run",
    summary: "Simulate manifests on an embedded cluster in virtual time, and print what every Job did and why.",
    load: async () => (await import("./commands/run-command.js")).runCommand,
  },
  {
    name: "learn",
    summary: "Learn how long Jobs take and how often they fail from what has run, as a file for run --workloads.",
    load: async () => (await import("./commands/learn-command.js")).learnCommand,
  },
  {
    name: "lint",
    summary: "Find mistakes in CronJobs and Jobs without a simulation: each finding has its place and a proof.",
    load: async () => (await import("./commands/lint-command.js")).lintCommand,
  },
  {
    name: "spread",
    summary: "Show when CronJobs load the cluster, and propose minutes at which they would load it less.",
    load: async () => (await import("./commands/spread-command.js")).spreadCommand,
  },
  {
    name: "serve",
    summary: "Serve an embedded cluster over HTTP, for kubectl and any other client, with a live page at /ui/.",
    load: async () => (await import("./commands/serve-command.js")).serveCommand,
  },
  {
    name: "fuzz",
    summary: "Run generated workloads on all controllers while faults occur, and report every violated invariant.",
    load: async () => (await import("./commands/fuzz-command.js")).fuzzCommand,
  },
  {
    name: "collect",
    summary: "Print what the Jobs of --indexed-job have found so far, from what kubectl prints of them.",
    load: async () => (await import("./commands/collect-command.js")).collectCommand,
  },
  {
    name: "schedule",
    summary: "Print the next runs of a schedule, as the CronJob controller would compute them.",
    load: async () => (await import("./commands/schedule-command.js")).scheduleCommand,
  },
  {
    name: "why",
    summary: "Explain a CronJob or a Job of a live cluster: its last runs, what comes next, and why. Only reads.",
    load: async () => (await import("./commands/why-command.js")).whyCommand,
  },
];

const EXAMPLES = `
Examples:
  $ kubewright run job.yaml --for 1d
  $ kubewright serve --port 8001
  $ kubewright schedule '30 2 * * *' --time-zone Europe/Berlin
  $ kubewright lint manifests/
  $ kubewright why cronjob/report
  $ kubewright learn --from-cluster -o workloads.yaml`;

/**
 * Runs the `kubewright` command. A user's mistake is printed as one line on stderr with status 2, without a stack
 * trace.
 *
 * @param args - Arguments after the command's name.
 */
export async function runCli(args: readonly string[], io: Io, version: string): Promise<ExitCode> {
  let status: ExitCode = 0;
  const program = new Program("kubewright")
    .description("A time machine for Kubernetes Jobs and CronJobs, and an embedded cluster kubectl can talk to.")
    .version(version, "-V, --version", "print the version")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text.replace(/^error: /, "kubewright: ").replace("\n(Did", " (Did")),
      getOutHelpWidth: () => io.stdout.columns || 100,
    })
    .addHelpText("after", EXAMPLES);
  try {
    const helpsAll = args.includes(HELP_ALL);
    // The help of all commands shows their arguments.
    const isNamed = COMMANDS.some(({ name }) => args.includes(name));
    for (const { name, summary, load } of COMMANDS) {
      const subprogram = program.command(name).description(summary);
      if (isNamed && !args.includes(name)) continue;
      const command = await load();
      if (command.argument !== undefined) subprogram.argument(...command.argument);
      addOptions(subprogram, command, helpsAll);
      subprogram.addHelpText("after", command.help).action(async () => {
        status = await execute(command, [subprogram.args, subprogram.opts()], io);
      });
    }
    await program.parseAsync(helpsAll ? [...args, "--help"] : [...args], { from: "user" });
    return status;
  } catch (error) {
    return reportError(error, io);
  }
}

const HELP_ALL = "--help-all";

/** Adds the options of a command. Help has the less used ones only if it is for all. */
function addOptions(program: Program, { options, moreOptions = [] }: Command<never>, helpsAll: boolean): void {
  for (const option of options) program.addOption(programOption(option));
  for (const { title, options: more } of moreOptions)
    for (const option of more) program.addOption(programOption(option).helpGroup(`${title}:`).hideHelp(!helpsAll));
  const count = moreOptions.reduce((sum, { options: { length } }) => sum + length, 0);
  if (count > 0 && !helpsAll) program.option(HELP_ALL, `display ${count} more options, and help`);
  else program.addOption(new ProgramOption(HELP_ALL, "display help with all options").hideHelp());
}

function programOption([flags, description, initial]: Option): ProgramOption {
  const option = new ProgramOption(flags, description);
  return typeof initial === "function" ? option.argParser(initial) : option.default(initial);
}

/** Runs a command, closes its outputs, and prints its result. Returns the exit status. */
async function execute(
  command: Command<never>,
  [args, flags]: readonly [readonly string[], { readonly failExit?: string }],
  io: Io,
): Promise<ExitCode> {
  const findingsStatus = parseFailExit(flags.failExit);
  const outputs = new Outputs(io);
  const note = (...lines: readonly string[]): void => {
    for (const line of lines) io.stderr.write(`kubewright: ${printable(line)}\n`);
  };
  const format = { style: styleFor(io.stdout.hasColours), width: io.stdout.columns || 120 };
  const result = await command.run({ args, flags: flags as never, io, outputs, format, note }).catch(async (error) => {
    await outputs.discard();
    throw error;
  });
  const { text, problems = [], interrupted, findings = [] } = result ?? {};
  await outputs.close({ replacesFiles: problems.length === 0 });
  if (text !== undefined && !outputs.usesStandardOutput) io.stdout.write(text);
  if (problems.length > 0) throw new UserError(problems.join("\n"));
  if (interrupted !== undefined) throw new InterruptedError(interrupted);
  note(...findings);
  return findings.length > 0 ? findingsStatus : 0;
}

/** Prints an error and returns the exit status. */
function reportError(error: unknown, { stderr }: Pick<Io, "stderr">): ExitCode {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  const [text, status] = errorText(error);
  stderr.write(`kubewright: ${text}\n`);
  return status;
}

function errorText(error: unknown): readonly [string, ExitCode] {
  // The command was stopped while it read a file.
  if (error instanceof UserError && error.cause instanceof InterruptedError) return errorText(error.cause);
  if (error instanceof UserError) return [error.message.split("\n").map(printable).join("\nkubewright: "), 2];
  if (error instanceof InvalidNodeError) return [`nodes: ${printable(error.message)}`, 2];
  if (error instanceof InterruptedError) return [error.message, 130];
  if (error instanceof ClusterError || error instanceof OutOfMemoryError) return [printable(error.message), 1];
  return [`internal error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`, 1];
}
