import { type ObjectOf, defineCustomResource, defineVersion } from "@kubewright/operator";
import { conversionWebhook, deny, mutatingWebhook, validatingWebhook } from "@kubewright/operator/webhooks";
import { z } from "zod";

const names = {
  group: "example.com",
  kind: "Website",
  scope: "Namespaced",
} as const;

/** A website with several hosts. This version is stored. */
export const websites = defineCustomResource({
  ...names,
  version: "v1",
  spec: z.object({
    hosts: z.array(z.string().min(1)).min(1).describe("Host names, the main one first."),
    text: z.string().optional().describe("Default: a greeting with the main host."),
  }),
  status: z.object({ mainHost: z.string() }),
});
export type Website = ObjectOf<typeof websites>;

/** The version before, with one host. */
export const websitesV1beta1 = defineVersion(websites, {
  version: "v1beta1",
  spec: z.object({ host: z.string().min(1), text: z.string().optional() }),
  status: z.object({ mainHost: z.string() }),
  toStored: ({ spec: { host, ...rest } }) => ({
    spec: { hosts: [host], ...rest },
  }),
  fromStored: ({ spec: { hosts, ...rest } }) => ({
    spec: { host: hosts[0]!, ...rest },
  }),
});

/** Sets defaults, refuses another main host, and converts between the versions. */
export const webhooks = [
  mutatingWebhook(websites, ({ object }) => {
    object.spec.hosts = object.spec.hosts.map((host) => host.toLowerCase());
    object.spec.text ??= `Welcome to ${object.spec.hosts[0]}`;
  }),
  validatingWebhook(websites, ({ object, oldObject }) =>
    oldObject !== undefined && oldObject.spec.hosts[0] !== object.spec.hosts[0]
      ? deny("spec.hosts: the main host may not change")
      : undefined,
  ),
  conversionWebhook(websites, [websitesV1beta1]),
];
