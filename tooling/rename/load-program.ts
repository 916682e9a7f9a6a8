import { execFileSync } from "node:child_process";
import path from "node:path";

import ts from "typescript";

/** Sources that nobody renames: recordings and drivers of the reference, generated models, templates with their own names. */
const EXCLUDED =
  /^(conformance\/(api|cron|golden)\/|conformance\/[^/]*\.mjs$|bench\/(make-pods|jobs-throughput)\.mjs$|tooling\/rename\/|tooling\/lint\/)/;

/** One program of all sources of the repository, with packages resolved to their sources. */
export function loadProgram(root: string): { program: ts.Program; files: readonly ts.SourceFile[] } {
  const tracked = execFileSync("git", ["ls-files", "*.ts", "*.mjs"], { cwd: root, encoding: "utf8" })
    .trim()
    .split("\n");
  const names = tracked.filter((file) => !EXCLUDED.test(file)).map((file) => path.join(root, file));
  const service = ts.createLanguageService({
    getCompilationSettings: () => ({
      target: ts.ScriptTarget.ES2023,
      lib: ["lib.es2024.d.ts", "lib.esnext.disposable.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"],
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      customConditions: ["@kubewright/source"],
      types: ["node"],
      typeRoots: [path.join(root, "node_modules/@types")],
      strict: true,
      noUncheckedIndexedAccess: true,
      exactOptionalPropertyTypes: true,
      allowImportingTsExtensions: true,
      noEmit: true,
      allowJs: true,
      skipLibCheck: true,
    }),
    getScriptFileNames: () => names,
    getScriptVersion: () => "1",
    getScriptSnapshot: (file) => {
      const text = ts.sys.readFile(file);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    getCurrentDirectory: () => root,
    getDefaultLibFileName: (options) => ts.getDefaultLibFilePath(options),
    fileExists: (file) => ts.sys.fileExists(file),
    readFile: (file) => ts.sys.readFile(file),
    readDirectory: (...args) => ts.sys.readDirectory(...args),
    directoryExists: (folder) => ts.sys.directoryExists(folder),
    getDirectories: (folder) => ts.sys.getDirectories(folder),
    realpath: (file) => ts.sys.realpath!(file),
  });
  const program = service.getProgram()!;
  const wanted = new Set(names);
  return { program, files: program.getSourceFiles().filter(({ fileName }) => wanted.has(fileName)) };
}
