import { runOperator } from "@kubewright/operator";

import { operator } from "./operator.ts";

await runOperator(operator);
