import { folderIo } from "./folder-io.js";
import { type CommandResult, kubewright } from "./memory-io.js";

/** A Job whose failures are looked for in many futures. */
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

/** Arguments that play it, as `report.yaml`. @param failing - In how many futures it fails: 40%. */
export function runReport(failing: string): readonly string[] {
  return `run report.yaml --for 10m --duration report=30s --fail report=${failing} --fail-on failed`.split(" ");
}

/** Runs the command in this process. @param files - In the folder it is run in. */
export function runCampaign(
  args: readonly string[],
  { files = { "report.yaml": REPORT }, input }: { files?: Readonly<Record<string, string>>; input?: string } = {},
): Promise<CommandResult> {
  return kubewright(args, {
    ...folderIo(files),
    ...(input === undefined ? {} : { readStandardInput: async () => input }),
  });
}
