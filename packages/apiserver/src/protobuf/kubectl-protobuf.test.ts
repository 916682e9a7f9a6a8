import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
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
if (!hasKubectl) console.log("skipped: kubectl's protobuf requests; there is no kubectl (1.32 or later) on PATH");

describe.skipIf(!hasKubectl)(
  "kubectl, which sends protobuf for what it makes itself",
  () => {
    let server: ApiServer;
    let home: string;
    let url: string;
    /** Content types of the requests that had a body. */
    const sent: string[] = [];
    const kubectl = async (...args: string[]): Promise<string> =>
      (await run("kubectl", [`--server=${url}`, ...args], { env: { PATH: process.env["PATH"], HOME: home } })).stdout;
    const read = async <T>(...args: string[]): Promise<T> =>
      JSON.parse(await kubectl("get", ...args, "-o", "json")) as T;

    beforeAll(async () => {
      server = createApiServer({
        clock: realClock,
        random: seededRandom(1),
        freeze: true,
        intercept: ({ headers }) => {
          if (headers["content-length"] !== undefined) sent.push(String(headers["content-type"]));
          return undefined;
        },
      });
      ({ url } = await listen(server));
      home = await mkdtemp(join(tmpdir(), "kubewright-kubectl-"));
    });
    afterAll(async () => {
      await server.close();
      await rm(home, { recursive: true, force: true });
    });

    test("creates a namespace", async () => {
      sent.length = 0;
      expect(await kubectl("create", "namespace", "n")).toBe("namespace/n created\n");
      expect(sent).toEqual(["application/vnd.kubernetes.protobuf"]);
      expect(await read("namespace", "n")).toMatchObject({ spec: { finalizers: ["kubernetes"] } });
    });

    test("creates a Job, the same as JSON would", async () => {
      await kubectl("create", "job", "j", "--image=busybox", "--", "echo", "<&> ü");
      const created = await read<{ metadata: object; spec: { template: { spec: object } } }>("job", "j");
      expect(created.metadata).not.toHaveProperty("deletionTimestamp");
      expect(created.spec.template.spec).toEqual({
        containers: [
          {
            name: "j",
            image: "busybox",
            command: ["echo", "<&> ü"],
            resources: {},
            terminationMessagePath: "/dev/termination-log",
            terminationMessagePolicy: "File",
            imagePullPolicy: "Always",
          },
        ],
        restartPolicy: "Never",
        terminationGracePeriodSeconds: 30,
        dnsPolicy: "ClusterFirst",
        securityContext: {},
        schedulerName: "default-scheduler",
      });
    });

    test("creates a CronJob, and a Job from it", async () => {
      await kubectl("create", "cronjob", "c", "--image=busybox", "--schedule=*/5 * * * *", "--", "true");
      expect(await read("cronjob", "c")).toMatchObject({ spec: { schedule: "*/5 * * * *", suspend: false } });
      expect(await kubectl("create", "job", "once", "--from=cronjob/c")).toBe("job.batch/once created\n");
      expect(await read("job", "once")).toMatchObject({
        metadata: {
          annotations: { "cronjob.kubernetes.io/instantiate": "manual" },
          ownerReferences: [{ kind: "CronJob", name: "c", controller: true }],
        },
      });
    });

    test("creates a ConfigMap and a Secret, whose bytes arrive as they are", async () => {
      await kubectl("create", "configmap", "cm", "--from-literal=a=1", "--from-literal=__proto__=2");
      expect((await read<{ data: object }>("configmap", "cm")).data).toEqual(JSON.parse('{"a":"1","__proto__":"2"}'));
      await kubectl("create", "secret", "generic", "s", "--from-literal=key=\u00fc");
      expect(await read("secret", "s")).toMatchObject({ type: "Opaque", data: { key: "w7w=" } });
    });

    test("creates a ServiceAccount and a Service", async () => {
      await kubectl("create", "serviceaccount", "sa");
      expect(await read("serviceaccount", "sa")).toMatchObject({ kind: "ServiceAccount" });
      await kubectl("create", "service", "clusterip", "svc", "--tcp=80:8080", "--tcp=443:web");
      expect(await read("service", "svc")).toMatchObject({
        spec: {
          ports: [
            { port: 80, targetPort: 8080 },
            { port: 443, targetPort: "web" },
          ],
          selector: { app: "svc" },
        },
      });
    });

    test("asks who it is and what it may do", async () => {
      expect(await kubectl("auth", "can-i", "create", "jobs")).toBe("yes\n");
      expect(await kubectl("auth", "whoami", "-o", "jsonpath={.status.userInfo.username}")).toBe("system:anonymous");
      expect(await kubectl("auth", "can-i", "--list")).toContain("*.*");
    });

    test("cordons a node, evicts its pod and deletes with options", async () => {
      const node = { apiVersion: "v1", kind: "Node", metadata: { name: "node" } };
      await server.transport({
        method: "POST",
        path: "/api/v1/nodes",
        headers: {},
        body: { type: "decoded", value: node },
      });
      await kubectl("run", "p", "--image=busybox", "--restart=Never", '--overrides={"spec":{"nodeName":"node"}}');
      await kubectl("drain", "node", "--force", "--disable-eviction=false", "--grace-period=0", "--timeout=10s");
      expect(await kubectl("get", "pods", "p", "--ignore-not-found")).toBe("");
      expect(await read("node", "node")).toMatchObject({ spec: { unschedulable: true } });
      await kubectl("delete", "job", "j", "--cascade=background");
      expect(await kubectl("get", "job", "j", "--ignore-not-found")).toBe("");
    });
  },
  60_000,
);
