import { configMaps } from "@kubewright/api";
import { type Client, isNotFound } from "@kubewright/client";

import type { ClientAuthorities } from "./authenticator.js";

const NAMESPACE = "kube-system";
const NAME = "extension-apiserver-authentication";

/**
 * Reads the authorities for client certificates and front proxies from the ConfigMap that the API server writes for
 * components like this one. Without the ConfigMap there are none.
 *
 * @throws Error when the ConfigMap cannot be read, or a value is no list.
 * @see kubernetes v1.36 staging/src/k8s.io/apiserver/pkg/server/options/authentication_dynamic_request_header.go
 */
export async function readClusterAuthorities(client: Pick<Client, "resource">): Promise<ClientAuthorities> {
  let data: Readonly<Record<string, string>>;
  try {
    data = (await client.resource(configMaps).get(NAME, { namespace: NAMESPACE })).data ?? {};
  } catch (error) {
    if (isNotFound(error)) return { clientCA: undefined, requestHeader: undefined };
    throw error;
  }
  const authorities = data["requestheader-client-ca-file"];
  return {
    clientCA: data["client-ca-file"] || undefined,
    requestHeader: authorities
      ? {
          authorities,
          usernameHeaders: lowerCased(listIn(data, "requestheader-username-headers")),
          uidHeaders: lowerCased(listIn(data, "requestheader-uid-headers")),
          groupHeaders: lowerCased(listIn(data, "requestheader-group-headers")),
          extraHeaderPrefixes: lowerCased(listIn(data, "requestheader-extra-headers-prefix")),
          allowedNames: listIn(data, "requestheader-allowed-names"),
        }
      : undefined,
  };
}

function listIn(data: Readonly<Record<string, string>>, key: string): string[] {
  const text = data[key];
  if (text === undefined || text === "") return [];
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch (error) {
    throw new Error(`${key} in ConfigMap ${NAMESPACE}/${NAME} is no JSON list of strings`, { cause: error });
  }
  if (list === null) return [];
  if (!Array.isArray(list) || list.some((each) => typeof each !== "string"))
    throw new Error(`${key} in ConfigMap ${NAMESPACE}/${NAME} is no JSON list of strings`);
  return list as string[];
}

export function lowerCased(names: readonly string[]): string[] {
  return names.map((name) => name.toLowerCase());
}
