import type { TypeDeclarations } from "../../schema/type-declarations.js";

/** The types of networking.k8s.io/v1. */
export const networkingTypes: TypeDeclarations = {
  fields: {
    Ingress: "metadata:ObjectMeta spec+:IngressSpec status+:IngressStatus | apiVersion kind",
    IngressClass: "metadata:ObjectMeta spec+:IngressClassSpec | apiVersion kind",
    NetworkPolicy: "metadata:ObjectMeta spec+:NetworkPolicySpec | apiVersion kind",
    // Errors show the rules of an Ingress as they were sent. `ingress.ts` drops an empty list.
    IngressSpec: "defaultBackend:IngressBackend tls:[]IngressTLS rules*:[]IngressRule ingressClassName*",
    IngressStatus: "loadBalancer+:IngressLoadBalancerStatus",
    IngressClassSpec: "controller parameters:IngressClassParametersReference",
    NetworkPolicySpec:
      "podSelector+:LabelSelector ingress:[]NetworkPolicyIngressRule egress:[]NetworkPolicyEgressRule policyTypes:[]string",
    IngressBackend: "- - resource:TypedLocalObjectReference service:IngressServiceBackend",
    IngressRule: "host ~IngressRuleValue",
    IngressTLS: "hosts:[]string secretName",
    IngressLoadBalancerStatus: "ingress:[]IngressLoadBalancerIngress",
    IngressClassParametersReference: "apiGroup* kind!+ name!+ scope* namespace*",
    NetworkPolicyEgressRule: "ports:[]NetworkPolicyPort to:[]NetworkPolicyPeer",
    NetworkPolicyIngressRule: "ports:[]NetworkPolicyPort from:[]NetworkPolicyPeer",
    IngressServiceBackend: "name!+ port+:ServiceBackendPort",
    HTTPIngressRuleValue: "paths!+*:[]HTTPIngressPath",
    IngressLoadBalancerIngress: "ip hostname - ports:[]IngressPortStatus",
    NetworkPolicyPort: "protocol* port:intOrString endPort:int32",
    NetworkPolicyPeer: "podSelector:LabelSelector namespaceSelector:LabelSelector ipBlock:IPBlock",
    ServiceBackendPort: "name number?:int32",
    HTTPIngressPath: "path backend!+:IngressBackend pathType!+*",
    IngressPortStatus: "port!+:int32 protocol!+ error*",
    IPBlock: "cidr!+ except:[]string",
    IngressRuleValue: "http:HTTPIngressRuleValue",
  },
  atomicTypes: new Set(["ServiceBackendPort"]),
};
