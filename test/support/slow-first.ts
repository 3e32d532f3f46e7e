import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take over half a minute on a quiet machine, the longest first: one that begins last leaves the other cores idle. */
const SLOW = [
  'acceptance/two-commands',
  'deploy/end-to-end',
  'hosts/run/kill',
  'release/dry-run',
  'packaging/install',
  'packaging/typed-apps',
  'hosts/run/packages',
  'hosts/run/images',
  'hosts/run/isolation',
  'hosts/run/lifecycle',
  'hosts/run/commands',
  'conformance/conformance',
  'workloads/container/container',
  'hosts/run/image-verification',
  'hosts/run/remote-auth',
  'manager/supervisor/supervise',
  'proof/load-probes',
  'proof/foreign-servers',
  'site/site',
  'hosts/image',
] as const;

/** Starts the slow test files first, then the others in the order of Vitest: those that failed, then the longest. */
export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = SLOW.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
      return at === -1 ? SLOW.length : at;
    };
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}
