import type { Section } from '../section.ts';

/** Composite tools: definition, output and steps. */
export const compositeTools = [
  {
    source: 'vmcp spec §2 compositeTools',
    says: {
      'vmcp.composite.name': 'compositeTools[].name is required and unique',
      'vmcp.composite.description': 'compositeTools[].description is a string',
      'vmcp.composite.parameters':
        'compositeTools[].parameters is a JSON Schema object with type object and properties',
      'vmcp.composite.timeout': 'compositeTools[].timeout is a Go duration',
      'vmcp.composite.steps': 'compositeTools[].steps is required',
      'vmcp.composite.output-properties': 'output.properties is a required map',
      'vmcp.composite.output-required': 'output.required is string[]',
      'vmcp.composite.output-absent': 'without output the workflow returns the output of its last step',
      'vmcp.composite.output-type': 'an output property type is string, integer, number, boolean, object or array',
      'vmcp.composite.output-description': 'an output property has a description',
      'vmcp.composite.output-value': 'an output property value is a template over .steps.<id>.output and .params',
      'vmcp.composite.output-value-object': 'an object output value may be a JSON string that is decoded',
      'vmcp.composite.output-default': 'an output default is used when the template fails and is coerced to the type',
      'vmcp.composite.output-nested': 'an output property may nest properties',
      'vmcp.composite.step.id': 'a step id is required',
      'vmcp.composite.step.type': 'a step type is tool, elicitation or forEach, tool by default',
      'vmcp.composite.step.tool': 'a tool step names workload.tool_name',
      'vmcp.composite.step.arguments': 'arguments are templates in first-level string values',
      'vmcp.composite.step.arguments-others': 'argument values that are not strings pass as they are',
      'vmcp.composite.step.condition': 'condition is a template',
      'vmcp.composite.step.depends-on': 'dependsOn is string[] of step ids',
      'vmcp.composite.step.timeout': 'a step timeout is a Go duration',
      'vmcp.composite.step.on-error-action': 'onError.action is abort, continue or retry, abort by default',
      'vmcp.composite.step.on-error-retry-count': 'onError.retryCount is an integer and only for retry',
      'vmcp.composite.step.on-error-retry-delay': 'onError.retryDelay is a Go duration and only for retry',
      'vmcp.composite.step.default-results':
        'defaultResults are the outputs of a step that was skipped or failed with continue',
      'vmcp.composite.step.default-results-required':
        'defaultResults is required when the step may be skipped and a later step reads its output',
      'vmcp.composite.elicitation.message': 'an elicitation step has message',
      'vmcp.composite.elicitation.schema': 'an elicitation step has schema',
      'vmcp.composite.elicitation.on-decline':
        'onDecline.action is skip_remaining, abort or continue, abort by default',
      'vmcp.composite.elicitation.on-cancel': 'onCancel.action is skip_remaining, abort or continue, abort by default',
      'vmcp.composite.for-each.collection': 'collection is a template that resolves to an array',
      'vmcp.composite.for-each.item-var': 'itemVar is item by default',
      'vmcp.composite.for-each.max-iterations': 'maxIterations is 100 by default',
      'vmcp.composite.for-each.max-iterations-cap': 'maxIterations is never more than 1000',
      'vmcp.composite.for-each.max-parallel': 'maxParallel is 10 by default',
      'vmcp.composite.for-each.inner-step': 'step is an inner step of type tool only',
    },
  },
] as const satisfies readonly Section[];
