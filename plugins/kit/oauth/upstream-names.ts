import { type FileFacts, nearest, type SectionProblem } from '@toolmgr/core';

/** What is wrong with a setting that names an upstream provider of the authorization server. `path` leads to the setting. */
export function upstreamNameProblems(
  name: string | undefined,
  path: SectionProblem['path'],
  { upstreams, unsound, hasOwnPlugins }: Pick<FileFacts, 'upstreams' | 'unsound' | 'hasOwnPlugins'>,
): readonly SectionProblem[] {
  if (name === undefined || name === '') return [];
  if (upstreams !== undefined) {
    return upstreams.includes(name) ? [] : [{ path, message: unknownUpstream(name, upstreams) }];
  }
  const message = 'names an upstream provider, and the file has none; add authServerConfig with upstreamProviders';
  return hasOwnPlugins || unsound.includes('authServerConfig') ? [] : [{ path, message }];
}

/** Why a name is wrong, with the nearest one. */
export function unknownUpstream(name: string, upstreams: readonly string[]): string {
  const hint = nearest(name, upstreams);
  const advice = hint === undefined ? ` (providers: ${upstreams.join(', ')})` : `, did you mean "${hint}"?`;
  return `no upstream provider is named "${name}"${advice}`;
}

/** Why a strategy that takes the ID token of one provider cannot choose among several. */
export function ambiguousProvider(upstreams: readonly string[]): string {
  return `AmbiguousSubjectProvider: there are several upstream providers (${upstreams.join(', ')}); set subjectProviderName`;
}
