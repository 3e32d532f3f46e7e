import { type Call, type CallResult, definePlugin, STAGE } from '@toolmgr/core';
import { keptResults } from '@toolmgr/plugins/kit/extension-points';
import { unknownNames } from '@toolmgr/plugins/kit/settings';
import { answerFor } from './answer.ts';
import { budgetsOf } from './budgets.ts';
import { resultLimitsConfig } from './config.ts';
import { ownEntries, withOwnEntries } from './entries.ts';
import { createKeptResults } from './kept-results.ts';

const ADDRESS = 'result-limits';

/** Keeps results over a budget at the gateway: their callers get a summary, and read the rest in parts. */
export default definePlugin({
  address: ADDRESS,
  stability: 'alpha',
  summary: 'keeps tool results over a budget at the gateway: the caller gets a summary and reads the result in parts',
  contractKey: 'resultLimits',
  config: resultLimitsConfig,
  apply(core, config) {
    const budgetOf = budgetsOf(config);
    const kept = createKeptResults(core, config);
    const addEntries = withOwnEntries(ownEntries(ADDRESS, kept, budgetOf), budgetOf, ADDRESS);
    const wanted = config.tools.map(
      ({ name }, index) => ({ place: `${ADDRESS}: tools[${index}].name`, kind: 'tool', name }) as const,
    );
    const keep = async (result: CallResult, call: Call, budget: number): Promise<CallResult> => {
      const outcome = await kept.keep(result.bytes, call.caller);
      return answerFor({
        tool: call.target.key,
        result,
        budget,
        keepForMs: config.keepFor,
        outcome,
        client: call.client,
      });
    };
    // last: what other plugins made of the result is what the caller would get
    core.hooks.rewriteResult.tapPromise({ name: ADDRESS, stage: STAGE.last }, async (result, call) => {
      if (call.method !== 'tools/call' || !isForCaller(call)) return result;
      const budget = budgetOf(call.target.key);
      if (budget === undefined || result.bytes.length <= budget || result.resultType === 'input_required')
        return result;
      return keep(result, call, budget);
    });
    core.hooks.shapeCatalog.tap({ name: ADDRESS, stage: STAGE.last }, (draft, inputs) => {
      const shaped = addEntries(draft);
      return { ...shaped, warnings: [...shaped.warnings, ...unknownNames(shaped, inputs, wanted)] };
    });
    core.slot(keptResults).register(ADDRESS, kept.now);
    core.hooks.starting.tap(ADDRESS, () => kept.start());
  },
});

/**
 * Steps and scripts see whole results; the limit is for what leaves the gateway. `call_tool` forwards the result of the tool that it
 * calls, so there the budget of that tool counts. Pages of kept results have their own bound.
 */
function isForCaller({ target, parent }: Call): boolean {
  if (target.makesOneCall || target.backend === ADDRESS) return false;
  return parent === undefined || (parent.target.makesOneCall === true && parent.parent === undefined);
}
