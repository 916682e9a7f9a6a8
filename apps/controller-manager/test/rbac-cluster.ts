import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { type ClusterRole, clusterRoleBindings, clusterRoles } from "@kubewright/api";
import { type ApiServer, createApiServer } from "@kubewright/apiserver";
import { listen } from "@kubewright/apiserver/http";
import { Client } from "@kubewright/client";
import { realClock, seededRandom } from "@kubewright/clock";

import { writeKubeconfig } from "./kubeconfig.js";
import type { Scope } from "./scope.js";

/**
 * An API server with RBAC over a real socket. Each user has a token equal to its name. Closed at the end of the test.
 */
export interface RbacCluster {
  readonly server: ApiServer;
  readonly client: Client;
  readonly folder: string;
  /** Writes a kubeconfig for a user and returns its path. */
  kubeconfig(user: string): Promise<string>;
  /** Grants the rules to a user in the whole cluster. */
  allow(user: string, rules: ClusterRole["rules"]): Promise<void>;
  /** Stops the server. */
  stop(): Promise<void>;
}

const USERS = ["admin", "manager", "prometheus", "nobody"];

export async function startRbacCluster(scope: Scope): Promise<RbacCluster> {
  const folder = await mkdtemp(path.join(tmpdir(), "kubewright-serving-"));
  const tokens = Object.fromEntries(
    USERS.map((user) => [user, { username: user, groups: user === "admin" ? ["system:masters"] : [] }]),
  );
  const server = createApiServer({
    clock: realClock,
    random: seededRandom(1),
    authorization: "RBAC",
    authentication: { tokens },
  });
  const listener = await listen(server, { port: 0 });
  const stop = async (): Promise<void> => {
    await listener.close();
    await server.close();
  };
  scope.onTestFinished(async () => {
    await stop();
    await rm(folder, { recursive: true });
  });
  const client = new Client({ transport: server.transport, clock: realClock, userAgent: "test" });
  return {
    server,
    client,
    folder,
    stop,
    kubeconfig: async (user) => {
      const file = path.join(folder, `${user}.kubeconfig`);
      await writeKubeconfig(file, listener.url, { token: user });
      return file;
    },
    allow: async (user, rules) => {
      const name = `test-${user}`;
      const group = "rbac.authorization.k8s.io";
      await client.resource(clusterRoles).create({ metadata: { name }, rules: rules ?? [] });
      await client.resource(clusterRoleBindings).create({
        metadata: { name },
        roleRef: { apiGroup: group, kind: "ClusterRole", name },
        subjects: [{ kind: "User", name: user, apiGroup: group }],
      });
    },
  };
}

/** The permissions that a manager needs for delegated authentication and authorization. */
export const DELEGATION: ClusterRole["rules"] = [
  { apiGroups: ["authentication.k8s.io"], resources: ["tokenreviews"], verbs: ["create"] },
  { apiGroups: ["authorization.k8s.io"], resources: ["subjectaccessreviews"], verbs: ["create"] },
  {
    apiGroups: [""],
    resources: ["configmaps"],
    resourceNames: ["extension-apiserver-authentication"],
    verbs: ["get"],
  },
];

/** The permissions of `system:monitoring`. */
export const MONITORING: ClusterRole["rules"] = [
  { nonResourceURLs: ["/metrics", "/metrics/slis", "/readyz/*"], verbs: ["get"] },
];
