import { type Catalogue, fieldPath } from '@toolmgr/core';
import { keyOf, type ObjectKey } from '@toolmgr/plugins/kit/kubernetes';
import type { Problem } from '../../vmcp/problem.ts';
import { definitionProblems } from '../../vmcp/workflow/read-definition.ts';
import { type CompositeToolDefinition, compositeToolDefinition } from '../kinds/composite-tool-definition.ts';
import { typeOfKind } from '../kinds/kind.ts';
import type { Controller } from '../machinery/controller.ts';
import { oversize } from '../resolve/spec-size.ts';
import { referencesOf, referrersOf, typeNamed } from './references.ts';
import { currentObject, timedConditions, type WantedCondition, writeStatus } from './write-status.ts';

const { kind } = compositeToolDefinition;
const TYPE = typeOfKind(compositeToolDefinition);
const GATEWAY = 'VirtualMCPServer';

/** The status stays far below the limit of an object. */
const MAX_ERRORS = 50;
const MAX_ERROR_CHARACTERS = 1_000;
const MAX_LISTED = 1_000;

/** Checks composite tools as the aggregator does at its start, and names the servers that offer them. */
export const compositeDefinitionController: Controller<CompositeToolDefinition> = {
  name: kind,
  type: TYPE,
  watches: [
    {
      type: typeNamed(GATEWAY),
      keysOf: (server): readonly ObjectKey[] => referencesOf(GATEWAY, server).filter((each) => each.kind === kind),
    },
  ],
  async reconcile(key, context) {
    const definition = currentObject(context, TYPE, key);
    if (definition === undefined) return;
    const { catalogue } = await import('@toolmgr/plugins');
    const problems = await problemsOf(definition.spec, catalogue);
    const servers = referrersOf(kind, key, context.caches).map(({ object }) => keyOf(object).name);
    await writeStatus(context, TYPE, definition, {
      observedGeneration: definition.metadata.generation,
      validationStatus: problems.length === 0 ? 'Valid' : 'Invalid',
      ...(problems.length === 0 ? {} : { validationErrors: sentencesOf(problems) }),
      referencingVirtualServers: servers.slice(0, MAX_LISTED),
      conditions: timedConditions(definition, conditionsOf(problems), context.now()),
    });
  },
};

/** What is wrong with the spec of a definition, one sentence each. */
export async function definitionSentences(spec: unknown, catalogue: Catalogue): Promise<readonly string[]> {
  return sentencesOf(await problemsOf(spec, catalogue));
}

async function problemsOf(spec: unknown, catalogue: Catalogue): Promise<readonly Problem[]> {
  const tooLarge = oversize(spec);
  return tooLarge === undefined ? definitionProblems(spec, catalogue) : [{ path: [], message: tooLarge }];
}

function conditionsOf(problems: readonly Problem[]): readonly WantedCondition[] {
  const [first] = problems;
  if (first === undefined) {
    return [
      { type: 'WorkflowValidated', status: 'True', reason: 'ValidationSuccess', message: 'the workflow is valid' },
      { type: 'Ready', status: 'True', reason: 'WorkflowReady', message: 'servers can offer the workflow' },
    ];
  }
  const message = sentencesOf(problems).join('\n');
  return [
    { type: 'WorkflowValidated', status: 'False', reason: reasonOf(first), message },
    { type: 'Ready', status: 'False', reason: 'WorkflowNotReady', message: 'the workflow is not valid' },
  ];
}

/** Reasons by what the first problem is about. */
const REASONS: readonly (readonly [reason: string, is: (problem: Problem) => boolean])[] = [
  ['DependencyCycle', ({ message }) => message.includes(' in a cycle: ')],
  ['TemplateInvalid', ({ message }) => message.startsWith('invalid template: ')],
  ['SchemaInvalid', ({ path }) => path.includes('parameters') || path.includes('schema')],
];

function reasonOf(problem: Problem): string {
  return REASONS.find(([, is]) => is(problem))?.[0] ?? 'ValidationFailed';
}

function sentencesOf(problems: readonly Problem[]): readonly string[] {
  const shown = problems
    .slice(0, MAX_ERRORS)
    .map(({ path, message }) => cut(path.length === 0 ? message : `spec.${fieldPath(path)}: ${message}`));
  const others = problems.length - shown.length;
  return others === 0 ? shown : [...shown, `and ${others} more`];
}

function cut(text: string): string {
  return text.length <= MAX_ERROR_CHARACTERS ? text : `${text.slice(0, MAX_ERROR_CHARACTERS - 1)}…`;
}
