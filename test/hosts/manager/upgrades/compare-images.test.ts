import type { ImageServer } from '@toolmgr/plugins/registry';
import { describe, expect, it } from 'vitest';
import { compareImages, withVersion } from '../../../../hosts/manager/upgrades/compare-images.ts';
import { driftOf } from '../../../../hosts/manager/upgrades/drift.ts';
import { workloadConfigOf } from '../../../support/workload-config.ts';

const DIGEST = `sha256:${'a'.repeat(64)}`;

describe('the images of a workload and of its registry entry', () => {
  it.each([
    ['org/server:1.2.0', 'org/server:1.3.0', 'upgrade-available'],
    ['org/server:1.2.0', 'org/server:1.2.1', 'upgrade-available'],
    ['org/server:1.9.0', 'org/server:1.10.0', 'upgrade-available'],
    ['org/server:v1.2.0', 'org/server:V1.3.0', 'upgrade-available'],
    ['org/server:1.2.0-rc.1', 'org/server:1.2.0', 'upgrade-available'],
    ['org/server:1', 'org/server:2', 'upgrade-available'],
    ['docker.io/org/server:1.2.0', 'org/server:1.3.0', 'upgrade-available'],
    ['redis:7.0', 'docker.io/library/redis:7.2', 'upgrade-available'],
    ['npx://@org/server@1.2.0', 'npx://@org/server@1.3.0', 'upgrade-available'],
    ['uvx://server==1.2.0', 'uvx://server@1.3.0', 'upgrade-available'],
    ['go://example.com/server@v1.2.0', 'go://example.com/server@v1.3.0', 'upgrade-available'],
    ['org/server:1.3.0', 'org/server:1.2.0', 'up-to-date'],
    ['org/server:v1.2.0', 'org/server:1.2.0', 'up-to-date'],
    ['org/server:1.2', 'org/server:1.2.0', 'up-to-date'],
    ['org/server:1.2.0', 'org/server:1.2', 'up-to-date'],
    ['org/server:stable', 'org/server:stable', 'up-to-date'],
    ['org/server:stable', 'org/server:1.2.0', 'unknown'],
    ['org/server:1.2.0', 'org/server:stable', 'unknown'],
    ['org/server:latest', 'org/server:latest', 'unknown'],
    ['org/server:1.2.0', 'org/server:latest', 'unknown'],
    ['org/server', 'org/server:1.2.0', 'unknown'],
    [`org/server@${DIGEST}`, 'org/server:1.2.0', 'unknown'],
    ['org/server:1.2.0', `org/server:1.3.0@${DIGEST}`, 'unknown'],
    ['org/server:1.2.0', 'other/server:1.3.0', 'unknown'],
    ['org/server:1.2.0', 'ghcr.io/org/server:1.3.0', 'unknown'],
    ['npx://@org/server', 'npx://@org/server@1.3.0', 'unknown'],
    ['npx://server@1.2.0', 'uvx://server@1.3.0', 'unknown'],
    ['org/server:1.2.0', 'not a reference', 'unknown'],
  ] as const)('%s and %s: %s', (current, candidate, status) => {
    const compared = compareImages(current, candidate);
    expect(compared.status).toBe(status);
    if (compared.status === 'unknown') expect(compared.reason).toMatch(/\w+ \w+/);
  });
});

describe('the drift of a workload', () => {
  const entry: ImageServer = {
    image: 'org/server:1.3.0',
    description: '',
    transport: 'stdio',
    permissions: { name: 'narrow', read: [], write: [], privileged: false },
    env_vars: [
      { name: 'REGION', required: false, secret: false, default: 'eu' },
      { name: 'API_KEY', required: true, secret: true, default: 'do-not-show' },
      { name: 'KNOWN', required: false, secret: false },
    ],
  };

  it('names variables that the entry adds and no longer has, without a value of the workload', () => {
    const config = workloadConfigOf('one', {
      env_vars: { KNOWN: 'a', OLD: 'hidden-value' },
      secrets: ['key,target=OLD_KEY'],
      permission_profile_name_or_path: 'network',
      transport: 'streamable-http',
    });
    const drift = driftOf(config, entry);
    expect(drift).toEqual({
      config_drift: {
        permission_profile: { from: 'network', to: 'narrow' },
        transport: { from: 'streamable-http', to: 'stdio' },
      },
      env_var_drift: {
        added: [
          { name: 'REGION', required: false, secret: false, default: 'eu' },
          { name: 'API_KEY', required: true, secret: true },
        ],
        removed: [
          { name: 'OLD', required: false, secret: false },
          { name: 'OLD_KEY', required: false, secret: true },
        ],
      },
    });
    expect(JSON.stringify(drift)).not.toMatch(/hidden-value|do-not-show/);
  });

  it('is absent when nothing differs', () => {
    const config = workloadConfigOf('one', { env_vars: { REGION: 'us', KNOWN: 'a' }, secrets: ['key,target=API_KEY'] });
    expect(driftOf(config, entry)).toEqual({});
  });
});

it('writes the same image or package in another version, and only in an exact one of the same repository', () => {
  for (const [current, version, expected] of [
    ['ghcr.io/org/time:1.2.0', '1.1.0', 'ghcr.io/org/time:1.1.0'],
    ['localhost:5000/time', '1.1.0', 'localhost:5000/time:1.1.0'],
    [`ghcr.io/org/time:1.2.0@sha256:${'a'.repeat(64)}`, '1.1.0', 'ghcr.io/org/time:1.1.0'],
    ['npx://@scope/time@1.2.0', '1.1.0', 'npx://@scope/time@1.1.0'],
    ['npx://@scope/time', '1.1.0', 'npx://@scope/time@1.1.0'],
    ['uvx://time==1.2.0', '1.1.0', 'uvx://time==1.1.0'],
    ['uvx://time@1.2.0', '1.1.0', 'uvx://time@1.1.0'],
    ['go://example.com/time@v1.2.0', 'v1.1.0', 'go://example.com/time@v1.1.0'],
    ['ghcr.io/org/time:1.2.0', 'latest', undefined],
    ['ghcr.io/org/time:1.2.0', '1/../x', undefined],
    ['ghcr.io/org/time:1.2.0', `1@sha256:${'a'.repeat(64)}`, undefined],
    ['npx://time@1.2.0', 'x@1.0.0', undefined],
    ['npx://time@1.2.0', '--eval=1', undefined],
    ['npx://time@1.2.0', '^1.1.0', undefined],
    ['npx://time@1.2.0', '1.1', undefined],
    ['uvx://time==1.2.0', '1.0 --x', undefined],
  ] as const) {
    expect(withVersion(current, version), `${current} ${version}`).toBe(expected);
  }
});
