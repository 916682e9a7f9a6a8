/** Runs the operator: `node examples/backup-operator/main.ts --kubeconfig FILE`, until Ctrl-C. */
import { runOperator } from "@kubewright/operator";

import { backupOperator, webhooks } from "./backup-operator.ts";

await runOperator(backupOperator, { webhooks });
