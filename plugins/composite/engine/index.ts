import { definePlugin, fieldPath, GatewayFault, type Slots, STAGE } from '@toolmgr/core';
import { answerCall } from './answer-call.ts';
import { createCatalogTap } from './catalog-entries.ts';
import { compileWorkflow, type Workflow } from './compile-workflow.ts';
import { type CompositeConfig, compositeConfig } from './config.ts';
import { collectProblems, type Problem } from './problem.ts';
import { STEP_TYPES } from './step-types.ts';
import { type SuspendedWorkflows, suspendInMemory, suspendInStore } from './suspended-workflows.ts';

const ADDRESS = 'composite/engine';

/** Lists workflows as tools: steps call tools, ask the user, and loop over lists. */
export default definePlugin({
  address: ADDRESS,
  stability: 'alpha',
  summary: 'lists workflows of several tools as one tool, with templates, conditions, retries and elicitation',
  contractKey: 'compositeTools',
  config: compositeConfig,
  apply(core, config) {
    const { hooks, slots, now } = core;
    let workflows: readonly Workflow[] = [];
    let waiting: SuspendedWorkflows = suspendInMemory(config.waiting, now);
    for (const [type, stepType] of STEP_TYPES) slots.stepTypes.register(type, stepType);
    hooks.starting.tap(ADDRESS, () => {
      const read = compileAll(config, slots);
      workflows = read.workflows;
      for (const warning of read.warnings) core.log.warn(warning);
      if (config.store !== undefined)
        waiting = suspendInStore(slots.stores.get(config.store), `workflow:${core.server.name}:`, config.waiting, now);
    });
    // late: after the names of backend tools are final
    hooks.shapeCatalog.tap(
      { name: ADDRESS, stage: STAGE.late },
      createCatalogTap(
        ADDRESS,
        () => workflows,
        (workflow, tools, call) => answerCall({ core, workflow, tools, waiting }, call),
      ),
    );
  },
});

/** Compiles with the step types of all plugins. @throws GatewayFault PLAN_INVALID, SLOT_UNKNOWN for an unknown step type */
function compileAll({ compositeTools }: CompositeConfig, { stepTypes }: Slots) {
  const found: Problem[] = [];
  const problems = collectProblems(found, ['compositeTools']);
  const readings = compositeTools.map((definition, index) => {
    for (const { type } of definition.steps) if (type !== undefined) stepTypes.get(type);
    return compileWorkflow(definition, (type) => stepTypes.get(type), problems.under(index));
  });
  if (found.length > 0) {
    const sentences = found.map(({ path, message }) => `${ADDRESS}: ${fieldPath(path)}: ${message}`);
    throw new GatewayFault('PLAN_INVALID', sentences.join('\n'));
  }
  return {
    workflows: readings.flatMap(({ workflow }) => (workflow === undefined ? [] : [workflow])),
    warnings: readings.flatMap(({ warnings }) => warnings),
  };
}
