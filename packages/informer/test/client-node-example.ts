import { CoreV1Api, KubeConfig, type V1ConfigMap } from "@kubernetes/client-node";
import { createApiServer } from "@kubewright/apiserver";
import { listen } from "@kubewright/apiserver/http";
import { realClock, realRandom } from "@kubewright/clock";
import { makeInformer } from "@kubewright/informer/client-node"; // was: from "@kubernetes/client-node"

const server = createApiServer({ clock: realClock, random: realRandom });
const { url } = await listen(server);
const kubeConfig = new KubeConfig(); // in production: kubeConfig.loadFromDefault()
kubeConfig.loadFromClusterAndUser({ name: "embedded", server: url, skipTLSVerify: true }, { name: "me" });
const api = kubeConfig.makeApiClient(CoreV1Api);

const list = () => api.listNamespacedConfigMap({ namespace: "default" });
const informer = makeInformer<V1ConfigMap>(kubeConfig, "/api/v1/namespaces/default/configmaps", list);
const added = new Promise<void>((resolve) => {
  informer.on("add", (object) => {
    console.log(`${object.metadata?.name} added`);
    resolve();
  });
});
informer.on("error", (error) => console.error(error)); // no restart needed: the informer continues by itself
await informer.start();
await api.createNamespacedConfigMap({ namespace: "default", body: { metadata: { name: "first" } } });
await added;
console.log(informer.get("first", "default")?.kind);

await informer.stop();
await server.close();
