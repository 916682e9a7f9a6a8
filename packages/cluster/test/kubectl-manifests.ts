/** A Job whose pods run for a short time. */
export const job = (name: string, { completions = 1, duration = "100ms", suspend = false } = {}): string => `
apiVersion: batch/v1
kind: Job
metadata:
  name: ${name}
  labels: { app: ${name} }
spec:
  completions: ${completions}
  parallelism: ${completions}
  suspend: ${suspend}
  template:
    metadata:
      labels: { app: ${name} }
      annotations:
        sim.kubewright.dev/startup-delay: 50ms
        sim.kubewright.dev/duration: ${duration}
    spec:
      restartPolicy: Never
      containers:
        - name: main
          image: busybox:1.36
          command: [sh, -c, "echo hello"]
          env:
            - { name: GREETING, value: hello }
          resources:
            requests: { cpu: "1", memory: 64Mi }
`;

export const cronJob = (name: string, { suspend = true } = {}): string => `
apiVersion: batch/v1
kind: CronJob
metadata:
  name: ${name}
  labels: { app: ${name} }
spec:
  schedule: "0 2 * * *"
  timeZone: Europe/Zurich
  suspend: ${suspend}
  concurrencyPolicy: Forbid
  jobTemplate:
    metadata:
      labels: { app: ${name} }
    spec:
      template:
        metadata:
          annotations:
            sim.kubewright.dev/startup-delay: 50ms
            sim.kubewright.dev/duration: 100ms
        spec:
          restartPolicy: OnFailure
          containers:
            - name: main
              image: busybox:1.36
`;

export const pod = (name: string, { duration = "10m" } = {}): string => `
apiVersion: v1
kind: Pod
metadata:
  name: ${name}
  labels: { app: ${name} }
  annotations:
    sim.kubewright.dev/startup-delay: 50ms
    sim.kubewright.dev/duration: ${duration}
    sim.kubewright.dev/ignore-sigterm: "false"
spec:
  restartPolicy: Never
  terminationGracePeriodSeconds: 2
  containers:
    - name: main
      image: busybox:1.36
`;

export const configMap = (name: string, data: Readonly<Record<string, string>>): string =>
  JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data });

/** A resource with defaults, validation, printer columns, a status and a scale. */
export const cronTabDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: crontabs.stable.example.com
spec:
  group: stable.example.com
  scope: Namespaced
  names: { plural: crontabs, singular: crontab, kind: CronTab, shortNames: [ct], categories: [all] }
  versions:
    - name: v1
      served: true
      storage: true
      subresources:
        status: {}
        scale: { specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas, labelSelectorPath: .status.labelSelector }
      additionalPrinterColumns:
        - { name: Spec, type: string, jsonPath: .spec.cronSpec }
        - { name: Replicas, type: integer, jsonPath: .spec.replicas }
        - { name: Image, type: string, jsonPath: .spec.image, priority: 1 }
        - { name: Age, type: date, jsonPath: .metadata.creationTimestamp }
      schema:
        openAPIV3Schema:
          type: object
          description: A line of a crontab.
          properties:
            spec:
              type: object
              required: [cronSpec]
              properties:
                cronSpec: { type: string, pattern: '^(\\S+ ){4}\\S+$', description: When to run. }
                image: { type: string, default: busybox }
                replicas: { type: integer, minimum: 0, maximum: 10, default: 1 }
            status:
              type: object
              properties:
                replicas: { type: integer }
                labelSelector: { type: string }
`;

export const cronTab = (name: string): string => `
apiVersion: stable.example.com/v1
kind: CronTab
metadata: { name: ${name} }
spec:
  cronSpec: "* * * * */5"
`;
