import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { request } from "node:http";
import { fileURLToPath } from "node:url";

const BINARY = fileURLToPath(new URL("../bin/kubewright.js", import.meta.url));
const BUILT = fileURLToPath(new URL("../dist/main.js", import.meta.url));
const MAX_START_MS = 60_000;

/** Response of a server. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

export interface RawRequest {
  readonly method?: string;
  /** Sent unchanged: `..` and `%zz` are not normalized. */
  readonly path: string;
  /** Sent unchanged. Default `host`: the server's own. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Exit code and standard error of a command. */
export interface Ended {
  readonly code: number | null;
  readonly stderr: string;
}

/** Runs the built `kubewright serve` in a separate process. */
export class ServedProcess {
  readonly url: string;
  readonly port: number;
  /** Resolves when the ready line is printed. */
  readonly ready: Promise<void>;
  readonly #child: ChildProcess;
  readonly #ended: Promise<Ended>;

  private constructor(url: string, child: ChildProcess, ready: Promise<void>, ended: Promise<Ended>) {
    this.url = url;
    this.ready = ready;
    this.port = Number(new URL(url).port);
    this.#child = child;
    this.#ended = ended;
  }

  /** @throws Error with standard error, if the server does not start. */
  static async start(node: string, flags: readonly string[]): Promise<ServedProcess> {
    const {
      child,
      said: output,
      ended,
    } = launch(node, ["--port", "0", "--controllers", "", "--kubelet", "none", ...flags]);
    const ready = output(/^kubewright is ready$/m).then(() => {});
    const url = await Promise.race([output(/Serving on (\S+)/), ended.then(({ stderr }) => new Error(stderr))]);
    if (url instanceof Error) throw url;
    return new ServedProcess(url, child, ready, ended);
  }

  /** Runs the command with flags that it must refuse. */
  static async refuse(node: string, flags: readonly string[]): Promise<Ended> {
    const { child, said, ended } = launch(node, ["--port", "0", ...flags]);
    const served = said(/Serving on (\S+)/).then((url) => ({ code: null, stderr: `serves on ${url}` }));
    const result = await Promise.race([ended, served]);
    child.kill("SIGKILL");
    return result;
  }

  send({ method = "GET", path, headers = {}, body }: RawRequest): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const all = { host: `127.0.0.1:${this.port}`, ...headers };
      const options = { host: "127.0.0.1", port: this.port, method, path, headers: all, agent: false as const };
      const sent = request(options, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
        response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
      });
      sent.on("error", reject);
      sent.end(body);
    });
  }

  /** Sends SIGTERM. */
  stop(): Promise<Ended> {
    this.#child.kill("SIGTERM");
    return this.#ended;
  }
}

function launch(
  node: string,
  flags: readonly string[],
): { child: ChildProcess; said: (pattern: RegExp) => Promise<string>; ended: Promise<Ended> } {
  if (!existsSync(BUILT)) throw new Error(`${BUILT} does not exist: run "npm run build" first`);
  const child = spawn(node, [BINARY, "serve", ...flags], {
    stdio: ["ignore", "ignore", "pipe"],
    timeout: MAX_START_MS * 2,
  });
  let stderr = "";
  const onMatch = new Set<() => void>();
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
    for (const listener of onMatch) listener();
  });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, stderr }));
  });
  const said = (pattern: RegExp): Promise<string> =>
    new Promise((resolve) => onMatch.add(() => resolveMatch(pattern.exec(stderr), resolve)));
  return { child, said, ended };
}

function resolveMatch(match: RegExpExecArray | null, resolve: (text: string) => void): void {
  if (match !== null) resolve(match[1] ?? "");
}
