import { describe, expect, it } from 'vitest';
import { ownPluginsCondition } from '../../../../../hosts/operator/controllers/virtual-mcp-server/own-plugins-condition.ts';
import { countPods } from '../../../../../hosts/operator/controllers/virtual-mcp-server/pod-counts.ts';
import { CHECKSUM_ANNOTATION } from '../../../../../hosts/operator/controllers/virtual-mcp-server/pod-template.ts';
import type { Pod } from '../../../../../hosts/operator/objects/built-in-kinds.ts';
import { proves } from '../../../../support/proves.ts';
import { messageOf, podOf, resolveYaml, server } from '../../resolve/resolve-yaml.ts';

const own = (use: string, more = '') => resolveYaml(server(`config: { plugins: [{ use: "${use}" }]${more} }`));

const pod = (status: Pod['status']): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'tools-1', namespace: 'team', annotations: { [CHECKSUM_ANNOTATION]: 'x' } },
  ...(status && { status }),
});
const ready = pod({ conditions: [{ type: 'Ready', status: 'True' }] });
/** Text that the kubelet takes from the end of the log. */
const crashed = (message: string): Pod =>
  pod({
    containerStatuses: [
      {
        ...{ name: 'vmcp', ready: false, restartCount: 3 },
        state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 40s restarting failed container' } },
        lastState: { terminated: { message } },
      },
    ],
  });

describe('a plugin that is not of the catalogue', () => {
  proves(
    'ask.operator.own-plugins',
    'is left to the pods, and the status has what they say: nothing yet, loaded, or the error of the start',
    async () => {
      for (const use of ['/plugins/own.mjs', '@acme/own', 'toolmgr-plugin-own/a']) {
        const resolution = await own(use);
        expect(podOf(resolution).configYaml).toContain(use);
        expect(messageOf(resolution, 'OwnPluginsLoaded')).toBe(`only pods load and check these plugins: ${use}`);
        const said = (pods: readonly Pod[]) => ownPluginsCondition(resolution, countPods(pods, 'x', undefined))[0];
        expect(said([pod({})])).toBeUndefined();
        expect(said([ready])).toMatchObject({ status: 'True', reason: 'PluginsLoaded' });
        const log = `{"level":"info"}\ntoolmgr: config.yaml:4: plugins[0].use: \u001b[1mthere is no file ${use}\n  because: a\n`;
        expect(said([crashed(log)])).toMatchObject({
          status: 'False',
          reason: 'PodsFailed',
          message: expect.stringContaining(
            `CrashLoopBackOff: toolmgr: config.yaml:4: plugins[0].use: [1mthere is no file ${use}; because: a`,
          ),
        });
        expect(said([crashed('')])?.message).toContain('CrashLoopBackOff: back-off 40s');
      }
      expect((await own('outgoing-auth/obo')).conditions.map(({ type }) => type)).not.toContain('OwnPluginsLoaded');
    },
  );

  it.each([
    ['./own.mjs', 'must be a plugin of toolmgr, a package, or the absolute path'],
    ['/plugins/../own.mjs', 'must be a plugin of toolmgr'],
    ['/dev/zero', 'must be a plugin of toolmgr'],
    [`/${'a'.repeat(600)}.mjs`, 'must be a plugin of toolmgr'],
    ['outgoing-auth/oboe', 'no plugin has the address outgoing-auth/oboe, did you mean "outgoing-auth/obo"?'],
  ])('is refused where the address cannot be one: %s', async (use, message) => {
    const resolution = await own(use);
    expect(resolution.outcome.result).toBe('failed');
    expect(messageOf(resolution, 'Valid')).toContain(`spec.config.plugins[0].use: ${message}`);
  });

  it('is not read with settings of more than 256 KiB: they take seconds to check', async () => {
    const large = `/own.mjs", with: { text: ${'x'.repeat(300_000)} }, note: "a`;
    expect(messageOf(await own(large), 'Valid')).toMatch(
      /^spec\.config\.plugins: \d+ bytes of JSON, expected at most 262144$/,
    );
  });

  it('gets a hint when its name is like one of the catalogue', async () => {
    expect(messageOf(await own('audits'), 'OwnPluginsLoaded')).toContain('audits, did you mean "audit"?');
  });
});
