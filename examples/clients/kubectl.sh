#!/bin/sh
# One test after the other with kubectl alone, each in a fresh cluster whose clock it owns. In another shell:
#
#   npx kubewright serve --speed manual --start 2030-01-01T00:00:00Z --kubeconfig kubeconfig
#
# and here, once it has said "kubewright is ready": KUBECONFIG=kubeconfig sh kubectl.sh
set -eu

post() { printf '%s' "$2" | kubectl create --raw "/_kubewright/$1" -f -; }

for duration in 10m 2h; do
  post reset '{}'
  kubectl create -f - <<JOB
apiVersion: batch/v1
kind: Job
metadata: { name: report }
spec:
  template:
    metadata: { annotations: { sim.kubewright.dev/duration: $duration } }
    spec: { restartPolicy: Never, containers: [{ name: main, image: busybox }] }
JOB
  post clock/advance '{"seconds": 3600, "settleMs": 20}'
  echo
  echo "$duration: succeeded $(kubectl get job report -o 'jsonpath={.status.succeeded}'), active $(kubectl get job report -o 'jsonpath={.status.active}')"
done
