import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { whyKubectlIsMissing } from "../../packages/cluster/test/kubectl-fixture.js";
import { root } from "../public-packages.ts";
import { imageDigest } from "./image-digest.ts";
import { imageTags } from "./image-tags.ts";
import { pinDeployment, pinDockerfiles, refuseTags } from "./pin-images.ts";

const sha256 = (text: string): string => `sha256:${createHash("sha256").update(text).digest("hex")}`;
const MANIFEST = JSON.stringify({ schemaVersion: 2, mediaType: "application/vnd.oci.image.index.v1+json" });
const manifestOf = (name: string): string => `${MANIFEST} ${name}`;
const CREDENTIALS = { username: "release", password: "secret" };

/**
 * Starts a registry that has every image but those named `missing`. Images in `private/` need a token, which only the
 * credentials give. Returns its address.
 */
async function startRegistry(): Promise<{ readonly host: string; readonly asked: string[] }> {
  const asked: string[] = [];
  const server: Server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url!, "http://registry");
    asked.push(pathname);
    if (pathname === "/token") {
      const basic = Buffer.from("release:secret").toString("base64");
      const isKnown = request.headers.authorization === `Basic ${basic}`;
      response.writeHead(isKnown ? 200 : 401);
      response.end(JSON.stringify({ token: `token for ${searchParams.get("scope")}` }));
      return;
    }
    const [, name, tag] = /^\/v2\/(.+)\/manifests\/(.+)$/.exec(pathname) ?? [];
    const scope = `repository:${name}:pull`;
    if (name?.startsWith("private/") && request.headers.authorization !== `Bearer token for ${scope}`) {
      const realm = `http://${request.headers.host}/token`;
      response.writeHead(401, { "www-authenticate": `Bearer realm="${realm}",service="registry",scope="${scope}"` });
      response.end();
      return;
    }
    const manifest = manifestOf(`${name}:${tag}`);
    const digest = sha256(name === "library/forged" ? "another" : manifest);
    const isThere = request.headers.accept?.includes("image.index") && name !== undefined && tag !== "missing";
    response.writeHead(isThere ? 200 : 404, { "docker-content-digest": digest });
    response.end(manifest);
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

function temporaryFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), "kubewright-pins-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test("the digest of an image is that of the manifest which its registry has for the tag", async () => {
  const { host } = await startRegistry();
  expect(await imageDigest(`${host}/team/app:1.0`)).toBe(sha256(manifestOf("team/app:1.0")));
});

test("a private image takes a token of the registry's token service", async () => {
  const { host, asked } = await startRegistry();
  const image = `${host}/private/app:1.0`;
  await expect(imageDigest(image)).rejects.toThrow(`${image}: the token service http://${host} answers 401`);
  expect(await imageDigest(image, CREDENTIALS)).toBe(sha256(manifestOf("private/app:1.0")));
  expect(asked).toContain("/token");
});

test("a missing image, a forged digest and a reference without tag are refused by name", async () => {
  const { host } = await startRegistry();
  await expect(imageDigest(`${host}/app:missing`)).rejects.toThrow(`${host}/app:missing: http://${host}/v2/app`);
  await expect(imageDigest(`${host}/library/forged:1`)).rejects.toThrow("but the registry states sha256:");
  await expect(imageDigest("app")).rejects.toThrow("app: write an image as [HOST/]NAME:TAG");
});

test("a release's manifests and chart have the digest of the published image, and no tag", async () => {
  const { host } = await startRegistry();
  const folder = path.join(temporaryFolder(), "deploy");
  await pinDeployment(folder, { registry: `${host}/private`, version: "1.2.3", credentials: CREDENTIALS });
  const digest = sha256(manifestOf("private/kubewright-controller-manager:1.2.3"));
  const image = `${host}/private/kubewright-controller-manager`;
  const read = (file: string): string => readFileSync(path.join(folder, file), "utf8");
  expect(read("base/deployment.yaml")).toContain(`image: ${image}@${digest}\n`);
  expect(read("chart/values.yaml")).toContain(`repository: ${image}\n`);
  expect(read("chart/values.yaml")).toContain(`digest: ${digest}\n`);
  expect(() => refuseTags(folder)).not.toThrow();
  writeFileSync(path.join(folder, "base/extra.yaml"), "image: example.com/other:1\n");
  expect(() => refuseTags(folder)).toThrow("base/extra.yaml:1: example.com/other:1 has no digest");
});

test.skipIf(whyKubectlIsMissing !== undefined)("kubectl renders a release's overlay with the digest", async () => {
  const { host } = await startRegistry();
  const folder = path.join(temporaryFolder(), "deploy");
  await pinDeployment(folder, { registry: `${host}/team`, version: "1.2.3" });
  const args = ["kustomize", path.join(folder, "overlays/sharded")];
  const rendered = execFileSync(process.env["KUBECTL"] ?? "kubectl", args, { encoding: "utf8" });
  const name = "team/kubewright-controller-manager";
  expect(rendered.match(/image: .*/g)).toEqual([`image: ${host}/${name}@${sha256(manifestOf(`${name}:1.2.3`))}`]);
});

test("Dockerfiles of a release have the digest of every base image", async () => {
  const { host } = await startRegistry();
  const folder = temporaryFolder();
  await pinDockerfiles(folder, `${host}/`);
  refuseTags(folder);
  const text = readFileSync(path.join(folder, "Dockerfile"), "utf8");
  const [image] = /(?<=^FROM )node:\S+(?=@)/m.exec(text)!;
  expect(text.match(/^FROM .*$/gm)).toEqual([
    `FROM ${image}@${sha256(manifestOf(image))} AS build`,
    `FROM ${image}@${sha256(manifestOf(image))}`,
  ]);
  expect(text).toMatch(/^# syntax=docker\/dockerfile:1@sha256:/);
});

test.each([
  ["Dockerfile", "FROM node:24 AS build\nFROM build\nCOPY --from=build /a /b", ["Dockerfile:1: node:24 has no digest"]],
  ["deployment.yaml", "  - image: app", ["deployment.yaml:1: app has no digest"]],
  ["values.yaml", 'image:\n  tag: "1.0"\n  digest: ""', ["values.yaml:2: tag 1.0", "values.yaml:3: digest"]],
  ["install.md", "docker run ghcr.io/a/kubewright:0.1.0 serve", ["install.md:1: ghcr.io/a/kubewright:0.1.0"]],
  ["install.md", "docker build -t kubewright:0.1.0 .", []],
])("in %s %j is found", (file, text, found) => {
  const findings = imageTags(file, text);
  expect(findings).toHaveLength(found.length);
  for (const [index, finding] of findings.entries()) expect(finding).toContain(found[index]);
});

test("documents name no published image by a tag", () => {
  for (const file of ["README.md", "docs/serve.md", "docs/controller-manager.md", "deploy/README.md"])
    expect(imageTags(file, readFileSync(path.join(root, file), "utf8"))).toEqual([]);
});
