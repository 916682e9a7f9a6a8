/**
 * Checks the shell commands in code blocks and in prose: bash must parse them, and their commands and flags must exist.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";

import { type Block, documents, root } from "./documents.ts";

export interface Script {
  readonly name: string;
  /** The typed commands, without their output. */
  readonly text: string;
  /** The documented output. `…` stands for anything. Absent when the document shows none. */
  readonly printed?: string;
}

/** kubewright's commands, with paths relative to the root of the checkout. */
export const BINS: Readonly<Record<string, string>> = {
  kubewright: "apps/simulator/bin/kubewright.js",
  "kubewright-controller-manager": "apps/controller-manager/bin/kubewright-controller-manager.js",
  "kubewright-operator": "packages/operator/bin/kubewright-operator.js",
};

/** Returns the blocks with shell commands. */
export function scriptsIn(blocks: readonly Block[]): Script[] {
  return blocks
    .filter(({ language }) => language === "sh" || language === "console" || language === "")
    .filter(({ text }) => /^(?:\$ )?(?:npx|npm|node|kubectl|kubewright|helm|curl|for|\w+=\S+)\s/.test(text))
    .flatMap(({ name, text }) => {
      if (!text.startsWith("$ ")) return [{ name, text }];
      return text
        .split(/^\$ /m)
        .slice(1)
        .map((part) => {
          const [typed, ...printed] = part.split("\n");
          return { name, text: `${typed}\n`, printed: printed.join("\n").trimEnd() };
        });
    });
}

export interface ShellResult {
  /** Number of checked kubewright commands. */
  readonly count: number;
  readonly problems: readonly string[];
}

export function checkShell(scripts: readonly Script[]): ShellResult {
  const problems: string[] = [];
  let count = 0;
  for (const { name, text } of scripts) {
    const { status, stderr } = spawnSync("bash", ["-n", "-c", text], { encoding: "utf8" });
    if (status !== 0) problems.push(`${name}: ${stderr}`);
  }
  const helps = new Map<string, ReadonlySet<string> | undefined>();
  const flagsOf = (bin: string, command: string): ReadonlySet<string> | undefined => {
    const key = `${bin} ${command}`.trim();
    if (!helps.has(key)) helps.set(key, readHelp(bin, command));
    return helps.get(key);
  };
  const typed = [...scripts, ...inProse()];
  for (const { name, text } of typed)
    for (const { bin, command, rest } of callsIn(text)) {
      count++;
      const flags = flagsOf(bin, command);
      if (flags === undefined) problems.push(`${name}: there is no command ${bin} ${command}`);
      for (const [flag] of rest.replaceAll(/'[^']*'/g, "").matchAll(/(?<=\s)--?[a-zA-Z][\w-]*/g))
        if (flags?.has(flag) === false) problems.push(`${name}: ${bin} ${command} has no ${flag}`);
    }
  return { count, problems };
}

interface Call {
  readonly bin: string;
  /** Empty for a program without subcommands. */
  readonly command: string;
  readonly rest: string;
}

function* callsIn(text: string): Generator<Call> {
  const joined = text.replaceAll("\\\n", " ");
  const call =
    /(?:^|\bnpx |\| ?)(?:@kubewright\/)?(kubewright-operator|(?:kubewright-)?controller-manager|kubewright)( [^\n|#&]*|$)/gm;
  for (const [, name, args] of joined.matchAll(call)) {
    if (name!.endsWith("controller-manager")) {
      yield { bin: "kubewright-controller-manager", command: "", rest: args! };
      continue;
    }
    const [, command, rest] = /^ ([a-z]+)(.*)$/s.exec(args!) ?? [];
    if (command !== undefined) yield { bin: name!, command, rest: rest! };
  }
}

/** Returns commands between backticks, some of which are shown only in part. */
function inProse(): Script[] {
  return documents().flatMap((file) => {
    const text = readFileSync(path.join(root, file), "utf8").replaceAll(/^```[\s\S]*?^```$/gm, "");
    return [...text.matchAll(/`((?:npx )?kubewright(?:-\w+)* [^`]+)`/g)].map(([, code]) => ({
      name: `${file}: ${code}`,
      text: code!.replaceAll("\\|", "|").replaceAll("\n", " "),
    }));
  });
}

/** Returns the flags in the help of a command, or `undefined` when the command does not exist. */
function readHelp(bin: string, command: string): ReadonlySet<string> | undefined {
  const help = bin === "kubewright" ? "--help-all" : "--help";
  const args = [path.join(root, BINS[bin]!), ...(command === "" ? [] : [command]), help];
  const { status, stdout } = spawnSync(process.execPath, args, { encoding: "utf8" });
  const isThere = status === 0 && stdout.startsWith(`Usage: ${`${bin} ${command}`.trim()} `);
  return isThere ? new Set(stdout.match(/(?<=[\s,])--?[a-zA-Z][\w-]*/g)) : undefined;
}
