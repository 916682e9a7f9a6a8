import { type PodTemplate, podTemplates } from "@kubewright/api";

import { builtInResource } from "../built-in-resource.js";
import { jsonEqual } from "../json.js";
import type { ResourceStrategy } from "../strategy.js";
import { applyPodTemplateDefaults } from "./pod/template-defaults.js";
import { validatePodTemplate } from "./pod/template-validation.js";
import { podTemplateWarnings } from "./pod/warnings.js";
import { generationOf } from "./spec-and-status.js";
import { containerColumns, selectorCell, table } from "./table-cells.js";

/** Upstream: `pkg/registry/core/podtemplate`. */
export const podTemplateStrategy: ResourceStrategy<PodTemplate> = {
  applyDefaults(object, stored) {
    if (object.template !== undefined && object.template !== stored?.template)
      applyPodTemplateDefaults(object.template);
  },
  ...generationOf<PodTemplate>("template"),
  podTemplate: ({ template }) => template,
  deleteReturnsObject: true,
  validate: ({ template }, errors) => validatePodTemplate(template, "template", errors),
  warningsOnCreate: ({ template }) => podTemplateWarnings(template, "template"),
  warningsOnUpdate: ({ template }, stored) =>
    jsonEqual(template, stored.template) ? [] : podTemplateWarnings(template, "template"),
  printer: table<PodTemplate>({
    ...containerColumns(({ template }) => template?.spec, ""),
    "Pod Labels": ({ template }) => selectorCell({ matchLabels: template?.metadata?.labels ?? {} }),
  }),
};

export const podTemplateResource = builtInResource<PodTemplate>({
  definition: podTemplates,
  types: {
    fields: {
      PodTemplate: "metadata:ObjectMeta template+:PodTemplateSpec | apiVersion kind",
    },
  },
  strategy: podTemplateStrategy,
});
