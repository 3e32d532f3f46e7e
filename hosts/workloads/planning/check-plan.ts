import { explainIssues, findPlugin, type PlanInput } from '@toolmgr/core';
import { catalogue } from '@toolmgr/plugins';
import { UsageError } from '../../shared/usage-error.ts';
import { flagsReader, isChosen, strategyAddress } from '../proxy/parts-from-flags.ts';

/**
 * Reads the settings that options made for plugins, before anything is started.
 * @throws UsageError with one line per fault. Values are not repeated
 */
export async function checkPlan(plan: PlanInput): Promise<void> {
  const ofSchemas: string[] = [];
  const ofPlugins: string[] = [];
  for (const { use, with: given } of plan.plugins) {
    const { where, problems } = (await flagsReader(use)) ?? {};
    if (where === undefined || use.startsWith(strategyAddress(''))) continue; // those of a strategy are below
    const { config } = await findPlugin(use, PLACES);
    const read = config.safeParse(given ?? {});
    if (!read.success) ofSchemas.push(...explainIssues(where, config, read.error));
    ofPlugins.push(...(problems?.(given, plan) ?? []).map((problem) => `${where}.${problem}`));
  }
  const found = [...ofSchemas, ...ofPlugins, ...(await strategyProblems(plan))];
  if (found.length > 0) throw new UsageError(found.join('\n'));
}

/** Options of the strategies for requests to the server. One that no flag is about is named in `outgoing_auth`. */
async function strategyProblems({ outgoingAuth }: PlanInput): Promise<readonly string[]> {
  const problems: string[] = [];
  let use = outgoingAuth?.default;
  while (use !== undefined) {
    const { type, options } = use;
    const address = strategyAddress(type);
    const reader = await flagsReader(address);
    const where = reader === undefined && isChosen(address) ? 'outgoing_auth' : reader?.where;
    if (where === undefined) break;
    const schema = (await findPlugin(address, PLACES)).slotOptions?.[type];
    const read = schema?.safeParse(options ?? {});
    if (schema !== undefined && read?.success === false) problems.push(...explainIssues(where, schema, read.error));
    use = (options as { readonly after?: typeof use } | undefined)?.after;
  }
  return problems;
}

const PLACES = { catalogue, baseDir: '/' };
