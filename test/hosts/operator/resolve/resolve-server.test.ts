import { describe, expect, it } from 'vitest';
import { conditions, entry, podOf, resolveYaml, server } from './resolve-yaml.ts';

describe('a VirtualMCPServer with six lines', () => {
  it('gets a vmcp file, and backends that pods follow', async () => {
    const resolution = await resolveYaml(server() + entry('github'));
    expect(resolution.outcome).toEqual({ result: 'ready' });
    expect(conditions(resolution)).toEqual([
      'GroupRefValidated=True/GroupRefValid',
      'SessionStorageWarning=False/SessionStorageWarningNotApplicable',
      'BackendsDiscovered=True/BackendsDiscoveredSuccessfully',
      'Valid=True/ValidationSucceeded',
      'AuthConfigured=True/AuthValid',
    ]);
    expect(podOf(resolution).configYaml).toBe(`aggregation: {}
groupRef: group
incomingAuth:
  type: anonymous
kubernetes:
  backends: tools-vmcp-backends
  report: tools-vmcp-report
name: tools
operational:
  failureHandling: {}
outgoingAuth:
  source: discovered
`);
  });
});
