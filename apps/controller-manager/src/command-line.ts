import { Command, CommanderError, Option } from "commander";

import { parseConfigFile } from "./config-file.js";
import { describeFeatureGates, resolveFeatureGates } from "./feature-gates.js";
import type { Flag } from "./flag.js";
import { UsageError, parseBool } from "./flag-values.js";
import { FLAGS } from "./flags.js";
import { ignoredFlags } from "./ignored-flags.js";
import { type ControllerManagerOptions, completeOptions, defaultOptions, optionErrors } from "./options.js";

export const PROGRAM = "kubewright-controller-manager";

/** A parsed command line. */
export type Invocation =
  | {
      readonly command: "run";
      readonly options: ControllerManagerOptions;
      /** Known flags without effect, in the order of the command line. */
      readonly ignored: readonly string[];
      /** Overrides the program's version, such as `v0.1.0-mine`. */
      readonly version?: string;
    }
  | { readonly command: "version"; readonly raw: boolean }
  | { readonly command: "help"; readonly text: string };

export interface CommandLineContext {
  /** Version of this program, without `v`. Default `0.0.0`. */
  readonly version?: string;
  /** Reads the file that `--config` names. Default: no file is read. */
  readonly readFile?: (path: string) => string;
}

const HELP_FOOTER = `
Feature gates:
${describeFeatureGates()}

Examples:
  # Beside the cluster's own controllers, for the Jobs that ask for it (spec.managedBy: acme.io/jobs)
  ${PROGRAM} --kubeconfig ~/.kube/config --managed-by acme.io/jobs

  # In place of the cluster's own, after kube-controller-manager --controllers=*,-job,-cronjob
  ${PROGRAM} --kubeconfig ~/.kube/config --take-over --controllers job,cronjob

  # One namespace, with rights in it only, configured by a file (leader-elect-lease-duration: 30s)
  ${PROGRAM} --namespace team-a --managed-by acme.io/jobs --config /etc/kubewright/config.yaml

  # Only CronJobs, without a Lease, against an API server without authentication
  ${PROGRAM} --master http://127.0.0.1:8001 --controllers cronjob --leader-elect=false

Flags of kube-controller-manager for controllers that are not here are accepted and ignored.
`;

/** One flag with its parsed value. */
interface FlagAssignment {
  readonly flag: Flag;
  readonly value: unknown;
}

/** Parsed flags, before they become options. */
interface ParsedFlags {
  readonly assignments: FlagAssignment[];
  readonly ignored: string[];
  configPath?: string;
  version?: string;
  help?: boolean;
}

/**
 * Parses a command line (without the program's name) as upstream does: `--flag value` and `--flag=value`, `_` for `-`
 * in names, values of boolean flags only after `=`. The command line overrides the file that `--config` names.
 *
 * @throws UsageError with a one-line message.
 */
