import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { encode, type JsonObject } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import type { RequirementId } from '../../../requirements.ts';
import { proves } from '../../../support/proves.ts';
import { judge, type TestRequest } from './support.ts';

const folder = join(import.meta.dirname, '..', '..', '..', 'golden', 'cedar');

/** One golden file: policies, and expected decisions that were worked out by hand. */
const goldenSchema = z.strictObject({
  says: z.string(),
  settings: z.record(z.string(), z.string()).default({}),
  policies: z.array(z.string()),
  requests: z.array(
    z.strictObject({
      subject: z.string().optional(),
      claims: z.record(z.string(), z.json()).optional(),
      kind: z.enum(['tool', 'prompt', 'resource', 'template']).optional(),
      name: z.string().optional(),
      method: z.literal('completion/complete').optional(),
      arguments: z.record(z.string(), z.json()).optional(),
      entry: z
        .strictObject({
          key: z.string().optional(),
          backend: z.string().optional(),
          original: z.string().optional(),
          annotations: z.record(z.string(), z.json()).optional(),
        })
        .optional(),
      isMissing: z.boolean().optional(),
      expect: z.enum(['allow', 'deny']),
      by: z.array(z.string()).describe('policies that decided'),
      failed: z.array(z.string()).default([]).describe('policies that could not be evaluated'),
      reason: z.string().optional(),
      listed: z.boolean(),
    }),
  ),
});

/** Requirements that a file proves. A new file needs no entry. */
const PROVES: Readonly<Record<string, readonly RequirementId[]>> = {
  'nothing-permits.yaml': ['choice.authorization.default-deny', 'vmcp.config-incoming.authz-policies'],
  'forbid-wins.yaml': ['choice.authorization.forbid-wins'],
  'failing-policy.yaml': ['choice.authorization.failing-policy-denies'],
  'groups.yaml': ['choice.authorization.group-claims', 'vmcp.config-incoming.authz-group-entity-type'],
  'named-group-claims.yaml': [
    'vmcp.config-incoming.authz-group-claim-name',
    'vmcp.config-incoming.authz-role-claim-name',
    'vmcp.config-incoming.authz-group-entity-type',
  ],
  'claims.yaml': ['choice.authorization.attributes', 'choice.authorization.unreadable-denies'],
  'arguments.yaml': ['choice.authorization.attributes', 'choice.authorization.lists-unknown-arguments'],
  'failing-beside-arguments.yaml': ['choice.authorization.lists-unknown-arguments'],
  'guarded-arguments.yaml': ['choice.authorization.lists-unknown-arguments'],
  'unguarded-arguments.yaml': ['choice.authorization.lists-unknown-arguments'],
  'resource-attributes.yaml': ['choice.authorization.attributes'],
  'hierarchies.yaml': ['choice.authorization.entities', 'vmcp.config-incoming.authz-entities-json'],
};

const files = readdirSync(folder).filter((file) => file.endsWith('.yaml'));

describe('the golden decisions', () => {
  for (const file of files) {
    const { says, settings, policies, requests } = goldenSchema.parse(parse(readFileSync(join(folder, file), 'utf8')));
    const test = async (): Promise<void> => {
      const { ask } = await judge({ ...settings, policies });
      for (const { expect: wanted, by, failed, reason, listed, entry, ...asked } of requests) {
        const said = await ask({ ...asked, entry: entryFrom(asked.name ?? 'echo', entry) } as TestRequest);
        const come = { ...said, expect: said.isAllowed ? 'allow' : 'deny', by: [...said.policies] };
        expect([file, asked, come]).toMatchObject([file, asked, { expect: wanted, by, failed, listed }]);
        expect([asked, said.reason]).toEqual([asked, reason]);
      }
    };
    const ids = PROVES[file];
    if (ids === undefined) it(`${says} (${file})`, test);
    else proves(ids, `${says} (${file})`, test);
  }

  it('include every file of the requirements', () => {
    expect(Object.keys(PROVES).filter((file) => !files.includes(file))).toEqual([]);
  });
});

function entryFrom(name: string, entry: { annotations?: JsonObject } & Record<string, unknown> = {}) {
  const { annotations, ...more } = entry;
  return annotations === undefined ? more : { ...more, definition: encode({ name, annotations }) };
}
