import type { Plugin } from "esbuild";

/** What reads and evaluates expressions, with what others import of each: CEL, the library that it parses with, and RE2. */
const PARTS: readonly (readonly [file: RegExp, names: readonly string[]])[] = [
  [/[\\/]apiserver[\\/]src[\\/]cel[\\/]environment\.ts$/, ["ExpressionEnvironment"]],
  [/[\\/]node_modules[\\/]@marcbachmann[\\/]cel-js[\\/]lib[\\/]index\.js$/, ["Environment", "ParseError"]],
  [/[\\/]node_modules[\\/]re2js[\\/]build[\\/]index\.js$/, ["RE2JS"]],
];
const APISERVER = new URL("../../packages/apiserver", import.meta.url).pathname;
const APART = "?apart";

/**
 * For who bundles `kubewright/browser` from its sources: puts what evaluates expressions, a third of it, into a file of its own,
 * because only definitions of resources and admission policies need it. Before a request of which `needsExpressions` says yes,
 * `await loadExpressions()`, which the bundle then has in `kubewright:expressions`.
 */
export const expressionsApart: Plugin = {
  name: "expressions apart",
  setup: (build) => {
    build.onResolve({ filter: /\?apart$/ }, (args) => ({ path: args.path.slice(0, -APART.length), suffix: APART }));
    for (const [filter, names] of PARTS)
      build.onLoad({ filter }, (args) =>
        args.suffix === APART ? undefined : { contents: placeFor(names, args.path) },
      );
    build.onResolve({ filter: /^kubewright:expressions$/ }, () => ({ path: "load", namespace: "expressions" }));
    build.onLoad({ filter: /./, namespace: "expressions" }, () => ({ contents: LOAD, resolveDir: APISERVER }));
  },
};

/**
 * For the same: leaves out what only clients from outside ask an API server for, of which a browser has none: bodies in protobuf,
 * and OpenAPI.
 */
export const withoutOutsideClients: Plugin = {
  name: "without outside clients",
  setup: (build) => {
    for (const [file, contents] of Object.entries(LEFT_OUT))
      build.onLoad({ filter: new RegExp(`[\\\\/]apiserver[\\\\/]src[\\\\/]${file}\\.ts$`) }, () => ({ contents }));
  },
};

const LEFT_OUT: Readonly<Record<string, string>> = {
  openapi: "export class OpenApi { async serve() {} }",
  "protobuf[\\\\/]field-numbers": "export const fieldNumbers = {};",
  "protobuf[\\\\/]decode-protobuf": `export const PROTOBUF_MEDIA_TYPE = "application/vnd.kubernetes.protobuf";
export const decodeProtobuf = () => { throw new Error("left out"); };`,
};

/** Whoever imported it has the loaded one as soon as it is there: an import is bound to the variable, not to its value. */
function placeFor(names: readonly string[], file: string): string {
  return `const refuse = () => { throw new Error("loadExpressions() has not been called"); };
${names.map((name) => `export let ${name} = class { static compile = refuse; constructor() { refuse(); } };`).join("\n")}
export const load = async () => { ({ ${names.join()} } = await import(${JSON.stringify(file + APART)})); };`;
}

const LOAD = `import { load as loadCel } from "./src/cel/environment.ts";
import { load as loadParser } from "@marcbachmann/cel-js";
import { load as loadPatterns } from "re2js";
export const loadExpressions = async () => { await Promise.all([loadCel(), loadParser(), loadPatterns()]); };`;
