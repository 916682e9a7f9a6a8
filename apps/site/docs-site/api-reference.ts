/** Pages about what packages export, made of their doc comments by TypeDoc: one for each thing that can be imported. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";

import { Application, Converter, type Reflection, type SomeType, UnknownType } from "typedoc";

import { entryPoints, publicPackages } from "../../../tooling/public-packages.ts";
import { REPOSITORY, root } from "./repository.ts";

export interface ApiPage {
  /** Such as `@kubewright/informer/client-node`. */
  readonly entry: string;
  readonly route: string;
  readonly source: string;
}

/** Longer types are told in the words of the source: TypeScript spells out what a mapped type comes to, member by member. */
const MAX_CHARACTERS = 160;

interface Typed extends Reflection {
  type?: SomeType;
}

/** What can be imported, but for what is only for browsers or has no declarations of its own. */
export function apiPages(only?: readonly string[]): ApiPage[] {
  return publicPackages()
    .flatMap(({ manifest, folder }) =>
      entryPoints(manifest).map(({ entry, source }) => ({ entry, source: path.join(folder, source) })),
    )
    .filter(({ entry, source }) => source.endsWith(".ts") && (only === undefined || only.includes(entry)))
    .map(({ entry, source }) => ({
      entry,
      source,
      route: `api/${entry.replace("@kubewright/", "").replace("/", "-")}`,
    }));
}

/**
 * Markdown by route.
 *
 * @param scratch - A folder inside the checkout, which is made and removed.
 * @throws Error when TypeDoc finds a mistake.
 */
export async function apiReference(pages: readonly ApiPage[], scratch: string): Promise<Map<string, string>> {
  mkdirSync(scratch, { recursive: true });
  const tsconfig = path.join(scratch, "tsconfig.json");
  const files = pages.map(({ source }) => source);
  const base = path.relative(scratch, path.join(root, "tsconfig.base.json"));
  writeFileSync(tsconfig, JSON.stringify({ extends: base, compilerOptions: { noEmit: true }, files }));
  const out = path.join(scratch, "out");
  const options = {
    plugin: ["typedoc-plugin-markdown"],
    entryPoints: files,
    tsconfig,
    out,
    logLevel: "Error" as const,
    // tsc has checked them; TypeDoc only reads them.
    skipErrorChecking: true,
    disableGit: true,
    sourceLinkTemplate: `${REPOSITORY}/blob/main/{path}#L{line}`,
    basePath: root,
    readme: "none",
    excludePrivate: true,
    excludeInternal: true,
    excludeExternals: true,
    maxTypeConversionDepth: 5,
    outputFileStrategy: "modules",
    hidePageHeader: true,
    hideBreadcrumbs: true,
    hidePageTitle: true,
    useCodeBlocks: true,
    useHTMLAnchors: false,
    parametersFormat: "table",
    interfacePropertiesFormat: "table",
    typeDeclarationFormat: "table",
    typeDeclarationVisibility: "compact",
  };
  const app = await Application.bootstrapWithPlugins(options);
  keepWrittenTypes(app);
  const project = await app.convert();
  if (project === undefined) throw new Error("TypeDoc could not read the packages");
  await app.generateOutputs(project);
  const written = new Map<string, string>();
  const routeOf = new Map(pages.map(({ source, route }) => [outputOf(source), route]));
  for (const { source, route, entry } of pages)
    written.set(
      route,
      withRoutes(`# ${entry}\n\n${readFileSync(path.join(out, outputOf(source)), "utf8")}`, outputOf(source), routeOf),
    );
  rmSync(scratch, { recursive: true, force: true });
  return written;
}

/** Where TypeDoc writes the module of a file: a module called `index` becomes one named for its folder. */
function outputOf(source: string): string {
  return `${path
    .relative(root, source)
    .replace(/\.ts$/, "")
    .replace(/\/index$/, "")}.md`;
}

/** The links between pages as the site has them. */
function withRoutes(text: string, output: string, routeOf: ReadonlyMap<string, string>): string {
  return text
    .replace(/\]\(([^)#:]+\.md)(#[^)]*)?\)/g, (whole, file: string, hash = "") => {
      const route = routeOf.get(path.posix.join(path.posix.dirname(output), file));
      return route === undefined ? whole : `](/${route}${hash})`;
    })
    .replaceAll("__namedParameters", "options")
    .replaceAll("\\_\\_namedParameters", "options");
}

/** Has types that TypeDoc would spell out over many lines shown as they are written. */
function keepWrittenTypes(app: Application): void {
  const writtenTypes = new Map<Typed, string>();
  const note = (reflection: Typed, declaration: unknown): void => {
    const { type } = (declaration ?? {}) as { type?: { getText(): string } };
    if (type !== undefined) writtenTypes.set(reflection, type.getText().replaceAll(/\s+/g, " "));
  };
  app.converter.on(Converter.EVENT_CREATE_SIGNATURE, (_context, reflection, declaration) =>
    note(reflection, declaration),
  );
  app.converter.on(Converter.EVENT_CREATE_PARAMETER, (_context, reflection, declaration) =>
    note(reflection, declaration),
  );
  app.converter.on(Converter.EVENT_CREATE_DECLARATION, (context, reflection) =>
    note(reflection, context.getSymbolFromReflection(reflection)?.declarations?.[0]),
  );
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, () => {
    for (const [reflection, written] of writtenTypes) {
      const length = reflection.type === undefined ? 0 : reflection.type.toString().length;
      if (spelledOut(reflection.type) && written.length < Math.max(length, MAX_CHARACTERS))
        reflection.type = new UnknownType(written);
    }
  });
}

/** Whether there is an object type in it, member by member. */
function spelledOut(type: SomeType | undefined): boolean {
  let found = false;
  type?.visit({
    reflection: () => (found = true),
    array: ({ elementType }) => (found ||= spelledOut(elementType)),
    reference: ({ typeArguments = [] }) => (found ||= typeArguments.some(spelledOut)),
    union: ({ types }) => (found ||= types.some(spelledOut)),
    intersection: ({ types }) => (found ||= types.some(spelledOut)),
    typeOperator: ({ target }) => (found ||= spelledOut(target)),
  });
  return found;
}
