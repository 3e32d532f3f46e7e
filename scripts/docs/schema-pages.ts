import { limitsSchema, planSchema } from '@toolmgr/core';
import { statusPagesSchema } from '../../hosts/vmcp/status-pages-schema.ts';
import { configRows, configTable } from './config-table.ts';
import { page, table } from './markdown.ts';

/** docs/reference/limits.md */
export function limitsPage(): string {
  return page('Limits', '`core/limits.ts`', [
    'Every bound of the gateway by name. A plan sets them under `limits`; an unknown name is refused. Sizes end in `Bytes`, times in `Ms` (milliseconds), the rest are counts.',
    table(['limit', 'type', 'default', 'meaning'], configRows(limitsSchema)),
  ]);
}

/** docs/reference/plan.md */
export function planPage(): string {
  const rows = configRows(planSchema).filter(([path = '']) => !path.startsWith('`limits.'));
  return page('Plan', '`core/gateway/plan.ts`', [
    'What a gateway is made of. Hosts make a plan from flags or files (`toolmgr vmcp plan -c FILE` prints it); an embedder writes it as an object for `createGateway(plan, { catalogue })`. Unknown keys are refused with the nearest known one. The members of `limits` stand on [a page of their own](limits.md).',
    table(['key', 'type', 'default', 'meaning'], rows),
    '## Status pages of a vmcp file',
    "The section `statusPages` of a vmcp file is the host's (`hosts/vmcp/status-pages-schema.ts`); [what it does](../observability.md#status-pages).",
    configTable(statusPagesSchema),
  ]);
}
