import { Command, CommanderError, Option } from "commander";

import { UsageError } from "./flag-values.js";
import { FLAGS } from "./flags.js";
import { type ControllerManagerOptions, completed, defaultOptions, optionErrors } from "./options.js";

export const PROGRAM = "kubewright-controller-manager";

/** What a command line asks for. */
export type Invocation =
  | { readonly command: "run"; readonly options: ControllerManagerOptions }
  | { readonly command: "version" }
  | { readonly command: "help"; readonly text: string };

const EXAMPLES = `
Examples:
  # Against the cluster of a kubeconfig
  ${PROGRAM} --kubeconfig ~/.kube/config

  # Only CronJobs, without a Lease, against an API server without authentication
  ${PROGRAM} --master http://127.0.0.1:8001 --controllers cronjob --leader-elect=false

  # In a pod, with its ServiceAccount, logging JSON
  ${PROGRAM} --logging-format json
`;

/**
 * Reads a command line (without the program's name) as upstream does: `--flag value` and `--flag=value`, `_` for `-` in
 * names, boolean flags with a value only after `=`.
 *
 * @throws UsageError whose message is one line.
 */
export function parseCommandLine(args: readonly string[]): Invocation {
  const options: { -readonly [Name in keyof ControllerManagerOptions]: ControllerManagerOptions[Name] } = {
    ...defaultOptions,
  };
  const program = new Command(PROGRAM)
    .description("The Job and CronJob controllers of Kubernetes v1.36, to run against a real cluster.")
    .usage("[flags]")
    .helpOption(false)
    .allowExcessArguments()
    .exitOverride()
    .configureOutput({ writeErr: () => {} });
  let seenControllers = false;
  for (const flag of FLAGS) {
    const long = `--${flag.name}`;
    const spelled = flag.name === "v" ? `-v, --v` : long;
    const option = new Option(`${spelled} <${flag.value}>`, flag.help).helpGroup(`${flag.group} flags:`);
    const shown = flag.shown ?? defaultOptions[flag.option];
    if (shown !== "") option.default(defaultOptions[flag.option], String(shown));
    option.argParser((text: string) => {
      const value = flag.parse(flag.name === "v" ? "-v, --v" : long, flag.name === "v" ? text.replace(/^=/, "") : text);
      if (flag.option === "controllers") {
        options.controllers = seenControllers ? [...options.controllers, ...(value as string[])] : (value as string[]);
        seenControllers = true;
      } else Object.assign(options, { [flag.option]: value });
      return value;
    });
    program.addOption(option);
  }
  program.addOption(new Option("--version", "print the version and exit").helpGroup("Global flags:"));
  program.addOption(new Option("-h, --help", "print this help and exit").helpGroup("Global flags:"));
  program.addHelpText("after", EXAMPLES);

  try {
    program.parse(args.map(normalized), { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) throw new UsageError(explain(error, args), { cause: error });
    throw error;
  }
  const asked = program.opts<{ version?: true; help?: true }>();
  if (asked.help) return { command: "help", text: helpText(program) };
  if (asked.version) return { command: "version" };
  const positional = program.args.filter((argument) => argument !== "");
  if (positional.length > 0) {
    throw new UsageError(
      `"${PROGRAM}" does not take any arguments, got [${positional.map((argument) => JSON.stringify(argument)).join(" ")}]`,
    );
  }
  const errors = optionErrors(options);
  if (errors.length > 0) throw new UsageError(errors.length === 1 ? errors[0] : `[${errors.join(", ")}]`);
  return { command: "run", options: completed(options) };
}

/** `--kube_api_qps=5` → `--kube-api-qps=5`; `--leader-elect` → `--leader-elect=true`. */
function normalized(argument: string): string {
  const match = /^--([^=]+)(=[^]*)?$/.exec(argument);
  if (match === null) return argument;
  const name = match[1]!.replaceAll("_", "-");
  const isBool = FLAGS.some((flag) => flag.name === name && flag.value === "bool");
  return `--${name}${match[2] ?? (isBool ? "=true" : "")}`;
}

/** Commander's complaint in the words of Go's pflag. */
function explain({ code, message }: CommanderError, args: readonly string[]): string {
  const flag = /option '([^']*)'/.exec(message)?.[1] ?? "";
  const name = flag.split("=", 1)[0]!;
  if (code === "commander.unknownOption") {
    if (name.startsWith("--")) return `unknown flag: ${name}`;
    return `unknown shorthand flag: '${name.slice(1, 2)}' in ${args.find((argument) => argument.startsWith(name)) ?? name}`;
  }
  if (code === "commander.optionMissingArgument")
    return `flag needs an argument: ${/--[\w-]+/.exec(flag)?.[0] ?? flag}`;
  return message.replace(/^error: /, "");
}

function helpText(program: Command): string {
  let text = "";
  program.configureOutput({ writeOut: (part) => void (text += part) }).outputHelp();
  return text;
}
