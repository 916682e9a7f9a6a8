/**
 * Measures how many seeds it takes to catch each mutant: `node packages/simulation/mutants/table.ts [NAME…] --write`.
 *
 * Each hunt starts at its own seed, a different one for each measurement. It ends with the first violation that the
 * code without the bug does not have. With names, the rows of other mutants stay as they are. With `--add`, the hunts
 * are appended to earlier ones.
 */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";

import type { FaultPlan } from "../src/index.js";
import { type Mutant, MutantError, listMutants, mutantPath, unmutatedPath } from "./build.ts";
import type { HuntEnded, HuntMessage, HuntOrder } from "./hunt-worker.ts";
import { type HuntResult, type MutantRow, type MutantTable, mergeRows, tableText, withTable } from "./table-text.ts";

const SIMULATION = "packages/simulation/src/index.ts";
const BUILT = path.join(import.meta.dirname, "built");
const docs = path.resolve(import.meta.dirname, "../../../docs");
const DOCUMENT = path.join(docs, "fuzz-mutants.md");
const DATA = path.join(docs, "fuzz-mutants.json");
/** A small plan that catches each mutant. */
const CAUGHT = path.join(import.meta.dirname, "caught");
/** Distance between the first seeds of two hunts: more than any hunt runs. */
const STRIDE = 1_000_000;
/** How long a hunt may take to finish its last seed after its time is over, and to minimise. */
const PATIENCE_MS = 120_000;

export interface TableOptions {
  readonly names?: readonly string[];
  /** First seed of the first hunt. */
  readonly from: number;
  /** Maximum number of seeds per hunt. */
  readonly seeds: number;
  readonly repetitions: number;
  readonly workers: number;
  readonly secondsEach: number;
  readonly minimizeBudget: number;
  readonly compare?: boolean;
  readonly without?: readonly string[];
  readonly onRow?: (row: MutantRow) => void;
  /** Called with the minimised plan that catches a mutant, and the invariant. */
  readonly onPlan?: (name: string, caught: CaughtBy) => void;
}

/** A plan that fails with a mutant, and the violated invariant. */
export interface CaughtBy {
  readonly invariant: string;
  readonly plan: FaultPlan;
}

/**
 * Measures the mutants.
 *
 * @throws MutantError for an unknown name.
 */
export async function measure(options: TableOptions): Promise<MutantTable> {
  const { names = [], from, seeds, workers, onRow } = options;
  const all = listMutants();
  const unknown = names.find((name) => !all.some((mutant) => mutant.name === name));
  if (unknown !== undefined) throw new MutantError(`there is no mutant ${JSON.stringify(unknown)}`);
  const wanted = all.filter(({ name }) => names.length === 0 || names.includes(name));
  // Copies, so that all hunts use the same sources, even if these change or are rebuilt meanwhile.
  const copies = path.join(BUILT, String(process.pid));
  const copy = (bundle: string): string => {
    const file = path.join(copies, path.basename(bundle));
    cpSync(bundle, file);
    return file;
  };
  const unmutated = copy(await unmutatedPath(SIMULATION));
  const built = new Map<string, string>();
  for (const { name } of wanted) built.set(name, copy(await mutantPath(name, SIMULATION)));
  const rows: MutantRow[] = [];
  const waiting = wanted.entries();
  const lane = async (): Promise<void> => {
    for (const [index, mutant] of waiting) {
      const row = await measureOne(
        mutant,
        { mutated: built.get(mutant.name)!, unmutated },
        { ...options, from: from + index * 10 * STRIDE },
      );
      rows.push(row);
      onRow?.(row);
    }
  };
  try {
    await Promise.all(Array.from({ length: workers }, lane));
  } finally {
    rmSync(copies, { recursive: true, force: true });
  }
  return { from, seeds, rows: mergeRows([], rows) };
}

