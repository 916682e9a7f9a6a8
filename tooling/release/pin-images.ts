/**
 * Writes the files of a release that name images, with the digests that the registries have now. Refuses to leave a tag
 * in them. REGISTRY_USERNAME and REGISTRY_PASSWORD are the credentials for REGISTRY, if it needs some.
 *
 *     node tooling/release/pin-images.ts FOLDER                    Dockerfiles with the digests of their base images
 *     node tooling/release/pin-images.ts FOLDER REGISTRY VERSION   all of deploy/, with the published manager's digest
 */
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";

import { root } from "../public-packages.ts";
import { type Credentials, imageDigest } from "./image-digest.ts";
import { imageTags } from "./image-tags.ts";

const MANAGER = "kubewright-controller-manager";

/**
 * Writes the Dockerfiles into a folder, with the digest of each base image behind its tag. @throws errors of
 * `imageDigest`.
 */
export async function pinDockerfiles(folder: string, mirror = ""): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const digests = new Map<string, string>();
  for (const file of readdirSync(path.join(root, "deploy")).filter((name) => name.endsWith("Dockerfile"))) {
    let text = readFileSync(path.join(root, "deploy", file), "utf8");
    const images = imageTags(file, text).map((finding) => /: (\S+) has no digest$/.exec(finding)![1]!);
    for (const image of new Set(images)) {
      const digest = digests.get(image) ?? (await imageDigest(`${mirror}${image}`));
      digests.set(image, digest);
      text = text.replaceAll(
        new RegExp(`(?<=^(?:FROM |# syntax=))${escaped(image)}(?=\\s|$)`, "gm"),
        `${image}@${digest}`,
      );
    }
    writeFileSync(path.join(folder, file), text);
  }
}

/**
 * Copies the manifests and the chart into a folder, with the digest of the published image.
 *
 * @throws Error when a written file still names an image without a digest; errors of `imageDigest`.
 */
export async function pinDeployment(
  folder: string,
  { registry, version, credentials }: { registry: string; version: string; credentials?: Credentials | undefined },
): Promise<void> {
  const image = `${registry}/${MANAGER}`;
  const digest = await imageDigest(`${image}:${version}`, credentials);
  rmSync(folder, { recursive: true, force: true });
  cpSync(path.join(root, "deploy"), folder, { recursive: true });
  // Images are built from the Dockerfiles of the repository.
  for (const file of readdirSync(folder)) if (file.endsWith("Dockerfile")) rmSync(path.join(folder, file));
  replaceIn(path.join(folder, "base/deployment.yaml"), `image: ${MANAGER}\n`, `image: ${image}@${digest}\n`);
  for (const overlay of readdirSync(path.join(folder, "overlays"))) {
    const file = path.join(folder, "overlays", overlay, "kustomization.yaml");
    const text = readFileSync(file, "utf8");
    writeFileSync(
      file,
      text.replace(/name: kubewright-controller-manager\n( +)newTag: .*/, `name: ${image}\n$1digest: ${digest}`),
    );
  }
  const values = path.join(folder, "chart/values.yaml");
  replaceIn(values, `repository: ${MANAGER}\n`, `repository: ${image}\n`);
  replaceIn(values, 'digest: ""\n', `digest: ${digest}\n`);
  refuseTags(folder);
}

/** @throws Error with every image of the folder's files that has no digest. */
export function refuseTags(folder: string): void {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) =>
    /\.(?:ya?ml|md)$|Dockerfile$/.test(file),
  );
  const found = files.flatMap((file) => imageTags(file, readFileSync(path.join(folder, file), "utf8")));
  if (found.length > 0) throw new Error(found.join("\n"));
}

function replaceIn(file: string, before: string, after: string): void {
  const text = readFileSync(file, "utf8");
  if (!text.includes(before)) throw new Error(`${file} has no line ${JSON.stringify(before)}`);
  writeFileSync(file, text.replace(before, after));
}

function escaped(text: string): string {
  return text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);
}

if (import.meta.main) {
  const [folder, registry, version] = process.argv.slice(2);
  const { REGISTRY_USERNAME: username, REGISTRY_PASSWORD: password } = process.env;
  const credentials = username && password ? { username, password } : undefined;
  if (folder === undefined || (registry === undefined) !== (version === undefined)) {
    console.error("usage: pin-images.ts FOLDER [REGISTRY VERSION]");
    process.exit(2);
  }
  try {
    if (registry === undefined) await pinDockerfiles(folder);
    else await pinDeployment(folder, { registry, version: version!, credentials });
    refuseTags(folder);
  } catch (error) {
    console.error((error as Error).message);
    process.exit(1);
  }
}
