import { UserError } from "@kubewright/analysis/errors";

const MAX_WORKERS = 256;

/** @throws UserError for anything but a whole number from 1 to 256. */
export function parseWorkers(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const count = Number(text);
  if (!/^\d{1,3}$/.test(text) || count < 1 || count > MAX_WORKERS)
    throw new UserError(`--workers: ${JSON.stringify(text)} is not a whole number from 1 to ${MAX_WORKERS}`);
  return count;
}
