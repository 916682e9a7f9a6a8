import type { Against } from "./backend.js";
import { type TestEnvironment, processEnvironment } from "./processes/environment.js";

/** What a test's cluster is, or the URL of a `kubewright serve --speed manual` that is running. */
export type TestServer = Against | `http://${string}` | `https://${string}`;

/**
 * What tests are to run against: what they say themselves, else `KUBEWRIGHT_TEST_SERVER`, else this process.
 *
 * @throws Error for what is neither.
 */
export function chosenServer(
  against: TestServer | undefined,
  { KUBEWRIGHT_TEST_SERVER: wanted }: TestEnvironment = processEnvironment(),
): TestServer {
  const chosen = against ?? (wanted || "in-process");
  if (/^https?:\/\//.test(chosen) || chosen === "in-process" || chosen === "serve" || chosen === "kube-apiserver")
    return chosen as TestServer;
  const what = against === undefined ? "KUBEWRIGHT_TEST_SERVER" : "against";
  throw new Error(
    `${what}: ${JSON.stringify(chosen)} is none of in-process, serve, kube-apiserver, or the URL of a kubewright serve --speed manual`,
  );
}

/**
 * Why tests cannot run against something here, and what to do about it; `undefined` when they can. In vitest
 * `skip(missing !== undefined, missing)` skips a test with that as the reason.
 */
export async function missingTestServer(
  against?: TestServer,
  environment: TestEnvironment = processEnvironment(),
): Promise<string | undefined> {
  const chosen = chosenServer(against, environment);
  if (chosen !== "serve" && chosen !== "kube-apiserver") return undefined;
  const { missingKubeApiServer, missingServe } = await import("./processes/index.js");
  return chosen === "serve" ? missingServe() : missingKubeApiServer(environment.KUBEBUILDER_ASSETS);
}
