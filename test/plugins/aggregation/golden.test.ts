import { GatewayFault } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import type { RequirementId } from '../../requirements.ts';
import {
  buildGolden,
  expectedOutcome,
  type Golden,
  outcomeOf,
  readGoldenCatalogs,
  refusalsOf,
} from '../../support/golden-catalog.ts';
import { proves } from '../../support/proves.ts';

const GOLDEN = readGoldenCatalogs();

/** Requirements that a file in `test/golden/catalog` proves. A new file needs no entry. */
const PROVES: Readonly<Record<string, readonly RequirementId[]>> = {
  'prefix-default.yaml': [
    'choice.aggregation.config-optional',
    'choice.aggregation.prefix-conflict-all',
    'choice.aggregation.prefix-unique-prefixed',
    'choice.aggregation.prompt-prefixed',
    'choice.aggregation.resource-uri-kept',
    'vmcp.aggregation.conflict-resolution-default',
    'vmcp.aggregation.prefix-format-default',
    'vmcp.aggregation.prefix-format-prompts',
    'ask.aggregation.all-kinds',
    'vmcp.surface.backend-tools',
  ],
  'prefix-dot.yaml': ['choice.aggregation.prefix-dot', 'vmcp.aggregation.prefix-format-placeholder'],
  'prefix-bare.yaml': ['choice.aggregation.prefix-bare'],
  'prefix-constant.yaml': ['choice.aggregation.prefix-constant'],
  'prefix-empty.yaml': ['choice.aggregation.empty-prefix-format'],
  'prefix-collision.yaml': ['choice.aggregation.prefix-collision-dropped'],
  'priority-resources.yaml': ['choice.aggregation.priority-resources'],
  'priority.yaml': [
    'choice.aggregation.priority-unique-bare',
    'choice.aggregation.priority-winner',
    'choice.aggregation.priority-losers-dropped',
    'vmcp.aggregation.priority-order',
    'ask.aggregation.three-strategies',
  ],
  'priority-unlisted.yaml': ['choice.aggregation.priority-unlisted-conflict-prefixed'],
  'priority-prompts.yaml': [
    'choice.aggregation.prompt-priority-listed-bare',
    'choice.aggregation.prompt-priority-loser-dropped',
    'choice.aggregation.prompt-priority-unlisted-prefixed',
    'vmcp.aggregation.priority-listed-prompts-bare',
    'vmcp.aggregation.priority-unlisted-prompts-prefixed',
  ],
  'manual.yaml': ['choice.aggregation.manual-resolved', 'choice.aggregation.manual-unique-kept'],
  'manual-unresolved.yaml': ['choice.aggregation.manual-unresolved'],
  'manual-duplicate-override.yaml': ['choice.aggregation.manual-duplicate-override'],
  'manual-override-takes-name.yaml': ['choice.aggregation.manual-unresolved'],
  'manual-swap.yaml': ['choice.aggregation.manual-swap', 'choice.aggregation.override-original-called'],
  'override.yaml': [
    'choice.aggregation.override-annotation-fields',
    'choice.aggregation.override-annotation-unset-kept',
    'choice.aggregation.override-annotations-only',
    'vmcp.aggregation.tools-overrides',
    'vmcp.aggregation.tools-overrides-annotations',
    'vmcp.aggregation.tools-overrides-name-everywhere',
    'ask.aggregation.overrides',
  ],
  'override-before-priority.yaml': ['vmcp.aggregation.tools-overrides-before-conflicts'],
  'visibility.yaml': [
    'choice.aggregation.filter-after-override',
    'choice.aggregation.filter-original-too',
    'choice.aggregation.filter-leaves-resources',
    'choice.aggregation.hidden-routable-inside',
    'choice.aggregation.visibility-order',
    'vmcp.aggregation.tools-exclude-all',
    'vmcp.aggregation.tools-filter',
    'vmcp.aggregation.tools-filter-routable',
    'vmcp.surface.hidden-tools-routable',
    'ask.aggregation.filters',
    'ask.aggregation.hidden-inside',
  ],
  'exclude-all-tools.yaml': [
    'choice.aggregation.visibility-order',
    'vmcp.aggregation.exclude-all-tools',
    'vmcp.aggregation.exclude-all-tools-routable',
  ],
  'unmatched.yaml': ['choice.aggregation.unknown-workload-warned'],
  'refused-strategy.yaml': ['choice.aggregation.unknown-strategy-refused', 'vmcp.aggregation.conflict-resolution-enum'],
  'refused-order-missing.yaml': ['choice.aggregation.priority-needs-order'],
  'refused-order-empty-entry.yaml': ['choice.aggregation.priority-empty-entry'],
  'refused-manual-without-tools.yaml': ['choice.aggregation.manual-needs-tools'],
  'refused-duplicate-workload.yaml': ['choice.aggregation.duplicate-workload-refused'],
  'refused-workload-missing.yaml': ['vmcp.aggregation.tools-workload'],
  'refused-override-empty.yaml': ['choice.aggregation.override-empty-refused'],
  'refused-tool-config-ref.yaml': ['choice.aggregation.tool-config-ref-refused'],
};

describe('the golden catalogues', () => {
  for (const [file, golden] of GOLDEN) {
    const sentence = `${golden.says} (${file})`;
    const ids = PROVES[file];
    if (ids === undefined) it(sentence, () => check(golden));
    else proves(ids, sentence, () => check(golden));
  }

  it('include every file that proves a requirement', () => {
    expect(Object.keys(PROVES).filter((file) => !GOLDEN.has(file))).toEqual([]);
  });

  it('all have an expectation', () => {
    const silent = [...GOLDEN].filter(([, { expect: wanted, fails, refused }]) => !(wanted ?? fails ?? refused));
    expect(silent.map(([file]) => file)).toEqual([]);
  });
});

function check(golden: Golden): void {
  const { expect: wanted, fails, refused } = golden;
  if (refused !== undefined) expect(refusalsOf(golden)).toEqual(refused);
  const orders = [Object.keys(golden.backends), Object.keys(golden.backends).reverse()];
  for (const order of orders) {
    if (fails !== undefined) expect(faultOf(() => buildGolden(golden, order))).toEqual(fails);
    if (wanted !== undefined) expect(outcomeOf(buildGolden(golden, order), wanted)).toEqual(expectedOutcome(wanted));
  }
}

function faultOf(run: () => unknown): { code: string; message: string } | undefined {
  try {
    run();
  } catch (thrown) {
    if (thrown instanceof GatewayFault) return { code: thrown.code, message: thrown.message };
    throw thrown;
  }
}
