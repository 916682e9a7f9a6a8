import type { KubernetesObject } from "@kubewright/api";
import { Command, CommanderError, InvalidArgumentError } from "commander";

import { DefinitionFileError, readDefinitions } from "../crd-types/read-definitions.js";
import { writeTypes } from "../crd-types/write-types.js";
import { CustomResourceError } from "../custom-resource/schema-problem.js";
import { type FoundExports, findExports } from "../manifests/find-exports.js";
import { operatorManifests } from "../manifests/operator-manifests.js";
import { toYaml } from "../manifests/to-yaml.js";
import type { CliIo } from "./cli-io.js";

/** The command line, or a module that it names, is invalid. */
class InputError extends Error {
  override readonly name = "InputError";
}

/**
 * Runs the command.
 *
 * @returns The exit status: 0; 1 for other failures; 2 for wrong usage or input. Status 1 and 2 come with a one-line
 * message.
 */
export async function runCli(args: readonly string[], io: CliIo, version: string): Promise<number> {
  const program = new Command("kubewright-operator")
    .description("Writes what an operator needs in a cluster, from its source.")
    .version(version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.print(text),
      writeErr: (text) => io.printError(`kubewright-operator: ${text.replace(/^error: /, "")}`),
    })
    .showHelpAfterError(false);
  program
    .command("crd")
    .description("Writes the CustomResourceDefinitions of the custom resources that modules export.")
    .argument("<FILE...>", "modules: JavaScript, or TypeScript as Node runs it by itself")
    .option("-o, --output <FOLDER>", "a file for each, GROUP_PLURAL.yaml (default: standard output)")
    .addHelpText(
      "after",
      `
Examples:
  kubewright-operator crd src/backup.ts | kubectl apply --server-side -f -
  kubewright-operator crd src/*.ts -o config/crd`,
    )
    .action((files: string[], { output }: { output?: string }) => writeDefinitions(files, output, io));
  program
    .command("manifests")
    .description(
      "Writes what installing an operator takes: namespace, definitions, account, roles, Deployment, webhooks.",
    )
    .argument("<FILE...>", "modules that export the operator, and its webhooks if there are any")
    .option("-o, --output <FOLDER>", "a file for each object, NN-KIND-NAME.yaml (default: standard output)")
    .option("--image <IMAGE>", "of its container (default: the operator's name, latest)")
    .option("--namespace <NAME>", "where it runs (default: the operator's name)")
    .option("--replicas <N>", "how many of it (default: 2, or 1 without leader election)", wholeNumber)
    .addHelpText(
      "after",
      `
Rights follow from what controllers say: for, owns, watches, reads, writes.

Examples:
  kubewright-operator manifests src/operator.ts --image registry.example.com/backup-operator:1.2.0 | kubectl apply --server-side -f -
  kubewright-operator manifests src/operator.ts src/webhooks.ts -o config`,
    )
    .action((files: string[], options: ManifestFlags) => writeManifests(files, options, io));
  program
    .command("types")
    .description("Writes TypeScript types and resource definitions from CustomResourceDefinitions.")
    .argument("<FILE...>", "CustomResourceDefinitions in YAML or JSON; -: standard input")
    .option("-o, --output <FILE>", "the module to write (default: standard output)")
    .addHelpText(
      "after",
      `
Each served version gets its types, the storage version first. Names: the kind (Certificate) and the plural
(certificates); other versions append the version (CertificateV1alpha1); nested objects append the field
(CertificateSpecPrivateKey); a name that is taken gets a number. What a type cannot express is reported on standard error.

Examples:
  kubewright-operator types cert-manager.crds.yaml -o src/cert-manager.ts
  kubectl get crd certificates.cert-manager.io -o yaml | kubewright-operator types - > src/certificate.ts`,
    )
    .action((files: string[], { output }: { output?: string }) => writeDefinitionTypes(files, output, io));
  try {
    await program.parseAsync(args, { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    io.printError(`kubewright-operator: ${oneLine(error)}\n`);
    const isInput = [InputError, CustomResourceError, DefinitionFileError].some((each) => error instanceof each);
    return isInput ? 2 : 1;
  }
}

interface ManifestFlags {
  readonly output?: string;
  readonly image?: string;
  readonly namespace?: string;
  readonly replicas?: number;
}

function wholeNumber(text: string): number {
  if (!/^\d{1,4}$/.test(text)) throw new InvalidArgumentError("It must be a whole number.");
  return Number(text);
}

async function writeDefinitions(files: readonly string[], folder: string | undefined, io: CliIo): Promise<void> {
  const { definitions, converted } = await load(files, io);
  if (definitions.length === 0)
    throw new InputError(
      `${files.join(", ")}: exports no custom resource: export what defineCustomResource(…) answers`,
    );
  for (const each of converted)
    io.printError(
      `${each} is converted by a webhook, which the operator publishes to the API server when it serves it\n`,
    );
  await write(definitions, folder, io, ({ metadata: { name = "" } }) => name.replace(/^([^.]*)\.(.*)$/, "$2_$1"));
}

async function writeManifests(files: readonly string[], flags: ManifestFlags, io: CliIo): Promise<void> {
  const { operators, webhooks, definitions } = await load(files, io);
  const [operator, ...more] = operators;
  if (operator === undefined)
    throw new InputError(`${files.join(", ")}: exports no operator: export what createOperator(…) answers`);
  if (more.length > 0)
    throw new InputError(
      `${files.join(", ")}: exports ${operators.length} operators (${operators.map(({ name }) => name).join(", ")}): write one at a time`,
    );
  const { output, ...options } = flags;
  const objects = operatorManifests({ operator, webhooks, definitions, ...options });
  // kubectl applies the files of a directory sorted by name, and a namespace must come before its objects.
  const digits = Math.max(2, String(objects.length).length);
  await write(objects, output, io, ({ kind = "", metadata: { namespace, name = "" } }, index) => {
    const place = String(index + 1).padStart(digits, "0");
    return [place, kind.toLowerCase(), ...(namespace === undefined ? [] : [namespace]), name].join("-");
  });
}

async function writeDefinitionTypes(files: readonly string[], output: string | undefined, io: CliIo): Promise<void> {
  const definitions = [];
  for (const file of files) {
    const text = await io.readText(file).catch((error: unknown) => {
      throw new InputError(`${file}: ${oneLine(error)}`, { cause: error });
    });
    definitions.push(...readDefinitions(file === "-" ? "standard input" : file, text));
  }
  const { text, warnings } = writeTypes(definitions);
  for (const { definition, path, text: problem } of warnings) io.printError(`${definition}: ${path}: ${problem}\n`);
  if (output === undefined) {
    io.print(text);
    return;
  }
  await io.writeFile(output, text);
  io.printError(`wrote ${output}\n`);
}

async function load(files: readonly string[], io: CliIo): Promise<FoundExports> {
  const modules: object[] = [];
  for (const file of files) {
    try {
      modules.push(await io.importModule(file));
    } catch (error) {
      throw new InputError(`${file}: ${oneLine(error)}`, { cause: error });
    }
  }
  return findExports(modules);
}

async function write(
  objects: readonly KubernetesObject[],
  folder: string | undefined,
  io: CliIo,
  nameOf: (object: KubernetesObject, index: number) => string,
): Promise<void> {
  if (folder === undefined) {
    io.print(objects.map(toYaml).join("---\n"));
    return;
  }
  for (const [index, object] of objects.entries()) {
    const file = `${folder.replace(/\/$/, "")}/${nameOf(object, index)}.yaml`;
    await io.writeFile(file, toYaml(object));
    io.printError(`wrote ${file}\n`);
  }
}

function oneLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split("\n", 1)[0]!;
}
