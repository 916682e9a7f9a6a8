import { type ServiceAccount, serviceAccounts } from "@kubewright/api";

import { builtInResource } from "../../built-in-resource.js";
import type { ResourceStrategy } from "../../strategy.js";
import { requestToken } from "./token-request.js";
import { ageCell, table } from "../table-cells.js";

/** Upstream: `pkg/registry/core/serviceaccount`. */
export const serviceAccountStrategy: ResourceStrategy<ServiceAccount> = {
  prepareForCreate: keepOnlySecretNames,
  prepareForUpdate: keepOnlySecretNames,
  deleteReturnsObject: true,
  printer: table<ServiceAccount>({ Age: ageCell }),
};

export const serviceAccountResource = builtInResource<ServiceAccount>({
  definition: serviceAccounts,
  shortNames: ["sa"],
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
