import { planSchema } from '@toolmgr/core';
import { statusPagesSchema } from '../../hosts/vmcp/status-pages-schema.ts';
import { configRows, configTable } from './config-table.ts';
import { page, table } from './markdown.ts';

/** docs/reference/limits.md */
export function limitsPage(): string {
  return page('Limits', '`core/limits.ts`', [
    'All limits of the gateway. A plan sets them under `limits`; an unknown name is refused. Names of sizes end in `Bytes`, names of times in `Ms` (milliseconds); all others are counts.',
    table(['limit', 'type', 'default', 'meaning'], configRows(planSchema.shape.limits.unwrap())),
  ]);
}

/** docs/reference/plan.md */
export function planPage(): string {
  const rows = configRows(planSchema).filter(([path = '']) => !path.startsWith('`limits.'));
  return page('Plan', '`core/gateway/plan.ts`', [
    'The configuration of a gateway. Hosts create a plan from flags or files (`toolmgr vmcp plan -c FILE` prints it); an embedder passes it as an object to `createGateway(plan, { catalogue })`. Unknown keys are refused with a suggestion. The members of `limits` have [their own page](limits.md).',
    table(['key', 'type', 'default', 'meaning'], rows),
    '## Status pages of a vmcp file',
    'The host reads the section `statusPages` of a vmcp file (`hosts/vmcp/status-pages-schema.ts`); see [observability](../guides/observability.md#status-pages).',
    configTable(statusPagesSchema),
  ]);
}
