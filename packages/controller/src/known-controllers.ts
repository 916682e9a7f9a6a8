/** A controller of kube-controller-manager, whether kubewright implements it or not. */
export interface KnownController {
  /** Name in `--controllers`, health checks and logs. */
  readonly name: string;
  /** Its name before v1.27; still accepted. */
  readonly alias?: string;
}

const KNOWN: readonly (readonly [name: string, alias?: string])[] = [
  ["job-controller", "job"],
  ["cronjob-controller", "cronjob"],
  ["pod-garbage-collector-controller", "podgc"],
  ["ttl-after-finished-controller", "ttl-after-finished"],
  ["garbage-collector-controller", "garbagecollector"],
  ["serviceaccount-token-controller", "serviceaccount-token"],
  ["endpoints-controller", "endpoint"],
  ["endpointslice-controller", "endpointslice"],
  ["endpointslice-mirroring-controller", "endpointslicemirroring"],
  ["replicationcontroller-controller", "replicationcontroller"],
  ["resourcequota-controller", "resourcequota"],
  ["namespace-controller", "namespace"],
  ["serviceaccount-controller", "serviceaccount"],
  ["daemonset-controller", "daemonset"],
  ["deployment-controller", "deployment"],
  ["replicaset-controller", "replicaset"],
  ["horizontal-pod-autoscaler-controller", "horizontalpodautoscaling"],
  ["disruption-controller", "disruption"],
  ["statefulset-controller", "statefulset"],
  ["certificatesigningrequest-signing-controller", "csrsigning"],
  ["certificatesigningrequest-approving-controller", "csrapproving"],
  ["certificatesigningrequest-cleaner-controller", "csrcleaner"],
  ["podcertificaterequest-cleaner-controller"],
  ["ttl-controller", "ttl"],
  ["bootstrap-signer-controller", "bootstrapsigner"],
  ["token-cleaner-controller", "tokencleaner"],
  ["node-ipam-controller", "nodeipam"],
  ["node-lifecycle-controller", "nodelifecycle"],
  ["taint-eviction-controller"],
  ["device-taint-eviction-controller"],
  ["persistentvolume-binder-controller", "persistentvolume-binder"],
  ["persistentvolume-attach-detach-controller", "attachdetach"],
  ["persistentvolume-expander-controller", "persistentvolume-expander"],
  ["clusterrole-aggregation-controller", "clusterrole-aggregation"],
  ["persistentvolumeclaim-protection-controller", "pvc-protection"],
  ["persistentvolume-protection-controller", "pv-protection"],
  ["podgroup-protection-controller"],
  ["root-ca-certificate-publisher-controller", "root-ca-cert-publisher"],
  ["service-ca-certificate-publisher-controller", "service-ca-cert-publisher"],
  ["kube-apiserver-serving-clustertrustbundle-publisher-controller"],
  ["ephemeral-volume-controller", "ephemeral-volume"],
  ["storageversion-garbage-collector-controller", "storage-version-gc"],
  ["resourceclaim-controller", "resource-claim-controller"],
  ["resourcepoolstatusrequest-controller"],
  ["legacy-serviceaccount-token-cleaner-controller", "legacy-service-account-token-cleaner"],
  ["validatingadmissionpolicy-status-controller"],
  ["volumeattributesclass-protection-controller"],
  ["service-cidr-controller"],
  ["storage-version-migrator-controller", "svm"],
  ["selinux-warning-controller"],
  ["service-lb-controller", "service"],
  ["node-route-controller", "route"],
  ["cloud-node-lifecycle-controller", "cloud-node-lifecycle"],
];

/**
 * All controllers of kube-controller-manager v1.36, so that the command line of a real cluster works.
 *
 * @see kubernetes v1.36 cmd/kube-controller-manager/names/controller_names.go
 */
export const knownControllers: readonly KnownController[] = KNOWN.map(([name, alias]) =>
  alias === undefined ? { name } : { name, alias },
);
