import { folderIo } from "../../../packages/analysis/test/folder-io.js";
import { type CommandResult, kubewright } from "./memory-io.js";

/** A Job whose failures a campaign searches for. */
export const REPORT = `apiVersion: batch/v1
kind: Job
metadata: { name: report }
spec:
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      containers: [{ name: main, image: report }]
`;

/**
 * Arguments that simulate `report.yaml`.
 *
 * @param failing - Share of the futures in which it fails, for example 40%.
 */
export function runReport(failing: string): readonly string[] {
  return `run report.yaml --for 10m --duration report=30s --fail report=${failing} --fail-on failed`.split(" ");
}

/**
 * Runs the command in this process.
 *
 * @param files - Files of its working folder.
 */
export function runCampaign(
  args: readonly string[],
  { files = { "report.yaml": REPORT }, input }: { files?: Readonly<Record<string, string>>; input?: string } = {},
): Promise<CommandResult> {
  return kubewright(args, {
    ...folderIo(files),
    ...(input === undefined ? {} : { readStandardInput: async () => input }),
  });
}
