import { writeFile } from "node:fs/promises";

/** Writes a kubeconfig for one server and one user. */
export async function writeKubeconfig(file: string, server: string, user: object = {}): Promise<void> {
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "c", cluster: { server } }],
    users: [{ name: "u", user }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    "current-context": "x",
  };
  await writeFile(file, JSON.stringify(config));
}
