import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { promisify } from "node:util";

const execute = promisify(execFile);

/** An unused hardware address: frames sent to it are lost without an error. */
const NOWHERE = "02:00:00:00:00:ff";

/**
 * A network namespace, connected to this one by a link that can lose packets silently: both ends consider the
 * connection open, and neither gets an error. Needs Linux, iproute2 and permission to create namespaces.
 */
export class SeverableNetwork {
  readonly #name: string;
  readonly #ourAddress: string;
  /** Address of the remote end. */
  readonly address: string;
  readonly #processes: ChildProcess[] = [];

  private constructor(id: number) {
    this.#name = `sever${id}`;
    // A subnet of four addresses from the range for tests (RFC 2544).
    const subnet = `198.18.${(id >> 6) & 255}`;
    const first = (id & 63) * 4;
    this.#ourAddress = `${subnet}.${first + 1}`;
    this.address = `${subnet}.${first + 2}`;
  }

  /** @throws Error with the reason why no network namespace can be created. */
  static async create(): Promise<SeverableNetwork> {
    const network = new SeverableNetwork(process.pid);
    const name = network.#name;
    await ip("netns", "add", name);
    try {
      await ip("link", "add", name, "type", "veth", "peer", "name", "far", "netns", name);
      await ip("address", "add", `${network.#ourAddress}/30`, "dev", name);
      await ip("link", "set", name, "up");
      await ip("-n", name, "address", "add", `${network.address}/30`, "dev", "far");
      await ip("-n", name, "link", "set", "far", "up");
      return network;
    } catch (error) {
      await network.close();
      throw error;
    }
  }

  /** Runs a program at the remote end. Resolves with the first line it prints. */
  async run(command: string, ...args: readonly string[]): Promise<string> {
    const child = spawn("ip", ["netns", "exec", this.#name, command, ...args], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.#processes.push(child);
    for await (const chunk of child.stdout) return String(chunk);
    throw new Error(`${command} ended without a word`);
  }

  async sever(): Promise<void> {
    await ip("neighbor", "replace", this.address, "lladdr", NOWHERE, "dev", this.#name, "nud", "permanent");
    const far = ["lladdr", NOWHERE, "dev", "far", "nud", "permanent"];
    await ip("-n", this.#name, "neighbor", "replace", this.#ourAddress, ...far);
  }

  async restore(): Promise<void> {
    await ip("neighbor", "delete", this.address, "dev", this.#name);
    await ip("-n", this.#name, "neighbor", "delete", this.#ourAddress, "dev", "far");
  }

  /** Also deletes the link. */
  async close(): Promise<void> {
    for (const child of this.#processes) {
      if (child.exitCode !== null || !child.kill()) continue;
      await once(child, "exit");
    }
    await ip("netns", "delete", this.#name);
  }
}

async function ip(...args: readonly string[]): Promise<void> {
  await execute("ip", args);
}
