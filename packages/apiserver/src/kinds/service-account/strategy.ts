import { type ServiceAccount, serviceAccounts } from "@kubewright/api";

import { builtInResource, standardVerbs } from "../../built-in-resource.js";
import type { ResourceStrategy } from "../../strategy.js";
import { requestToken } from "./token-request.js";
import { age, columns } from "../table-cells.js";

/** Upstream: `pkg/registry/core/serviceaccount`. */
export const serviceAccountStrategy: ResourceStrategy<ServiceAccount> = {
  prepareForCreate: keepOnlySecretNames,
  prepareForUpdate: keepOnlySecretNames,
  deleteReturnsObject: true,
  printer: {
    columns: columns("Name", "Age"),
    cells: ({ metadata }, nowMs) => [metadata.name ?? "", age(metadata.creationTimestamp, nowMs)],
  },
};

export const serviceAccountResource = builtInResource<ServiceAccount>({
  definition: serviceAccounts,
  singular: "serviceaccount",
  shortNames: ["sa"],
  listKind: "ServiceAccountList",
  verbs: standardVerbs,
  strategy: serviceAccountStrategy,
  subresources: {
    token: {
      body: { group: "authentication.k8s.io", version: "v1", kind: "TokenRequest" },
      handlers: { create: requestToken },
    },
  },
});

/** Drops all fields of secret references except the name. A secret is always in the account's namespace. */
function keepOnlySecretNames(account: ServiceAccount): void {
  if (account.secrets === undefined) return;
  account.secrets = account.secrets.map(({ name }) => (name === undefined ? {} : { name }));
}
