import type { ExecAuth } from "@kubernetes/client-node/dist/exec_auth.js";

import type { ExecPlugin } from "./connection-options.js";
import type { Identity, IdentitySource } from "./identity.js";

/**
 * Credentials from a plugin, run by @kubernetes/client-node and kept until they expire. After a 401 the plugin is run
 * again for the next request; the refused one stays refused. However many requests wait, the plugin runs once.
 *
 * Not passed on to the plugin: the cluster (`provideClusterInfo`). Upstream: client-go `plugin/pkg/client/auth/exec`.
 */
export class ExecIdentity implements IdentitySource {
  readonly #plugin: ExecPlugin;
  #auth: ExecAuth | undefined;
  #identity: Identity | undefined;
  #running: Promise<Identity> | undefined;

  constructor(plugin: ExecPlugin) {
    this.#plugin = plugin;
  }

  current(): Promise<Identity> {
    this.#running ??= this.#run().finally(() => (this.#running = undefined));
    return this.#running;
  }

  rejected(identity: Identity): void {
    if (identity === this.#identity) this.#auth = undefined;
  }

  async #run(): Promise<Identity> {
    const answer: { headers: Record<string, string>; cert?: string; key?: string } = { headers: {} };
    try {
      this.#auth ??= await loadExecAuth();
      await this.#auth.applyAuthentication({ name: "user", exec: this.#withExecInfo() }, answer);
    } catch (error) {
      throw new Error(`getting credentials: ${this.#explain(error as NodeJS.ErrnoException)}`, { cause: error });
    }
    const { headers, cert, key } = answer;
    const authorization = headers.Authorization;
    if (authorization === undefined && cert === undefined && key === undefined) {
      throw new Error("getting credentials: exec plugin didn't return a token or cert/key pair");
    }
    if ((cert === undefined) !== (key === undefined)) {
      throw new Error("getting credentials: exec plugin returned only certificate or key, not both");
    }
    const known = this.#identity;
    if (known === undefined || known.authorization !== authorization || known.cert !== cert || known.key !== key) {
      this.#identity = {
        ...(authorization === undefined ? {} : { authorization }),
        ...(cert === undefined || key === undefined ? {} : { cert, key }),
      };
    }
    return this.#identity!;
  }

  #withExecInfo(): object {
    const { apiVersion, env = [] } = this.#plugin;
    const info = { kind: "ExecCredential", apiVersion, spec: { interactive: false } };
    return { ...this.#plugin, env: [...env, { name: "KUBERNETES_EXEC_INFO", value: JSON.stringify(info) }] };
  }

  #explain(error: NodeJS.ErrnoException): string {
    const { command } = this.#plugin;
    if (error.code === "ENOENT") return `exec: executable ${command} not found`;
    if (error instanceof TypeError) return "exec plugin didn't return a status field";
    if (error instanceof SyntaxError)
      return `exec: executable ${command} did not print an ExecCredential: ${error.message}`;
    return `exec: executable ${command} failed: ${error.message.trim() || "it printed nothing"}`;
  }
}

/** This part of the package alone: its index loads every generated API class, which costs about 85 MiB. */
async function loadExecAuth(): Promise<ExecAuth> {
  const { ExecAuth: Auth } = await import("@kubernetes/client-node/dist/exec_auth.js");
  return new Auth();
}
