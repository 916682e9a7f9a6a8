/**
 * Compares the exports of the package in this folder, entry by entry, with the reports in its `etc/`, so that API
 * changes are visible in review. The package must be built.
 *
 *     node ../../tooling/release/check-api.ts          status 1, with the difference, when a report is out of date
 *     node ../../tooling/release/check-api.ts --write  writes the reports
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { Extractor, ExtractorConfig, ExtractorLogLevel } from "@microsoft/api-extractor";

import { type Manifest, root } from "../public-packages.ts";

interface Checked {
  readonly folder: string;
  readonly manifest: Manifest;
}

/**
 * Compares the reports of a package, or writes them. Prints the differences.
 *
 * @returns Whether the reports are up to date.
 */
export function checkReports({ folder, manifest }: Checked, { write = false } = {}): boolean {
  const temporary = mkdtempSync(path.join(tmpdir(), "check-api-"));
  try {
    mkdirSync(path.join(folder, "etc"), { recursive: true });
    const results = Object.entries(manifest.exports ?? {}).flatMap(([key, conditions]) =>
      typeof conditions === "string"
        ? []
        : [checkEntry({ folder, manifest }, key, conditions["types"] ?? "", { write, temporary })],
    );
    return results.every(Boolean);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** Returns the TypeScript libraries of the package's sources. Browser packages include the DOM. */
function librariesOf(folder: string): readonly string[] {
  const { compilerOptions } = JSON.parse(readFileSync(path.join(folder, "tsconfig.json"), "utf8")) as {
    readonly compilerOptions: { readonly lib?: readonly string[] };
  };
  return compilerOptions.lib ?? ["es2024", "esnext.disposable"];
}

function checkEntry(
  { folder, manifest }: Checked,
  key: string,
  declarations: string,
  { write, temporary }: { readonly write: boolean; readonly temporary: string },
): boolean {
  const name = path.basename(path.join(manifest.name, key) === manifest.name ? manifest.name : key);
  const entry = path.join(folder, declarations);
  if (!existsSync(entry)) throw new Error(`${manifest.name} is not built: npm run build`);
  const config = ExtractorConfig.prepare({
    configObjectFullPath: undefined,
    packageJsonFullPath: path.join(folder, "package.json"),
    configObject: {
      projectFolder: folder,
      mainEntryPointFilePath: entry,
      newlineKind: "lf",
      apiReport: {
        enabled: true,
        reportFileName: `${name}.api.md`,
        reportFolder: path.join(folder, "etc"),
        reportTempFolder: temporary,
        includeForgottenExports: true,
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      compiler: {
        overrideTsconfig: {
          compilerOptions: {
            target: "es2022",
            lib: librariesOf(folder),
            module: "nodenext",
            strict: true,
            skipLibCheck: true,
            types: ["node"],
            typeRoots: [path.join(root, "node_modules/@types")],
          },
          files: [entry],
        },
      },
      messages: {
        extractorMessageReporting: { default: { logLevel: ExtractorLogLevel.None } },
        tsdocMessageReporting: { default: { logLevel: ExtractorLogLevel.None } },
      },
    },
  });
  const { succeeded, apiReportChanged } = Extractor.invoke(config, {
    localBuild: write,
    printApiReportDiff: !write,
    // Suppresses all messages of API Extractor except the difference.
    messageCallback: (message) => {
      if (/^console-(?!api-report-diff)/.test(message.messageId)) message.logLevel = ExtractorLogLevel.None;
    },
  });
  if (write ? succeeded : succeeded && !apiReportChanged) return true;
  if (!write) console.error(`${path.relative(root, folder)}/etc/${name}.api.md is out of date: npm run api`);
  return false;
}

if (import.meta.main) {
  const folder = process.cwd();
  const manifest = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8")) as Manifest;
  if (!checkReports({ folder, manifest }, { write: process.argv.includes("--write") })) process.exitCode = 1;
}
