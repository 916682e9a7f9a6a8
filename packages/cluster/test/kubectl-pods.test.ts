import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { KubectlCluster, OLDEST_KUBECTL, whyKubectlIsMissing } from "./kubectl-fixture.js";

const pod = `
apiVersion: v1
kind: Pod
metadata:
  name: p
  annotations: { sim.kubewright.dev/duration: 1h }
spec:
  containers:
    - name: main
      image: busybox
      resources: { requests: { cpu: 100m }, limits: { cpu: "1" } }
`;
const NOTHING_RUNS = "kubewright runs no containers, they are only simulated";

describe.skipIf(whyKubectlIsMissing !== undefined)(`kubectl (1.${OLDEST_KUBECTL} or newer) and running pods`, () => {
  let k: KubectlCluster;

  beforeAll(async () => {
    k = await KubectlCluster.start();
    await k.kubectl("apply -f -", { input: pod });
    await k.kubectl("wait --for=jsonpath={.status.phase}=Running pod/p --timeout=60s");
  });
  afterAll(() => k.close());

  test.each([
    ["exec p -- ls", 'cannot execute a command in container "main" of pod "p"'],
    ["attach p", 'cannot attach to container "main" of pod "p"'],
    ["port-forward pod/p 0:80", 'cannot forward ports to pod "p"'],
    ["cp p:/etc/hosts hosts", 'cannot execute a command in container "main" of pod "p"'],
  ])("%s is answered in plain words", async (command, output) => {
    const { code, stderr } = await k.run(command);
    expect(code).toBe(1);
    expect(stderr).toContain(`${output}: ${NOTHING_RUNS}`);
  });

  test("requests that a kubelet would refuse are refused with its message", async () => {
    expect((await k.run("exec none -- ls")).stderr).toContain('pods "none" not found');
    expect((await k.run("exec p -c other -- ls")).stderr).toContain("container other is not valid for pod p");
  });

  test("debug adds a container beside the others", async () => {
    await k.kubectl("debug p --image=busybox --container=debugger -- sleep 1");
    expect(await k.kubectl("get pod p -o jsonpath='{.spec.ephemeralContainers[*].name}'")).toBe("debugger");
    const again = await k.run("debug p --image=busybox --container=main -- sleep 1");
    expect(again.stderr).toContain("main");
    expect(again.code).toBe(1);
  });

  test("patch --subresource resize changes what a container may use", async () => {
    const patch = (cpu: string): string =>
      JSON.stringify({ spec: { containers: [{ name: "main", resources: { requests: { cpu } } }] } });
    expect(await k.kubectl(`patch pod p --subresource resize -p '${patch("500m")}'`)).toBe("pod/p patched\n");
    expect(await k.kubectl("get pod p -o jsonpath='{.spec.containers[0].resources.requests.cpu}'")).toBe("500m");
    expect((await k.run(`patch pod p --subresource resize -p '${patch("2")}'`)).stderr).toContain(
      "must be less than or equal to cpu limit of 1",
    );
  });
});
