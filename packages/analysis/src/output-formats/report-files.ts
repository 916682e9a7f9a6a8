import type { Files, OutputFile } from "../ports/files.js";
import { openOutput } from "../ports/open-output.js";

/** Paths of report files for other programs and for pull requests, by flag. */
export interface ReportFlags {
  readonly markdown?: string;
  readonly junit?: string;
  readonly sarif?: string;
}

/** Functions that return the text of each file. Called only for requested files. */
export type ReportTexts = { readonly [Flag in keyof ReportFlags]-?: (() => string) | undefined };

/** Returns the paths by flag, for `checkOutputs`. */
export function reportOutputs({ markdown, junit, sarif }: ReportFlags): Record<string, string | undefined> {
  return { "--markdown": markdown, "--junit": junit, "--sarif": sarif };
}

/** The report files, opened before the simulation and written after it. */
export class ReportFiles {
  readonly #files: readonly (readonly [keyof ReportFlags, OutputFile])[];

  private constructor(files: readonly (readonly [keyof ReportFlags, OutputFile])[]) {
    this.#files = files;
  }

  /** @throws UserError when one cannot be opened. */
  static async open(flags: ReportFlags, io: Pick<Files, "openFile">): Promise<ReportFiles> {
    const files: (readonly [keyof ReportFlags, OutputFile])[] = [];
    for (const name of ["markdown", "junit", "sarif"] as const) {
      const path = flags[name];
      if (path !== undefined) files.push([name, await openOutput(`--${name}`, path, io)]);
    }
    return new ReportFiles(files);
  }

  async write(texts: ReportTexts): Promise<void> {
    for (const [name, file] of this.#files) {
      await file.write(texts[name]?.() ?? "");
      await file.close();
    }
  }

  /** Closes the files and leaves their previous content unchanged. */
  async discard(): Promise<void> {
    for (const [, file] of this.#files) await file.discard();
  }
}
