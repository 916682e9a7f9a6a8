/**
 * `npm test`: runs all suites, concurrently where two cores allow it. Prints one line per suite and the whole output of
 * failed suites. The last line is `N passed, N failed`.
 *
 *     node tooling/test.ts                   all suites
 *     node tooling/test.ts lint unit         only these
 *     node tooling/test.ts unit --shard=1/2  options are vitest's
 */
import { type Suite, runLanes, sumOf } from "./run-suites.ts";
import { OTHERS, PREPARATION, unitSuite } from "./suites.ts";

const args = process.argv.slice(2);
const isOption = (argument: string): boolean => argument.startsWith("--");
/** The names of the suites to run. Empty for all of them. */
const wanted = args.filter((argument) => !isOption(argument));
const unit = [unitSuite(args.filter(isOption))];
const known = [...unit, ...OTHERS].map(({ name }) => name);
for (const name of wanted)
  if (!known.includes(name)) throw new Error(`there is no suite ${name}, but ${known.join(", ")}`);

const wantedOf = (lane: readonly Suite[]): readonly Suite[] =>
  lane.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
const prepared = await runLanes(...PREPARATION.map((suite) => [suite]));
const rest = prepared.failed === 0 ? await runLanes(wantedOf(unit), wantedOf(OTHERS)) : { passed: 0, failed: 0 };
const { passed, failed } = sumOf([prepared, rest]);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
