/* oxlint-disable kubewright/no-ambient-io, no-console -- a script that is run by hand */
// Writes `src/openapi/descriptions.ts`: the texts that `kubectl explain` prints for the types in
// `src/schema/built-in-types.ts` and for the types that kinds declare.
//
// The texts come from the declarations of `@kubernetes/client-node`'s models, which copy them from Kubernetes' own API
// description. These declarations omit the description of a field whose type is a type of its own. The missing texts
// come from `kubernetes-types`, which follows a somewhat older release:
//
//     node scripts/generate-descriptions.mjs
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const models = join(dirname(createRequire(import.meta.url).resolve("@kubernetes/client-node")), "gen", "models");
const declarations = [
  "schema/built-in-types.ts",
  ...globSync("kinds/{*/types,pod-template,runtime-class}.ts", { cwd: join(here, "../src") }).sort(),
];
const source = declarations.map((file) => readFileSync(join(here, "../src", file), "utf8")).join("\n");
const typings = dirname(createRequire(import.meta.url).resolve("kubernetes-types/package.json"));
/** Matches a declaration such as `JobSpec: "parallelism:int32 …"`. */
const DECLARATION = /^ +([A-Z]\w*):\s*"[^"]*",$/gm;
/** Prefixes of model names. When two versions of a type exist, the older version has the name without a prefix. */
const PREFIXES = [
  ["", "V2", "V1", "CoreV1", "ApiextensionsV1", "AuthenticationV1", "StorageV1"],
  ["DiscoveryV1", "RbacV1", "AdmissionregistrationV1"],
].flat();
/**
 * Matches the description of a type. Models use it for a field of such a type in place of the field's own description.
 */
const TYPE_DESCRIPTION = /^(IntOrString is a type|Time is a wrapper|MicroTime is version|Quantity is a fixed)/;
const PREFIX = new RegExp(`^(EventsV1|${PREFIXES.filter((prefix) => prefix !== "").join("|")})`);

/** Field texts of the interfaces of `kubernetes-types`, by interface name and interface text. */
const fieldTextsByInterface = new Map();
for (const file of globSync("*/*.d.ts", { cwd: typings }).sort()) {
  let fields;
  let text = "";
  const comment = String.raw`\/\*\*([\s\S]*?)\*\/`;
  for (const [, commentText, type, field] of readFileSync(join(typings, file), "utf8").matchAll(
    new RegExp(`${comment}|^export interface (\\w+)|^ {4}(?:readonly )?"?([\\w$-]+)"?\\??:`, "gm"),
  )) {
    if (commentText !== undefined)
      text = commentText
        .replaceAll(/\s*\n\s*\* ?/g, " ")
        .replaceAll(/\s+/g, " ")
        .trim();
    else if (field !== undefined) fields?.set(field, text);
    else fieldTextsByInterface.set(`${type} ${text}`, (fields = new Map()));
    if (commentText === undefined) text = "";
  }
}

/** Inlined messages, which only protobuf has. */
const inlined = new Set([...source.matchAll(/~(\w+)/g)].map(([, type]) => type));
const described = new Map();
/** How often the types give each text to a field, by field name. */
const textCounts = new Map();
for (const type of new Set([...source.matchAll(DECLARATION)].map(([, name]) => name))) {
  const prefix = PREFIXES.find((candidate) => existsSync(join(models, `${candidate}${type}.d.ts`)));
  if (prefix === undefined && inlined.has(type)) continue;
  if (prefix === undefined) throw new Error(`no model of @kubernetes/client-node is the type ${type}`);
  const declaration = readFileSync(join(models, `${prefix}${type}.d.ts`), "utf8");
  const model = (await import(pathToFileURL(join(models, `${prefix}${type}.js`)).href))[`${prefix}${type}`];
  const wireNames = new Map(model.getAttributeTypeMap().map(({ name, baseName }) => [name, baseName]));
  const texts = {};
  for (const [, text, quoted, field] of declaration.matchAll(
    /\/\*\*\n\s*\* ([^\n]*)\n\s*\*\/\n\s*(?:'([^']+)'|(\w+)\??:|export declare class)/g,
  ))
    texts[wireNames.get(quoted ?? field) ?? ""] = text
      .replaceAll("\\'", "'")
      .replaceAll('\\"', '"')
      .replaceAll("*_/", "*/")
      .trim();
  const more = fieldTextsByInterface.get(`${type.replace(PREFIX, "")} ${texts[""]?.replaceAll(/\s+/g, " ")}`);
  for (const field of wireNames.values()) {
    const text = more?.get(field) ?? "";
    if (text !== "" && (texts[field] === undefined || TYPE_DESCRIPTION.test(texts[field]))) texts[field] = text;
  }
  described.set(type, texts);
  for (const field of wireNames.values()) {
    const text = (texts[field] ??= "");
    const counts = textCounts.get(field) ?? new Map();
    textCounts.set(field, counts.set(text, (counts.get(text) ?? 0) + 1));
  }
}

/** The texts that most types give to a field of that name, where leaving them out of the types saves lines. */
const common = {};
for (const [field, counts] of textCounts) {
  const undescribed = counts.get("") ?? 0;
  counts.delete("");
  const [text = "", count = 0] = [...counts].sort(([, a], [, b]) => b - a)[0] ?? [];
  if (count > undescribed + 1) common[field] = text;
}

/** The field where each text occurs first. */
const firstUse = new Map();
const lines = [["*", { "": "", ...common }], ...described].flatMap(([type, texts]) => {
  const written = (field) => {
    const text = (texts[field] ?? "").replaceAll(/\s*\n\s*/g, " ");
    const same = firstUse.get(text);
    if (same !== undefined && same.length + 1 < text.length) return `=${same}`;
    firstUse.set(text, `${type}.${field}`);
    return text;
  };
  const fields = Object.keys(texts).filter(
    (field) => field !== "" && (type === "*" || texts[field] !== (common[field] ?? "")),
  );
  return [`${type} ${written("")}`.trimEnd(), ...fields.map((field) => ` ${field} ${written(field)}`.trimEnd())];
});
const escaped = lines.join("\n").replaceAll(/[\\`]|\$\{/g, "\\$&");
writeFileSync(
  join(here, "../src/openapi/descriptions.ts"),
  `// Generated by scripts/generate-descriptions.mjs from the models of @kubernetes/client-node. Do not edit.\n\nimport { readDescriptions } from "./read-descriptions.js";\n\n/** Descriptions of types and their fields. Large: import it lazily. */\nexport const descriptions = readDescriptions(\`\n${escaped}\n\`);\n`,
);
console.log(`${described.size} types, ${lines.length} texts, ${lines.length - firstUse.size} said before`);
