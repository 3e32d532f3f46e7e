import { describe, expect } from 'vitest';
import { proves } from '../../support/proves.ts';
import { problemsOf, readText } from '../../support/vmcp-text.ts';

const file = (authz: string): string => `name: gateway
groupRef: dev
outgoingAuth: { source: inline }
aggregation: {}
incomingAuth:
  type: anonymous
  authz:
${authz.replaceAll(/^/gm, '    ')}
`;
const problems = (authz: string) => problemsOf(file(authz), 'gateway.yaml');
const uses = async (authz: string) => (await readText(file(authz), 'gateway.yaml')).plan.plugins;

describe('incomingAuth.authz of a vmcp file', () => {
  proves(
    ['vmcp.config-incoming.authz-type', 'choice.general.one-order'],
    'loads the plugin with cedar only',
    async () => {
      const policies = ['permit(principal, action, resource);'];
      const plugins = await uses(`type: cedar\nroleClaimName: role\npolicies: ${JSON.stringify(policies)}`);
      expect(plugins.slice(0, 3)).toEqual([
        { use: 'secrets/environment' },
        { use: 'incoming-auth/anonymous' },
        { use: 'authorization/cedar', with: { policies, roleClaimName: 'role' } },
      ]);
      for (const off of ['type: none', 'type: none\npolicies: []\ngroupEntityType: Team']) {
        expect((await uses(off)).map(({ use }) => use)).not.toContain('authorization/cedar');
      }
      expect(await problems('policies: []')).toEqual([expect.stringMatching(/authz\.type: /)]);
      expect(await problems('type: opa')).toEqual([expect.stringMatching(/:8: incomingAuth\.authz\.type: /)]);
    },
  );

  proves(
    'choice.authorization.found-at-start',
    'is checked completely: line of the file, path, position in the policy',
    async () => {
      const policies = `policies:\n  - permit(principal, action, resource);\n  - |\n    permit(principal, action,\n      resource == );`;
      expect(await problems(`type: cedar\n${policies}\nentitiesJson: '{'\ngroupClaim: x`)).toEqual([
        expect.stringMatching(
          /^gateway\.yaml:11: incomingAuth\.authz\.policies\[1\]: line 2, column 15: unexpected token/,
        ),
        expect.stringMatching(/^gateway\.yaml:14: incomingAuth\.authz\.entitiesJson: is not JSON/),
        'gateway.yaml:15: incomingAuth.authz.groupClaim: unknown key "groupClaim", did you mean "groupClaimName"?',
      ]);
      expect(await problems('type: cedar')).toEqual([expect.stringMatching(/incomingAuth\.authz\.policies: missing/)]);
      expect(await problems('type: none\npolicies: [permit]')).toEqual([
        'gateway.yaml:9: incomingAuth.authz.policies: would not be decided with type none; remove them',
      ]);
      expect(await problems('type: none\ngroupEntityTyp: x')).toEqual([
        expect.stringMatching(/did you mean "groupEntityType"/),
      ]);
      const upstream =
        'type: cedar\npolicies: ["permit(principal, action, resource);"]\nprimaryUpstreamProvider: github';
      expect(await problems(upstream)).toEqual([
        expect.stringMatching(
          /authz\.primaryUpstreamProvider: names an upstream provider, and the file has none; add authServerConfig/,
        ),
      ]);
    },
  );
});
