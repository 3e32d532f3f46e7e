import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { METRICS, type MetricRow } from '../../plugins/telemetry/metric-table.ts';
import { isInstalled } from '../../scripts/rigs/run-tool.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const FOLDER = join(import.meta.dirname, '../../deploy/monitoring');
const GUIDE = join(import.meta.dirname, '../../docs/guides/observability.md');

interface Alerts {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[];
}
interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets: readonly { readonly expr: string }[] }[];
}

const alerts = parse(await readFile(join(FOLDER, 'alerts.yaml'), 'utf8')) as Alerts;
const dashboard = JSON.parse(await readFile(join(FOLDER, 'grafana-dashboard.json'), 'utf8')) as Dashboard;
const guide = [...(await readFile(GUIDE, 'utf8')).matchAll(/\| `([^`]*toolmgr_[^`]*)` +\|$/gm)].map(
  ([, expr = '']) => expr,
);
const queries: readonly (readonly [string, string])[] = [
  ...alerts.groups.flatMap(({ rules }) => rules.map(({ alert, expr }) => [alert, expr] as const)),
  ...dashboard.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const)),
  ...guide.map((expr) => ['observability.md', expr] as const),
];

/** Labels that Prometheus adds. */
const TARGET_LABELS = ['instance', 'job', 'le'];

/** Names at `/metrics` with their labels. */
const exposed = new Map<string, ReadonlySet<string>>([['up', new Set(TARGET_LABELS)]]);
for (const [name, row] of Object.entries(METRICS) as [string, MetricRow][]) {
  const labels = new Set([...row.labels.map(exposedName), ...TARGET_LABELS]);
  const own = `${exposedName(name)}${row.unit === 's' ? '_seconds' : ''}`;
  const ends = row.kind === 'counter' ? ['_total'] : row.kind === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
  for (const end of ends) exposed.set(own + end, labels);
}

function exposedName(name: string): string {
  return name.replaceAll('.', '_');
}

/** What a query names that no gateway has. */
function unknownNames(query: string): readonly string[] {
  const metrics = [...query.matchAll(/\b((?:toolmgr|mcp)_\w+|up)\b(?=[{[\s)>]|$)/g)].map(([, name = '']) => name);
  const used = metrics.filter((name) => exposed.has(name));
  const grouped = [...query.matchAll(/by \(([^)]*)\)/g)].flatMap(([, labels = '']) => labels.split(/\s*,\s*/));
  const matched = [...query.matchAll(/[{,]\s*(\w+)\s*(?:=~|!=|!~|=)/g)].map(([, label = '']) => label);
  const known = new Set(used.flatMap((name) => [...(exposed.get(name) ?? [])]));
  const isLabel = new Set([...grouped, ...matched]);
  const wrongMetrics = metrics.filter((name) => !exposed.has(name) && !isLabel.has(name));
  return [
    ...(used.length === 0 ? ['no metric'] : []),
    ...wrongMetrics,
    ...[...isLabel].filter((label) => !known.has(label)),
  ];
}

describe('the dashboard and the alerts', () => {
  it('use only metrics and labels that a gateway has', () => {
    expect(queries.length).toBeGreaterThan(25);
    expect(queries.flatMap(([where, query]) => unknownNames(query).map((name) => `${where}: ${name}`))).toEqual([]);
  });

  it('would be reported with another name', () => {
    expect(unknownNames('rate(toolmgr_mcp_calls_total[5m])')).toEqual(['no metric', 'toolmgr_mcp_calls_total']);
    expect(unknownNames('sum by (caller) (rate(toolmgr_mcp_requests_total{path="x"}[5m]))')).toEqual([
      'caller',
      'path',
    ]);
  });

  it.skipIf(!process.env.CI && !isInstalled('promtool'))('are valid PromQL, by promtool', async () => {
    const folder = temporaryFolder('promql');
    const rules = queries.map(([, expr], at) => ({
      record: `query:${at}`,
      expr: expr.replaceAll('$__rate_interval', '5m').replaceAll('$instance', '.*'),
    }));
    const file = join(folder, 'queries.yaml');
    await writeFile(file, stringify({ groups: [{ name: 'queries', rules }] }));
    const run = (path: string) => promisify(execFile)('promtool', ['check', 'rules', path]);
    expect((await run(file)).stdout).toContain(`${rules.length} rules found`);
    expect((await run(join(FOLDER, 'alerts.yaml'))).stdout).toContain('SUCCESS');
  });
});
