import { isLoopbackHost } from '../../http/listen.ts';
import { factsOf } from '../facts.ts';
import type { SectionedConfig } from '../plan.ts';
import { type ServeOptions, statusPagesOf } from './options.ts';

/** Warnings about public addresses without authentication. */
export function exposureWarnings(options: ServeOptions, { config, sections }: SectionedConfig): string[] {
  const { host } = options;
  const warnings: string[] = [];
  if (!isLoopbackHost(host) && factsOf(config, sections).callers === 'anonymous') {
    const solution = 'use type oidc to require a token';
    warnings.push(`everyone who can reach ${host} may call: incomingAuth.type is anonymous; ${solution}`);
  }
  const { host: pagesHost, tokenEnv } = statusPagesOf(options, config) ?? {};
  if (pagesHost !== undefined && !isLoopbackHost(pagesHost) && tokenEnv === undefined) {
    warnings.push(
      `everyone who can reach ${pagesHost} may read the status pages; set statusPages.tokenEnv to require a token`,
    );
  }
  return warnings;
}
