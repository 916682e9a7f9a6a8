/**
 * Flags of kube-controller-manager v1.36 for controllers that are not implemented. They are accepted with any value and
 * ignored, so that its command line starts this binary too.
 */
const VALUE_FLAGS = `
  attach-detach-reconcile-sync-period cidr-allocator-type cloud-config cloud-provider cluster-cidr
  cluster-signing-cert-file cluster-signing-duration cluster-signing-key-file
  cluster-signing-kube-apiserver-client-cert-file cluster-signing-kube-apiserver-client-key-file
  cluster-signing-kubelet-client-cert-file cluster-signing-kubelet-client-key-file
  cluster-signing-kubelet-serving-cert-file cluster-signing-kubelet-serving-key-file
  cluster-signing-legacy-unknown-cert-file cluster-signing-legacy-unknown-key-file
  concurrent-daemonset-syncs concurrent-deployment-syncs concurrent-device-taint-eviction-syncs
  concurrent-endpoint-syncs concurrent-ephemeralvolume-syncs concurrent-horizontal-pod-autoscaler-syncs
  concurrent-namespace-syncs concurrent-node-syncs concurrent-rc-syncs concurrent-replicaset-syncs
  concurrent-resource-claim-syncs concurrent-resource-quota-syncs concurrent-service-endpoint-syncs
  concurrent-service-syncs concurrent-serviceaccount-token-syncs concurrent-statefulset-syncs
  concurrent-validating-admission-policy-status-syncs controllermanager-disruption-syncs
  endpoint-updates-batch-period endpointslice-updates-batch-period external-cloud-volume-plugin
  flex-volume-plugin-dir horizontal-pod-autoscaler-cpu-initialization-period
  horizontal-pod-autoscaler-downscale-stabilization horizontal-pod-autoscaler-initial-readiness-delay
  horizontal-pod-autoscaler-sync-period horizontal-pod-autoscaler-tolerance large-cluster-size-threshold
  leader-migration-config legacy-service-account-token-clean-up-period max-endpoints-per-slice
  mirroring-concurrent-service-endpoint-syncs mirroring-endpointslice-updates-batch-period
  mirroring-max-endpoints-per-subset namespace-sync-period node-cidr-mask-size node-cidr-mask-size-ipv4
  node-cidr-mask-size-ipv6 node-eviction-rate node-monitor-grace-period node-monitor-period
  node-startup-grace-period node-sync-period pv-recycler-increment-timeout-nfs
  pv-recycler-minimum-timeout-hostpath pv-recycler-minimum-timeout-nfs pv-recycler-pod-template-filepath-hostpath
  pv-recycler-pod-template-filepath-nfs pv-recycler-timeout-increment-hostpath pvclaimbinder-sync-period
  resource-quota-sync-period root-ca-file route-reconciliation-period secondary-node-eviction-rate
  service-account-private-key-file service-cluster-ip-range unhealthy-zone-threshold volume-host-cidr-denylist
`;

const BOOL_FLAGS = `
  allocate-node-cidrs allow-untagged-cloud configure-cloud-routes disable-attach-detach-reconcile-sync
  disable-force-detach-on-timeout enable-dynamic-provisioning enable-hostpath-provisioner enable-leader-migration
  volume-host-allow-local-loopback
`;

export interface IgnoredFlag {
  readonly name: string;
  readonly isBool: boolean;
}

export const ignoredFlags: readonly IgnoredFlag[] = [
  ...names(VALUE_FLAGS).map((name) => ({ name, isBool: false })),
  ...names(BOOL_FLAGS).map((name) => ({ name, isBool: true })),
];

function names(text: string): string[] {
  return text.trim().split(/\s+/);
}