async function measureOne(
  mutant: Mutant,
  bundles: Pick<HuntOrder, "mutated" | "unmutated">,
  options: TableOptions,
): Promise<MutantRow> {
  const { name, entry, permitted, sharding, inPlan = [] } = mutant;
  const hunts: HuntResult[] = [];
  let minimised: MutantRow["minimised"];
  for (let repetition = 0; repetition < options.repetitions; repetition++) {
    const from = (options.from + repetition * STRIDE) % 2 ** 32;
    const messages = await send({
      ...bundles,
      from,
      seeds: options.seeds,
      sharding,
      inPlan,
      compare: options.compare ?? false,
      without: options.without ?? [],
      forMs: options.secondsEach * 1000,
      minimizeBudget: minimised === undefined ? options.minimizeBudget : 0,
    });
    for (const message of messages) {
      if ("hunt" in message) hunts.push(resultOf(from, message));
      else {
        const { events, plansRun, isMinimal, plan } = message.minimised;
        minimised = { events, plansRun, isMinimal };
        options.onPlan?.(name, { invariant: hunts.at(-1)!.caught!.invariant, plan });
      }
    }
  }
  return {
    name,
    entry,
    ...(permitted === true ? { permitted } : {}),
    hunts,
    ...(minimised === undefined ? {} : { minimised }),
  };
}

function resultOf(from: number, { hunt, cpuMs }: HuntEnded): HuntResult {
  const { seeds, plansRun, caught, alsoUnmutated } = hunt;
  return {
    from,
    seeds,
    plansRun,
    cpuMs: Math.round(cpuMs),
    ...(caught === undefined
      ? {}
      : { caught: { seed: caught.seed, after: caught.after, invariant: caught.violation.invariant } }),
    alsoUnmutated: alsoUnmutated.map(({ seed, violation }) => `${seed}: ${violation.invariant}`),
  };
}

/** Returns the messages of a hunt until it ended or timed out. */
async function send(order: HuntOrder): Promise<readonly HuntMessage[]> {
  const messages: HuntMessage[] = [];
  const worker = new Worker(new URL("hunt-worker.ts", import.meta.url), { workerData: order });
  const hangs = setTimeout(() => void worker.terminate(), order.forMs + PATIENCE_MS);
  try {
    return await new Promise((resolve, reject) => {
      worker.on("message", (message: HuntMessage) => messages.push(message));
      worker.on("error", reject);
      worker.on("exit", () => resolve(messages));
    });
  } finally {
    clearTimeout(hangs);
  }
}

function write(measured: MutantTable, adds: boolean): void {
  const before = existsSync(DATA) ? (JSON.parse(readFileSync(DATA, "utf8")) as MutantTable).rows : [];
  const table = { ...measured, rows: mergeRows(before, measured.rows, adds) };
  writeFileSync(DATA, `${JSON.stringify(table, undefined, 2)}\n`);
  writeFileSync(DOCUMENT, withTable(readFileSync(DOCUMENT, "utf8"), tableText(table)));
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      from: { type: "string", default: String((Math.floor(Date.now() / 1000) * 64) % 2 ** 32) },
      seeds: { type: "string", default: "1000" },
      repetitions: { type: "string", default: "3" },
      workers: { type: "string", default: "2" },
      "seconds-each": { type: "string", default: "600" },
      "minimize-plays": { type: "string", default: "200" },
      compare: { type: "boolean", default: false },
      without: { type: "string", multiple: true, default: [] },
      write: { type: "boolean", default: false },
      add: { type: "boolean", default: false },
    },
  });
  // The hunts have a lower priority than other processes.
  os.setPriority(Math.max(5, os.getPriority()));
  const from = Number(values.from);
  const seeds = Number(values.seeds);
  await measure({
    names: positionals,
    from,
    seeds,
    repetitions: Number(values.repetitions),
    workers: Number(values.workers),
    secondsEach: Number(values["seconds-each"]),
    minimizeBudget: Number(values["minimize-plays"]),
    compare: values.compare,
    without: values.without,
    onPlan: (name, caught) => {
      if (!values.write) return;
      mkdirSync(CAUGHT, { recursive: true });
      writeFileSync(path.join(CAUGHT, `${name}.json`), `${JSON.stringify(caught, undefined, 2)}\n`);
    },
    onRow: (row) => {
      const [line = ""] = tableText({ rows: [row] })
        .split("\n")
        .slice(-1);
      console.log(line, JSON.stringify(row.hunts));
      // Written after each row: an interruption could lose hours otherwise.
      if (values.write) write({ from, seeds, rows: [row] }, values.add);
    },
  });
}

if (import.meta.main) {
  try {
    await main();
  } catch (error) {
    if (!(error instanceof MutantError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}
