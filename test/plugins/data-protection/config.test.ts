import { GatewayFault } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import { proves } from '../../support/proves.ts';
import { readText } from '../../support/vmcp-text.ts';

const fileWith = (section: object, more: object = {}) =>
  JSON.stringify({
    name: 'dev',
    groupRef: 'dev',
    incomingAuth: { type: 'anonymous' },
    outgoingAuth: { source: 'inline' },
    aggregation: {},
    backends: [{ name: 'github', url: 'http://a.test', transport: 'streamable-http' }],
    dataProtection: section,
    ...more,
  });

const problems = async (section: object): Promise<string> => {
  const fault = await readText(fileWith(section), 'v.yaml').then(
    () => undefined,
    (cause: unknown) => cause,
  );
  if (!(fault instanceof GatewayFault)) throw new Error(`expected a fault, got ${String(fault)}`);
  return fault.message;
};

const rule = { direction: 'results', detectors: ['secret'], action: 'mask' };

describe('dataProtection of a file', () => {
  it('is accepted with kinds and names of detectors', async () => {
    const { config } = await readText(
      fileWith({ rules: [{ ...rule, backends: ['github'], tools: ['github_get'], detectors: ['personal', 'jwt'] }] }),
      'v.yaml',
    );
    expect(config).toMatchObject({ dataProtection: { rules: [{ detectors: ['personal', 'jwt'] }] } });
  });

  proves('ask.protection.unknown-names', 'is refused with the nearest known name', async () => {
    expect(await problems({ rules: [{ ...rule, detectors: ['jwt', 'card-numbers'] }] })).toContain(
      'dataProtection.rules[0].detectors[1]: expected one of secret, personal, aws-',
    );
    expect(await problems({ rules: [{ ...rule, detectors: ['card-numbers'] }] })).toContain(
      'did you mean "card-number"?',
    );
    expect(await problems({ rules: [{ ...rule, detector: ['jwt'] }] })).toContain('did you mean "detectors"?');
    expect(await problems({ rules: [rule], maxTextByte: 2_048 })).toContain('did you mean "maxTextBytes"?');
    expect(await problems({ rules: [{ ...rule, backends: ['githb'] }] })).toContain(
      'dataProtection.rules[0].backends[0]: no backend is named "githb", did you mean "github"?',
    );
    expect(await problems({ rules: [{ ...rule, action: 'delete' }] })).toContain('action');
    expect(await problems({ rules: [] })).toContain('rules');
  });
});
