import { seedCommand } from "../futures/seed-command.js";
import type { Files } from "../ports/files.js";
import type { RunInputFlags } from "../input/run-input.js";
import type { SimulationRequest } from "./simulation-request.js";
import type { Problem } from "./problem.js";

/** File names of the texts, in problems and in the command. */
const FILES = { manifests: "manifests.yaml", scenario: "scenario.yaml", workloads: "workloads.yaml" } as const;

export type TextName = keyof typeof FILES;

/** Presents the texts of a request as files to the input reader. A blank text counts as absent. */
export class RequestTexts {
  readonly #request: SimulationRequest;
  /** Paths on the command line. */
  readonly paths: readonly string[];
  readonly flags: RunInputFlags;

  constructor(request: SimulationRequest) {
    this.#request = request;
    const { start, seed, timeZone, kubernetesVersion } = request;
    const has = (name: TextName): boolean => this.text(name).trim() !== "";
    // For a request without any text the reader reports empty manifests.
    this.paths = has("manifests") || !has("scenario") ? [FILES.manifests] : [];
    this.flags = {
      ...(has("scenario") ? { scenario: FILES.scenario } : {}),
      ...(has("workloads") ? { workloads: FILES.workloads } : {}),
      ...(start === undefined ? {} : { start }),
      ...(request.for === undefined ? {} : { for: request.for }),
      ...(seed === undefined ? {} : { seed: String(seed) }),
      ...(timeZone === undefined ? {} : { controllerTimeZone: timeZone }),
      ...(kubernetesVersion === undefined ? {} : { kubernetes: kubernetesVersion }),
    };
  }

  text(name: TextName): string {
    return this.#request[name] ?? "";
  }

  /** Returns the equivalent command line, without seeds. @param start - Default: the request's. */
  command(start = this.flags.start): string {
    return seedCommand(this.paths, start === undefined ? this.flags : { ...this.flags, start });
  }

  /** A file system that has only the texts. */
  get io(): Pick<Files, "readFile" | "listFolder"> {
    return {
      readFile: async (path) => {
        const name = textNamed(path);
        if (name === undefined) throw Object.assign(new Error(`${path} is not there`), { code: "ENOENT" });
        return this.text(name);
      },
      listFolder: async (path) => {
        if (textNamed(path) === undefined) throw Object.assign(new Error(`${path} is not there`), { code: "ENOENT" });
        return undefined;
      },
    };
  }

  /** Parses a line of the command: `manifests.yaml:12:9: CronJob default/report: spec.schedule: …; …`. */
  problem(line: string, severity: Problem["severity"]): Problem {
    const [, file = "", at, column, rest = ""] = PLACED_PROBLEM.exec(line) ?? [];
    const name = textNamed(file);
    if (name === undefined)
      return { document: line.startsWith("--") ? "request" : "manifests", ...problemParts(line), severity };
    return {
      document: name,
      ...(at === undefined ? {} : { line: Number(at) }),
      ...(at === undefined || column === undefined ? {} : this.#columns(name, Number(at), Number(column))),
      ...problemParts(rest),
      severity,
    };
  }

  /** Returns the column, and the end of the word or quoted text that begins there. */
  #columns(name: TextName, line: number, column: number): Pick<Problem, "column" | "endColumn"> {
    const rest = (this.text(name).split(/\r?\n/, line)[line - 1] ?? "").slice(column - 1);
    const word = /^(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|.*?(?=:(?:\s|$)|\s+#|\s*$))/.exec(rest)?.[0] ?? "";
    return { column, endColumn: column + Math.max(1, word.length) };
  }
}

const PLACED_PROBLEM = /^([a-z]+\.yaml)(?::(\d+)(?::(\d+))?)?(?: item \d+)?: (.*)$/s;

function textNamed(file: string): TextName | undefined {
  return (Object.keys(FILES) as TextName[]).find((name) => FILES[name] === file);
}

/** Parses `CronJob default/report: spec.schedule: what is wrong; what to do`. Only the message is required. */
function problemParts(line: string): Pick<Problem, "object" | "field" | "message" | "hint"> {
  const { object, field, message, hint } = PROBLEM.exec(line)?.groups ?? {};
  return {
    ...(object === undefined ? {} : { object }),
    ...(field === undefined ? {} : { field }),
    message: message ?? line,
    ...(hint === undefined ? {} : { hint }),
  };
}

const PROBLEM =
  /^(?:(?<object>[A-Z]\w* \S*): )?(?:(?<field>[a-z]\w*(?:\.[^\s:[\]]+|\[[^\]]*\])*): )?(?<message>(?:"(?:[^"\\]|\\.)*"|[^"])*?)(?:; (?<hint>.*))?$/s;
