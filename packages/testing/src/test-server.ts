import type { Against } from "./backend.js";
import { type TestEnvironment, processEnvironment } from "./processes/environment.js";

/** Kind of a test's cluster, or the URL of a running `kubewright serve --speed manual`. */
export type TestServer = Against | `http://${string}` | `https://${string}`;

/**
 * Returns the cluster to test against: the given one, or else `KUBEWRIGHT_TEST_SERVER`, or else `in-process`.
 *
 * @throws Error for an unknown value.
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
 * Returns why the tests cannot use a cluster and what to install; `undefined` when they can. In vitest `skip(missing
 * !== undefined, missing)` skips a test with that reason.
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
