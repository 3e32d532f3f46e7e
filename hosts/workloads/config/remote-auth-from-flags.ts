import { type RunConfig, resourceProblem } from '@toolmgr/plugins/kit/workloads';
import { UsageError } from '../../shared/usage-error.ts';
import { type Storing, storedSection } from './stored-values.ts';

/**
 * How the remote server is authenticated to. Secrets of flags are kept as secrets of the workload; files of secrets are read
 * again at each start, so that a new secret counts.
 * @throws UsageError when a file cannot be read or the resource is no URI
 */
export async function remoteAuthFromFlags(storing: Storing): Promise<Pick<RunConfig, 'remote_auth_config'>> {
  const { remoteAuthResource: resource, remoteAuthParams: params } = storing.flags;
  const problem = resource === undefined ? undefined : resourceProblem(resource);
  if (problem !== undefined) throw new UsageError(`--remote-auth-resource: ${problem}`);
  const stored = await storedSection('remote_auth_config', storing);
  if (params === undefined) return stored === undefined ? {} : { remote_auth_config: stored };
  return { remote_auth_config: { ...stored, oauth_params: { ...params } } };
}
