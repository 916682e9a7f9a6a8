import type { Clock } from "@kubewright/clock";

import type { ConnectionOptions, ExecPlugin } from "./connection-options.js";
import { type ExecCredential, checkApiVersion, decodeExecCredential, execInfo } from "./exec-credential.js";
import type { Identity, IdentitySource } from "./identity-source.js";
import { CommandError, runCommand, escapeControlCharacters } from "./run-command.js";

export interface ExecIdentityOptions {
  readonly plugin: ExecPlugin;
  /** The connection data that the plugin may get. */
  readonly connection: ConnectionOptions;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly warn: (message: string) => void;
}

/**
 * Credentials of a plugin, cached until they expire. After a 401 the plugin runs again for the next request; the
 * rejected request is not repeated. The plugin runs once for all waiting requests.
 *
 * Upstream (client-go `plugin/pkg/client/auth/exec`) waits for a plugin without a time-out, lets it read from a
 * terminal, and runs one plugin for all transports with equal configuration.
 */
export class ExecIdentity implements IdentitySource {
  readonly #options: ExecIdentityOptions;
  readonly #closing = new AbortController();
  #identity: Identity | undefined;
  #expiresMs = -Infinity;
  #running: Promise<Identity> | undefined;

  /** @throws Error for a plugin with an unsupported version. */
  constructor(options: ExecIdentityOptions) {
    checkApiVersion(options.plugin);
    this.#options = options;
  }

  current(): Identity | Promise<Identity> {
    if (this.#identity !== undefined && this.#options.clock.now() <= this.#expiresMs) return this.#identity;
    this.#running ??= this.#refresh().finally(() => (this.#running = undefined));
    return this.#running;
  }

  rejected(identity: Identity): void {
    if (identity === this.#identity) this.#expiresMs = -Infinity;
  }

  /** Kills a running plugin. */
  close(): void {
    this.#closing.abort(new Error("the connection was closed"));
  }

  async #refresh(): Promise<Identity> {
    let credential: ExecCredential;
    try {
      credential = await this.#runPlugin();
    } catch (error) {
      throw new Error(`getting credentials: ${(error as Error).message}`, { cause: error });
    }
    const { token, cert, key, expiresMs } = credential;
    this.#expiresMs = expiresMs;
    const authorization = token === "" ? undefined : `Bearer ${token}`;
    const known = this.#identity;
    if (known === undefined || known.authorization !== authorization || (known.cert ?? "") !== cert) {
      this.#identity = {
        ...(authorization === undefined ? {} : { authorization }),
        ...(cert === "" ? {} : { cert, key }),
      };
    }
    return this.#identity!;
  }

  async #runPlugin(): Promise<ExecCredential> {
    const { plugin, connection, ...options } = this.#options;
    const { command, args = [], env = [], apiVersion, interactiveMode = "Never" } = plugin;
    if (interactiveMode === "Always")
      throw new Error("exec plugin cannot support interactive mode: standard input is unavailable");
    const variables = Object.fromEntries(env.map(({ name, value }) => [name, value]));
    let output: string;
    try {
      output = await runCommand({
        ...options,
        command,
        args,
        env: { ...variables, KUBERNETES_EXEC_INFO: execInfo(plugin, connection) },
        signal: this.#closing.signal,
      });
    } catch (error) {
      throw new Error(describeFailure(error as Error, plugin), { cause: error });
    }
    return decodeExecCredential(output, apiVersion);
  }
}

function describeFailure(error: Error, { command, installHint = "" }: ExecPlugin): string {
  if (!(error instanceof CommandError)) return `exec: ${error.message}`;
  if (!error.notFound) return `exec: executable ${command} ${error.message}`;
  // Upstream prints the hint unchanged, over several lines.
  const hint = escapeControlCharacters(installHint.replaceAll(/\s+/g, " ").trim());
  return `exec: executable ${command} not found${hint === "" ? "" : `: ${hint}`}`;
}
