import type { Outputs } from "../ports/outputs.js";
import type { CheckReport } from "./check-report.js";
import { junitXml } from "./junit.js";
import { checkSarif } from "./sarif.js";

/** Paths of report files for other programs and for pull requests, by flag. */
export interface ReportFlags {
  readonly markdown?: string;
  readonly junit?: string;
  readonly sarif?: string;
}

/** Returns the paths by flag, for `Outputs.declare`. */
export function reportOutputs({ markdown, junit, sarif }: ReportFlags): Record<string, string | undefined> {
  return { "--markdown": markdown, "--junit": junit, "--sarif": sarif };
}

/** Writes the report files that the command line names. */
export async function writeReports(outputs: Outputs, report: CheckReport, markdown: () => string): Promise<void> {
  await outputs.write("--markdown", markdown);
  await outputs.write("--junit", () => junitXml(report));
  await outputs.write("--sarif", () => checkSarif(report));
}
