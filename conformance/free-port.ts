export { freePort } from "@kubewright/testing/processes";
