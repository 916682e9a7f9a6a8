import type { Random } from "@kubewright/clock";

/** The exit code of a container: one code, or several with their shares. */
export type ExitCodes = number | readonly ExitCodeShare[];

export interface ExitCodeShare {
  readonly exitCode: number;
  /** Relative to the sum of all shares. */
  readonly share: number;
}

/** Reads `3`, or `0=0.9,1=0.07,137=0.03`. @returns `undefined` for other text, or when all shares are zero. */
export function parseExitCodes(text: string): ExitCodes | undefined {
  if (!text.includes("=")) return parseExitCode(text);
  const shares: ExitCodeShare[] = [];
  for (const item of text.split(",")) {
    const [, code = "", amount] = /^\s*(\d{1,3})\s*=\s*(\d+(?:\.\d*)?|\.\d+)\s*$/.exec(item) ?? [];
    const exitCode = parseExitCode(code);
    if (exitCode === undefined || amount === undefined) return undefined;
    shares.push({ exitCode, share: Number(amount) });
  }
  return shares.some(({ share }) => share > 0) ? shares : undefined;
}

/** Reads a whole number from 0 to 255. */
export function parseExitCode(text: string): number | undefined {
  return /^\d{1,3}$/.test(text) && Number(text) <= 255 ? Number(text) : undefined;
}

export function drawExitCode(codes: ExitCodes, random: Random): number {
  if (typeof codes === "number") return codes;
  let rest = random.next() * codes.reduce((sum, { share }) => sum + share, 0);
  for (const { exitCode, share } of codes) {
    rest -= share;
    if (rest < 0) return exitCode;
  }
  return codes.findLast(({ share }) => share > 0)!.exitCode;
}