export function parseCommandLine(args: readonly string[], context: CommandLineContext = {}): Invocation {
  const given: ParsedFlags = { assignments: [], ignored: [] };
  const program = createProgram(given);
  try {
    program.parse(args.map(normalizeArgument), { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) throw new UsageError(pflagMessage(error, args), { cause: error });
    throw error;
  }
  if (given.help === true) return { command: "help", text: helpText(program) };
  const version = parseVersionFlag(given.version, context.version ?? "0.0.0");
  const positional = program.args.filter((argument) => argument !== "");
  if (positional.length > 0) {
    throw new UsageError(
      `"${PROGRAM}" does not take any arguments, got [${positional.map((argument) => JSON.stringify(argument)).join(" ")}]`,
    );
  }
  const file = readConfig(given.configPath, context);
  const options = withAssignments({ ...defaultOptions, ...Object.fromEntries(file.values) }, given.assignments);
  // Before the version is printed, as upstream: --version with an unknown gate is an error.
  resolveFeatureGates(options.featureGates);
  if (version === "print" || version === "raw") return { command: "version", raw: version === "raw" };
  const errors = optionErrors(options);
  if (errors.length > 0) throw new UsageError(errors.length === 1 ? errors[0] : `[${errors.join(", ")}]`);
  return {
    command: "run",
    options: completeOptions(options),
    ignored: [...new Set([...file.ignored, ...given.ignored])],
    ...(version === undefined ? {} : { version: version.override }),
  };
}

function createProgram(given: ParsedFlags): Command {
  const program = new Command(PROGRAM)
    .description("The Job and CronJob controllers of Kubernetes v1.36, to run against a real cluster.")
    .usage("[flags]")
    .helpOption(false)
    .allowExcessArguments()
    .exitOverride()
    .configureOutput({ writeErr: () => {} });
  for (const flag of FLAGS) program.addOption(optionOf(flag, given.assignments));
  const global = (flags: string, help: string, take: (text: string) => void): void => {
    program.addOption(new Option(flags, help).helpGroup("Global flags:").argParser(take));
  };
  global(
    "--config <path>",
    "YAML file whose keys are names of flags; what the command line says goes before it",
    (text) => (given.configPath = text),
  );
  global("--version <version>", "print the version and exit; 'raw': all of it", (text) => (given.version = text));
  global("-h, --help <bool>", "print this help and exit", (text) => (given.help = parseBool("-h, --help", text)));
  for (const { name, isBool } of ignoredFlags) {
    const option = new Option(`--${name} <${isBool ? "bool" : "value"}>`).hideHelp().argParser((text) => {
      if (isBool) parseBool(`--${name}`, text);
      given.ignored.push(name);
    });
    program.addOption(option);
  }
  return program.addHelpText("after", HELP_FOOTER);
}

function optionOf(flag: Flag, assignments: FlagAssignment[]): Option {
  const { name, option, type } = flag;
  const isShort = name === "v";
  const spelled = isShort ? "-v, --v" : `--${name}`;
  const byDefault = (defaultOptions as unknown as Readonly<Record<string, unknown>>)[option];
  const shownDefault = type.format(byDefault);
  const created = new Option(`${spelled} <${type.placeholder}>`, flag.help).helpGroup(`${flag.group} flags:`);
  if (shownDefault !== "") created.default(byDefault, shownDefault);
  return created.argParser((text: string) => {
    // commander passes the value "=4" for -v=4.
    const value = type.parse(spelled, isShort ? text.replace(/^=/, "") : text);
    assignments.push({ flag, value });
    return value;
  });
}

function readConfig(path: string | undefined, { readFile }: CommandLineContext): ReturnType<typeof parseConfigFile> {
  if (path === undefined || readFile === undefined) return { values: new Map(), ignored: [] };
  let content: string;
  try {
    content = readFile(path);
  } catch (error) {
    const { code, message } = error as Error & { code?: string };
    const reason = code === "ENOENT" ? "no such file or directory" : message;
    throw new UsageError(`error reading config file ${JSON.stringify(path)}: ${reason}`, { cause: error });
  }
  return parseConfigFile(path, content);
}

/**
 * The first occurrence of a flag replaces the default or file value. Further ones are appended to lists, and replace
 * other values.
 */
function withAssignments(
  options: ControllerManagerOptions,
  assignments: readonly FlagAssignment[],
): ControllerManagerOptions {
  const values: Record<string, unknown> = {};
  for (const { flag, value } of assignments) {
    const { option, type } = flag;
    values[option] = option in values && type.append !== undefined ? type.append(values[option], value) : value;
  }
  return { ...options, ...values };
}

/**
 * Parses `--version[=…]`: print the version, print all of it, or override it.
 *
 * @throws UsageError for an override of another version.
 */
function parseVersionFlag(
  text: string | undefined,
  version: string,
): "print" | "raw" | { readonly override: string } | undefined {
  if (text === undefined) return undefined;
  if (text === "raw") return "raw";
  if (!text.startsWith("v")) return parseBool("--version", text) ? "print" : undefined;
  const [release] = text.slice(1).split(/[-+]/, 1);
  if (release === version.split(/[-+]/, 1)[0]) return { override: text };
  throw new UsageError(
    `invalid argument ${JSON.stringify(text)} for "--version" flag: version ${JSON.stringify(text)} must match major/minor/patch of default version ${JSON.stringify(`v${version}`)}`,
  );
}

const BOOLEANS: ReadonlySet<string> = new Set([
  "version",
  "help",
  ...FLAGS.filter(({ type }) => type.placeholder === "bool").map(({ name }) => name),
  ...ignoredFlags.filter(({ isBool }) => isBool).map(({ name }) => name),
]);

/** `--kube_api_qps=5` → `--kube-api-qps=5`; `--leader-elect` → `--leader-elect=true`. */
function normalizeArgument(argument: string): string {
  if (argument === "-h") return "--help=true";
  if (/^--[=-]/.test(argument)) throw new UsageError(`bad flag syntax: ${argument}`);
  const match = /^--([^=]+)(=[^]*)?$/.exec(argument);
  if (match === null) return argument;
  const name = match[1]!.replaceAll("_", "-");
  return `--${name}${match[2] ?? (BOOLEANS.has(name) ? "=true" : "")}`;
}

/** Translates commander's error message to that of Go's pflag. */
function pflagMessage({ code, message }: CommanderError, args: readonly string[]): string {
  const flag = /option '([^']*)'/.exec(message)?.[1] ?? "";
  const name = flag.split("=", 1)[0]!;
  if (code === "commander.unknownOption") {
    if (name.startsWith("--")) return `unknown flag: ${name}`;
    return `unknown shorthand flag: '${name.slice(1, 2)}' in ${args.find((argument) => argument.startsWith(name)) ?? name}`;
  }
  if (code === "commander.optionMissingArgument") {
    const isShort = args.at(-1) === "-v";
    return `flag needs an argument: ${isShort ? "'v' in -v" : (/--[\w-]+/.exec(flag)?.[0] ?? flag)}`;
  }
  return message.replace(/^error: /, "");
}

function helpText(program: Command): string {
  let text = "";
  program.configureOutput({ writeOut: (part) => void (text += part) }).outputHelp();
  return text;
}
