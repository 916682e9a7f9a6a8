import type { Plugin } from "esbuild";

/** A source file that is loaded lazily, with the names that other modules import from it. */
type LazyFile = readonly [file: RegExp, names: readonly string[]];

interface LazyModule {
  readonly files: readonly LazyFile[];
  /** The module's name: `kubewright:NAME` exports `loadNAME()`. */
  readonly name: string;
  /** Folder from which `modules` are resolved. */
  readonly from: string;
  readonly modules: readonly string[];
}

const LAZY_SUFFIX = "?apart";

/**
 * esbuild plugin for sites that bundle `kubewright/browser` from its sources: moves the expression evaluator into a
 * separate file.
 *
 * The evaluator is a third of the bundle: CEL, its parser library and RE2. Only resource definitions and admission
 * policies need it. Call `await loadExpressions()` from `kubewright:expressions` before a request for which
 * `needsExpressions` returns true.
 */
export const lazyExpressions = lazyModule({
  name: "expressions",
  files: [
    [/[\\/]cel[\\/]src[\\/]environment\.ts$/, ["ExpressionEnvironment"]],
    [/[\\/]node_modules[\\/]@marcbachmann[\\/]cel-js[\\/]lib[\\/]index\.js$/, ["Environment", "ParseError"]],
    [/[\\/]node_modules[\\/]re2js[\\/]build[\\/]index\.js$/, ["RE2JS"]],
  ],
  from: "../../packages/cel",
  modules: ["./src/environment.ts", "@marcbachmann/cel-js", "re2js"],
});

/**
 * The same for controller managers that share work, which few scenarios have: `needsSharding`, and `loadSharding()` in
 * `kubewright:sharding`.
 */
export const lazySharding = lazyModule({
  name: "sharding",
  files: [[/[\\/]cluster[\\/]src[\\/]sharded-incarnation\.ts$/, ["ShardedIncarnation"]]],
  from: "../../packages/cluster",
  modules: ["./src/sharded-incarnation.ts"],
});

function lazyModule({ name, files, from, modules }: LazyModule): Plugin {
  const load = `load${name[0]!.toUpperCase()}${name.slice(1)}`;
  const resolveDir = new URL(from, import.meta.url).pathname;
  const imports = modules.map((module, index) => `import { load as load${index} } from ${JSON.stringify(module)};`);
  const loads = modules.map((_, index) => `load${index}()`);
  const contents = `${imports.join("\n")}
export const ${load} = async () => { await Promise.all([${loads.join()}]); };`;
  return {
    name: `${name} apart`,
    setup: (build) => {
      build.onResolve({ filter: /\?apart$/ }, (args) => ({
        path: args.path.slice(0, -LAZY_SUFFIX.length),
        suffix: LAZY_SUFFIX,
      }));
      for (const [filter, names] of files)
        build.onLoad({ filter }, (args) =>
          args.suffix === LAZY_SUFFIX ? undefined : { contents: placeholderFor(names, args.path, load) },
        );
      build.onResolve({ filter: new RegExp(`^kubewright:${name}$`) }, () => ({ path: "load", namespace: name }));
      build.onLoad({ filter: /./, namespace: name }, () => ({ contents, resolveDir }));
    },
  };
}

/**
 * Returns a placeholder module. Importers see the loaded classes as soon as they are loaded, because an import is bound
 * to the variable, not to its value.
 */
function placeholderFor(names: readonly string[], file: string, load: string): string {
  return `const refuse = () => { throw new Error("${load}() has not been called"); };
${names.map((name) => `export let ${name} = class { static compile = refuse; constructor() { refuse(); } };`).join("\n")}
export const load = async () => { ({ ${names.join()} } = await import(${JSON.stringify(file + LAZY_SUFFIX)})); };`;
}

/**
 * esbuild plugin for the same sites: omits protobuf bodies and OpenAPI, which only external clients request from an API
 * server. A browser has no such clients.
 */
export const withoutExternalClients: Plugin = {
  name: "without outside clients",
  setup: (build) => {
    for (const [file, contents] of Object.entries(OMITTED))
      build.onLoad({ filter: new RegExp(`[\\\\/]apiserver[\\\\/]src[\\\\/]${file}\\.ts$`) }, () => ({ contents }));
  },
};

const OMITTED: Readonly<Record<string, string>> = {
  openapi: "export class OpenApi { async serve() {} }",
  "protobuf[\\\\/]decode-protobuf": `export const PROTOBUF_MEDIA_TYPE = "application/vnd.kubernetes.protobuf";
export const decodeProtobuf = () => { throw new Error("left out"); };`,
};
