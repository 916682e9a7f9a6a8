import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { realClock, seededRandom } from "@kubewright/clock";

import { certificates } from "../../test/certificates.js";
import { type ApiServer, createApiServer } from "../api-server.js";
import { listen } from "../http/listen.js";

const run = promisify(execFile);
const hasKubectl = await run("kubectl", ["version", "--client"]).then(
  () => true,
  () => false,
);
if (!hasKubectl) console.log("skipped: kubectl's ways to say who it is; there is no kubectl (1.32 or later) on PATH");

describe.skipIf(!hasKubectl)(
  "kubectl over TLS against a server with RBAC",
  () => {
    let server: ApiServer;
    let home: string;
    let url: string;
    const file = (name: string): string => join(home, name);
    const kubectl = async (...args: string[]): Promise<string> => {
      const connection = [`--server=${url}`, `--certificate-authority=${file("ca.crt")}`];
      const env = { PATH: process.env["PATH"], HOME: home };
      const done = run("kubectl", [...connection, ...args], { env });
      return done.then(
        ({ stdout, stderr }) => stdout + stderr,
        (error: { stdout: string; stderr: string }) => error.stdout + error.stderr,
      );
    };
    const admin = (...args: string[]): Promise<string> => kubectl("--token=root-token", ...args);
    const dev = (...args: string[]): Promise<string> =>
      kubectl(`--client-certificate=${file("dev.crt")}`, `--client-key=${file("dev.key")}`, ...args);

    beforeAll(async () => {
      server = createApiServer({
        clock: realClock,
        random: seededRandom(1),
        freeze: true,
        authentication: { tokenFile: 'root-token,root,1,"system:masters"' },
        authorization: "RBAC",
      });
      const { serverCert, serverKey, ca, clientCert, clientKey } = certificates;
      ({ url } = await listen(server, { tls: { cert: serverCert, key: serverKey, clientCA: ca } }));
      home = await mkdtemp(join(tmpdir(), "kubewright-kubectl-"));
      await writeFile(file("ca.crt"), ca);
      await writeFile(file("dev.crt"), clientCert);
      await writeFile(file("dev.key"), clientKey, { mode: 0o600 });
    });
    afterAll(async () => {
      await server.close();
      await rm(home, { recursive: true, force: true });
    });

    test("says who it is by token or by certificate, and is sent away with a wrong one", async () => {
      const who = ["auth", "whoami", "-o", "jsonpath={.status.userInfo.username}"];
      expect(await admin(...who)).toBe("root");
      expect(await dev(...who)).toBe("dev");
      expect(await kubectl("--token=wrong", "get", "pods")).toContain(
        "error: You must be logged in to the server (the server has asked for the client to provide credentials)",
      );
    });

    test("is refused, and let in once a role is bound", async () => {
      expect(await dev("get", "pods")).toBe(
        'Error from server (Forbidden): pods is forbidden: User "dev" cannot list resource "pods" in API group "" in the namespace "default"\n',
      );
      expect(await dev("auth", "can-i", "list", "pods")).toContain("no");
      expect(await admin("create", "role", "reader", "--verb=get,list", "--resource=pods,pods/log")).toBe(
        "role.rbac.authorization.k8s.io/reader created\n",
      );
      expect(await admin("create", "rolebinding", "read", "--role=reader", "--group=developers")).toBe(
        "rolebinding.rbac.authorization.k8s.io/read created\n",
      );
      expect(await dev("get", "pods")).toBe("No resources found in default namespace.\n");
      expect(await dev("auth", "can-i", "list", "pods")).toBe("yes\n");
      expect(await dev("auth", "can-i", "--list")).toMatch(/^pods\/log +\[\] +\[\] +\[get list\]$/m);
      expect(await admin("auth", "can-i", "delete", "pods", "--as=dev", "--as-group=developers")).toContain("no");
      expect(await admin("get", "pods", "--as=dev", "--as-group=developers")).toBe(
        "No resources found in default namespace.\n",
      );
    });

    test("prints roles and bindings", async () => {
      await admin("create", "serviceaccount", "robot");
      await admin("create", "clusterrole", "nodes", "--verb=get", "--resource=nodes");
      await admin(
        "create",
        "clusterrolebinding",
        "b",
        "--clusterrole=nodes",
        "--user=u",
        "--serviceaccount=default:robot",
      );
      expect(await admin("get", "clusterrolebinding", "b", "-o", "wide")).toMatch(
        /^NAME +ROLE +AGE +USERS +GROUPS +SERVICEACCOUNTS\nb +ClusterRole\/nodes +\d+s +u +default\/robot\n$/,
      );
      expect(await admin("get", "roles")).toMatch(/^NAME +CREATED AT\nreader +\d{4}-\d\d-\d\dT[\d:]+Z\n$/);
      expect(await admin("describe", "clusterrole", "nodes")).toMatch(/nodes +\[\] +\[\] +\[get\]/);
      expect(await admin("describe", "rolebinding", "read")).toMatch(/Group +developers/);
    });

    test("creates a token for a service account, and works with it", async () => {
      const token = (await admin("create", "token", "robot", "--duration=1h")).trim();
      expect(await kubectl(`--token=${token}`, "auth", "whoami", "-o", "jsonpath={.status.userInfo.username}")).toBe(
        "system:serviceaccount:default:robot",
      );
      expect(await kubectl(`--token=${token}`, "get", "nodes")).toContain(
        'User "system:serviceaccount:default:robot" cannot list resource "nodes"',
      );
      expect(await kubectl(`--token=${token}`, "get", "node", "none")).toContain('nodes "none" not found');
    });

    test("shows the log of a Job's pod as the line that nothing ran", async () => {
      await admin("run", "p", "--image=busybox", "--restart=Never", '--overrides={"spec":{"nodeName":"n"}}');
      const state = { terminated: { exitCode: 0, reason: "Completed" } };
      const status = { containerStatuses: [{ name: "p", image: "busybox", ready: false, restartCount: 0, state }] };
      await admin("patch", "pod", "p", "--subresource=status", "--type=merge", "-p", JSON.stringify({ status }));
      expect(await dev("logs", "p")).toBe(
        'no output: kubewright runs no containers, "p" was only simulated; started at an unknown time, ended at an unknown time with exit code 0 (Completed)\n',
      );
      expect(await dev("logs", "p", "-c", "x")).toContain("container x is not valid for pod p");
    });
  },
  60_000,
);
