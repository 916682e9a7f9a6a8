import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { realClock, seededRandom } from "@kubewright/clock";

import { type ApiServer, createApiServer } from "../api-server.js";
import { listen } from "../http/listen.js";

const run = promisify(execFile);
const hasKubectl = await run("kubectl", ["version", "--client"]).then(
  () => true,
  () => false,
);
if (!hasKubectl)
  console.log("skipped: kinds as kubectl makes and shows them; there is no kubectl (1.32 or later) on PATH");

/** A certificate request with valid encoding but without a signature. */
const REQUEST = Buffer.from(
  `-----BEGIN CERTIFICATE REQUEST-----\n${Buffer.from([0x30, 0x03, 0x02, 0x01, 0x00]).toString("base64")}\n-----END CERTIFICATE REQUEST-----\n`,
).toString("base64");

describe.skipIf(!hasKubectl)(
  "kubectl",
  () => {
    let server: ApiServer;
    let home: string;
    let url: string;
    const kubectl = async (...args: string[]): Promise<string> =>
      (await run("kubectl", [`--server=${url}`, ...args], { env: { PATH: process.env["PATH"], HOME: home } })).stdout;
    const rows = async (...args: string[]): Promise<string[][]> =>
      (await kubectl("get", "--no-headers", ...args))
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => line.split(/ {2,}/).slice(0, -1));

    beforeAll(async () => {
      server = createApiServer({ clock: realClock, random: seededRandom(1), freeze: true });
      ({ url } = await listen(server));
      home = await mkdtemp(join(tmpdir(), "kubewright-kubectl-"));
    });
    afterAll(async () => {
      await server.close();
      await rm(home, { recursive: true, force: true });
    });

    test("makes an Ingress, a budget and an autoscaler, and shows them", async () => {
      await kubectl("create", "deployment", "web", "--image=nginx");
      await kubectl("create", "ingress", "web", "--rule=a.example.com/x*=web:80,tls=cert", "--class=nginx");
      await kubectl("create", "poddisruptionbudget", "web", "--selector=app=web", "--min-available=50%");
      await kubectl("autoscale", "deployment", "web", "--min=2", "--max=5", "--cpu-percent=70");
      expect(await rows("ingress")).toEqual([["web", "nginx", "a.example.com", "80, 443"]]);
      expect(await rows("pdb")).toEqual([["web", "50%", "N/A", "0"]]);
      expect(await rows("hpa")).toEqual([["web", "Deployment/web", "cpu: <unknown>/70%", "2", "5", "0"]]);
      const all = await kubectl("get", "all");
      expect(all).toContain("horizontalpodautoscaler.autoscaling/web");
      const several = await kubectl("get", "hpa,ingress,pdb", "-o", "name");
      expect(several.split("\n").filter(Boolean)).toEqual([
        "horizontalpodautoscaler.autoscaling/web",
        "ingress.networking.k8s.io/web",
        "poddisruptionbudget.policy/web",
      ]);
    });

    test("describes the created objects", async () => {
      expect(await kubectl("describe", "ingress", "web")).toContain("a.example.com");
      expect(await kubectl("describe", "pdb", "web")).toMatch(/Min available: +50%/);
      expect(await kubectl("describe", "hpa", "web")).toContain("<unknown> / 70%");
    });

    test("explains the fields of these kinds", async () => {
      expect(await kubectl("explain", "hpa.spec.behavior.scaleDown")).toContain("stabilizationWindowSeconds");
      expect(await kubectl("explain", "networkpolicy.spec.ingress.from")).toContain("namespaceSelector");
    });

    test("applies a NetworkPolicy and an EndpointSlice, and changes them", async () => {
      const file = join(home, "objects.yaml");
      const objects = (port: number): string => `
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: { name: web }
spec:
  podSelector: { matchLabels: { app: web } }
  ingress: [{ ports: [{ port: ${port}, protocol: TCP }] }]
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: web }
addressType: IPv4
endpoints: [{ addresses: [10.0.0.1], conditions: {} }]
ports: [{ name: http, port: ${port}, protocol: TCP }]
`;
      await writeFile(file, objects(80));
      expect(await kubectl("apply", "-f", file)).toBe(
        "networkpolicy.networking.k8s.io/web created\nendpointslice.discovery.k8s.io/web created\n",
      );
      expect(await kubectl("apply", "-f", file)).toContain("endpointslice.discovery.k8s.io/web unchanged");
      await writeFile(file, objects(8080));
      await kubectl("apply", "-f", file);
      expect(await rows("endpointslice")).toEqual([["web", "IPv4", "8080", "10.0.0.1"]]);
      expect(await rows("networkpolicy")).toEqual([["web", "app=web"]]);
    });

    test("approves a request for a certificate", async () => {
      const file = join(home, "request.yaml");
      await writeFile(
        file,
        `
apiVersion: certificates.k8s.io/v1
kind: CertificateSigningRequest
metadata: { name: me }
spec: { request: ${REQUEST}, signerName: example.com/me, usages: [client auth], expirationSeconds: 3600 }
`,
      );
      await kubectl("create", "-f", file);
      const state = async (): Promise<string> =>
        (await kubectl("get", "csr", "--no-headers", "me")).trim().split(/ {2,}/).slice(2).join(" ");
      expect(await state()).toBe("example.com/me system:anonymous 60m Pending");
      await kubectl("certificate", "approve", "me");
      expect(await state()).toBe("example.com/me system:anonymous 60m Approved");
      await expect(kubectl("certificate", "deny", "me")).rejects.toThrow(
        'certificate signing request "me" is already Approved',
      );
    });

    test("drains a node when no budget prevents it", async () => {
      await kubectl("create", "-f", await nodeWithPod(join(home, "pod.yaml")));
      const pod = ["pod", "web", "--subresource=status", "--type=merge"];
      const running = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };
      await kubectl("patch", ...pod, "-p", JSON.stringify({ status: running }));
      const counts = { observedGeneration: 1, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 };
      const budget = ["pdb", "web", "--subresource=status", "--type=merge"];
      await kubectl("patch", ...budget, "-p", JSON.stringify({ status: counts }));
      // Not with `kubectl drain`, which would retry after some seconds.
      const eviction = join(home, "eviction.json");
      await writeFile(eviction, '{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"web"}}');
      const path = "/api/v1/namespaces/default/pods/web/eviction";
      await expect(kubectl("create", "--raw", path, "-f", eviction)).rejects.toThrow(
        "Cannot evict pod as it would violate the pod's disruption budget.",
      );
      await kubectl("delete", "pdb", "web");
      const drained = await kubectl("drain", "node", "--force", "--timeout=60s", "--grace-period=0");
      expect(drained).toContain("node/node drained");
    });
  },
  60_000,
);

async function nodeWithPod(file: string): Promise<string> {
  await writeFile(
    file,
    `
apiVersion: v1
kind: Node
metadata: { name: node }
---
apiVersion: v1
kind: Pod
metadata: { name: web, labels: { app: web } }
spec: { nodeName: node, containers: [{ name: c, image: nginx }] }
`,
  );
  return file;
}
