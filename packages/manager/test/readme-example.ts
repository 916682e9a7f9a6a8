import { kubernetesControllers } from "@kubewright/manager/kubernetes";

const controllers = kubernetesControllers({ "job-controller": { workers: 10 } }, [
  "job-controller",
  "cronjob-controller",
]);
console.log(controllers.map(({ name, sharing }) => `${name}: ${sharing}`).join("\n"));
