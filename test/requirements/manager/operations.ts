import type { Section } from '../section.ts';

/** Operations of the manager API with their parameters, answers and status codes. */
export const operations = [
  {
    source: 'manager spec §4 conventions',
    says: {
      'manager.api.apply-upgrade-optional-body': 'apply-upgrade accepts a request without a body',
    },
  },
  {
    source: 'manager spec §4 conventions',
    says: {
      'manager.api.json-answers': 'every operation answers JSON unless stated otherwise',
      'manager.api.required-bodies': 'the operations declared with a body refuse a request without one',
      'manager.api.bulk-names-or-group': 'bulk delete and bulk restart take workload names or a group',
    },
  },
  {
    source: 'manager spec §4 clients',
    says: {
      'manager.clients.register-200': 'registering a client answers 200 with a client registration result',
      'manager.clients.register-400': 'registering a client with a bad body answers 400',
      'manager.clients.register-many-200':
        'registering several clients answers 200 with an array of client registration results',
      'manager.clients.register-many-400': 'registering several clients with a bad body answers 400',
      'manager.clients.list-200': 'listing client status answers 200 with {clients: ClientStatus[]}',
    },
  },
  {
    source: 'manager spec §4 registries',
    says: {
      'manager.registries.list-200': 'listing registries answers 200 with {registries: Registry summary[]}',
      'manager.registries.get-200': 'getting a registry by its name answers 200 with the registry detail',
      'manager.registries.get-404': 'getting an unknown registry answers 404',
      'manager.registries.server-200':
        'getting a server of a registry answers 200 with is_remote, remote_server and server',
      'manager.registries.server-path':
        'getting a server of a registry takes the path parameters name and serverName, both required',
      'manager.registries.server-404': 'getting an unknown server or registry answers 404',
      'manager.registries.servers-200': 'listing the servers of a registry answers 200 with remote_servers and servers',
      'manager.registries.servers-404': 'listing the servers of an unknown registry answers 404',
      'manager.registries.update-200': 'updating the registry configuration answers 200',
      'manager.registries.update-only-default': 'updating a registry accepts only the name default',
      'manager.registries.update-target': 'updating the registry sets the URL or local path of the default registry',
      'manager.registries.update-400': 'updating the registry with a bad body answers 400',
      'manager.registries.update-403': 'updating the registry can answer 403',
      'manager.registries.update-404': 'updating the registry can answer 404',
      'manager.registries.update-502': 'updating the registry can answer 502',
      'manager.registries.update-504': 'updating the registry can answer 504',
    },
  },
  {
    source: 'manager spec §4 registry-server listing',
    says: {
      'manager.listing.registry-name-ignored':
        'registryName is accepted and ignored: the default provider always answers',
      'manager.listing.server-200': 'getting a registry server answers 200 with a ServerRecord',
      'manager.listing.server-name-encoded': 'slashes in serverName are URL-encoded',
      'manager.listing.server-400': 'getting a registry server with a malformed name answers 400',
      'manager.listing.server-404': 'getting an unknown registry server answers 404',
      'manager.listing.server-500': 'getting a registry server can answer 500',
      'manager.listing.server-503': 'getting a registry server can answer 503',
      'manager.listing.servers-200': 'listing registry servers answers 200 with metadata and servers',
      'manager.listing.servers-q': 'q of the server listing matches server name and description',
      'manager.listing.servers-page': 'page of the server listing is 1-based and defaults to 1',
      'manager.listing.servers-limit': 'limit of the server listing defaults to 50 and is at most 200',
      'manager.listing.servers-500': 'listing registry servers can answer 500',
      'manager.listing.servers-503': 'listing registry servers can answer 503',
      'manager.listing.skill-200': 'getting a registry skill answers 200 with a SkillRecord',
      'manager.listing.skill-path':
        'getting a registry skill takes registryName, namespace in reverse-DNS form and skillName, all required',
      'manager.listing.skill-404': 'getting an unknown registry skill answers 404',
      'manager.listing.skill-500': 'getting a registry skill can answer 500',
      'manager.listing.skill-503': 'getting a registry skill can answer 503',
      'manager.listing.skills-200': 'listing registry skills answers 200 with metadata and skills',
      'manager.listing.skills-q': 'q of the skill listing matches skill name, namespace and description',
      'manager.listing.skills-page': 'page of the skill listing is 1-based and defaults to 1',
      'manager.listing.skills-limit': 'limit of the skill listing defaults to 50 and is at most 200',
      'manager.listing.skills-500': 'listing registry skills can answer 500',
      'manager.listing.skills-503': 'listing registry skills can answer 503',
    },
  },
  {
    source: 'manager spec §4 secrets',
    says: {
      'manager.secrets.default-provider': 'creating and updating a secret act on the default provider',
      'manager.secrets.encrypted-only': 'creating and updating a secret apply to the encrypted provider only',
      'manager.secrets.create-201': 'creating a secret answers 201 with a SecretResult',
      'manager.secrets.create-400': 'creating a secret with a bad body answers 400',
      'manager.secrets.create-404': 'creating a secret can answer 404',
      'manager.secrets.create-405': 'creating a secret can answer 405',
      'manager.secrets.create-409': 'creating a secret can answer 409',
      'manager.secrets.create-500': 'creating a secret can answer 500',
      'manager.secrets.setup-201': 'setting up or reconfiguring the provider answers 201 with a ProviderSetupResult',
      'manager.secrets.setup-body': 'provider setup takes provider type and configuration in its body',
      'manager.secrets.setup-400': 'provider setup with a bad body answers 400',
      'manager.secrets.setup-500': 'provider setup can answer 500',
      'manager.secrets.update-200':
        'updating a secret by its required path parameter key answers 200 with a SecretResult',
      'manager.secrets.update-400': 'updating a secret with a bad body answers 400',
      'manager.secrets.update-404': 'updating an unknown secret answers 404',
      'manager.secrets.update-405': 'updating a secret can answer 405',
      'manager.secrets.update-500': 'updating a secret can answer 500',
    },
  },
] as const satisfies readonly Section[];
