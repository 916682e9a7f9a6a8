import { parseRequestUrl } from "@kubewright/transport";
import { expect, test } from "vitest";

import { Query } from "./query.js";
import { requestInfo } from "./request-info.js";

/** Returns `verb group/resource/subresource namespace name`, or `verb path`. */
function described(method: string, text: string): string {
  const url = parseRequestUrl(text)!;
  const { verb, resource, path } = requestInfo(method, url.path, new Query(url.query));
  if (resource === undefined) return `${verb} ${path}`;
  const { group, resource: plural, subresource, namespace, name } = resource;
  return [verb, `${group}/${plural}/${subresource}`, namespace, name].join(" ").trimEnd();
}

test.each([
  ["GET", "/api/v1/pods", "list /pods/"],
  ["GET", "/api/v1/pods/?watch", "watch /pods/"],
  ["GET", "/api/v1/namespaces/a/pods/p?watch=1", "get /pods/ a p"],
  ["GET", "/api/v1/watch/namespaces/a/pods/p", "watch /pods/ a p"],
  ["DELETE", "/api/v1/watch/namespaces/a/pods/p", "watch /pods/ a p"],
  ["DELETE", "/apis/batch/v1/namespaces/a/jobs", "deletecollection batch/jobs/ a"],
  ["PATCH", "/apis/batch/v1/namespaces/a/jobs/j/status", "patch batch/jobs/status a j"],
  ["GET", "/api/v1/namespaces/a", "get /namespaces/ a a"],
  ["PUT", "/api/v1/namespaces/a/finalize", "update /namespaces/finalize a a"],
  ["GET", "/api/v1/namespaces//pods", "list /pods/"],
  ["GET", "/api/v1/namespaces/a%2Fpods%2Fp", "get /pods/ a p"],
  ["GET", "/api/v1/namespaces/a/pods/p%252Fq", "get /pods/ a p%2Fq"],
  ["GET", "/api/v1/namespaces/../pods/.", "get /pods/ .. ."],
  ["GET", "//api/v1/pods//", "list /pods/"],
  ["GET", "/api/v1//pods", "get //  pods"],
  ["GET", "/apis//v1/pods", "list /pods/"],
  ["GET", "/api/v1/proxy/namespaces/a/pods/p", "proxy /pods/ a p"],
  ["OPTIONS", "/api/v1/pods", " /pods/"],
  ["GET", "/api/v1/pods?fieldSelector=metadata.name%3Dp", "list /pods/  p"],
  ["GET", "/api/v1/pods?fieldSelector=metadata.name!%3Dp", "list /pods/"],
  ["GET", "/api/v1/pods?fieldSelector=metadata.namespace!%3Da%5C,metadata.name%3Dp", "list /pods/"],
  ["GET", "/api/v1/pods?fieldSelector=metadata.name%3D..", "list /pods/"],
  ["GET", "/api/v1/pods?fieldSelector=metadata.name%3Dp%zz", "list /pods/"],
  ["HEAD", "/apis/batch/v1", "head /apis/batch/v1"],
  ["GET", "/metrics", "get /metrics"],
  ["GET", "/%6detrics", "get /metrics"],
  ["GET", "/", "get /"],
])("%s %s is %s", (method, url, expected) => {
  expect(described(method, url)).toBe(expected);
});
