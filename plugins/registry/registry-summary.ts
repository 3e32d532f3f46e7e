import type { z } from 'zod';
import { byName, type registrySummaryShape, serversOf } from './contract-shapes.ts';
import { authSettingsOf, DEFAULT_REGISTRY } from './new-source.ts';
import type { ConfiguredRegistry, RegistryTokens } from './registries.ts';
import type { Registry } from './registry-data.ts';

export type RegistrySummary = z.output<typeof registrySummaryShape>;

/** What is known about the content of a registry. */
export type Content = Pick<Registry, 'version' | 'lastUpdated' | 'entries'> | { readonly problem: string };

/** The item of the registry listing. `source` is what the summary is about; without one it is the built-in document. */
export async function summaryOf(
  name: string,
  source: ConfiguredRegistry | undefined,
  content: Content,
  tokens: Pick<RegistryTokens, 'hasLogin'>,
  priority?: number,
): Promise<RegistrySummary> {
  const auth = source?.auth;
  const isSignedIn = source !== undefined && auth !== undefined && (await tokens.hasLogin(source));
  const hasContent = !('problem' in content);
  return {
    name,
    type: source?.source.type ?? 'default',
    source: placeOf(source),
    version: hasContent ? content.version : '',
    last_updated: hasContent ? content.lastUpdated : '',
    server_count: hasContent ? content.entries.length : 0,
    auth_type: auth === undefined ? '' : 'oauth',
    auth_status: auth === undefined ? 'none' : isSignedIn ? 'authenticated' : 'configured',
    ...(auth === undefined ? {} : { auth_config: authSettingsOf(auth) }),
    ...(priority === undefined ? {} : { priority }),
    ...(hasContent ? {} : { problem: content.problem }),
  };
}

/** The document of a registry in the form of the contract. */
export function registryData({ version, lastUpdated, entries, groups }: Registry) {
  const { images, remotes } = serversOf(entries);
  return {
    version,
    last_updated: lastUpdated,
    servers: byName(images),
    remote_servers: byName(remotes),
    groups: groups.map(({ name, description, names }) => {
      const own = new Set(names);
      return {
        name,
        description,
        servers: byName(images.filter((each) => own.has(each.name))),
        remote_servers: byName(remotes.filter((each) => own.has(each.name))),
      };
    }),
  };
}

/** The source that the contract's settings give, and that `default` describes. */
export function contractSource(all: readonly ConfiguredRegistry[]): ConfiguredRegistry | undefined {
  return all.find(({ name }) => name === DEFAULT_REGISTRY);
}

function placeOf(registry: ConfiguredRegistry | undefined): string {
  if (registry === undefined || registry.source.type === 'default') return '';
  return registry.source.type === 'file' ? registry.source.path : registry.source.url;
}
