import type { Section } from '../section.ts';

/** Records of the registry-server listing, clients, secrets and skills. */
export const records = [
  {
    source: 'manager spec §2 registry-server API records',
    says: {
      'manager.server-record.meta': 'ServerRecord._meta maps a publisher-provided namespaced key to a map of any JSON',
      'manager.server-record.name-form': 'ServerRecord.name is a reverse-DNS style identifier',
      'manager.server-record.strings': 'ServerRecord has the strings description, name, title and version',
      'manager.server-record.icons': 'ServerRecord.icons is Icon[]',
      'manager.server-record.packages': 'ServerRecord.packages is Package[]',
      'manager.server-record.remotes': 'ServerRecord.remotes is Remote[]',
      'manager.server-record.repository': 'ServerRecord.repository is a Repository',
      'manager.icon.fields': 'Icon has mimeType as a string, sizes as string[] and theme as a string',
      'manager.repository.fields': 'Repository has the strings id, source and subfolder',
      'manager.input.strings': 'Input has the strings default, description, format, name, placeholder and value',
      'manager.input.choices': 'Input.choices is string[]',
      'manager.input.flags': 'Input.isRequired and Input.isSecret are booleans',
      'manager.input.variables': 'Input.variables is a map of InputVariable',
      'manager.input-variable.strings':
        'InputVariable has the strings default, description, format, placeholder and value',
      'manager.input-variable.choices': 'InputVariable.choices is string[]',
      'manager.input-variable.flags': 'InputVariable.isRequired and InputVariable.isSecret are booleans',
      'manager.argument.all-input-fields': 'Argument has every field of Input',
      'manager.argument.is-repeated': 'Argument.isRepeated is a boolean',
      'manager.argument.type': 'Argument.type is a string such as positional',
      'manager.argument.value-hint': 'Argument.valueHint is a string such as file_path',
      'manager.package.environment-variables': 'Package.environmentVariables is Input[]',
      'manager.package.file-sha256': 'Package.fileSha256 is a string with a hex digest',
      'manager.package.arguments': 'Package.packageArguments and Package.runtimeArguments are Argument[]',
      'manager.package.identifier-and-version': 'Package.identifier and Package.version are strings',
      'manager.package.registry-type': 'Package.registryType is a string such as npm',
      'manager.package.runtime-hint': 'Package.runtimeHint is a string',
      'manager.package.transport':
        'Package.transport holds headers as Input[], type as a string such as stdio, and variables as a map of InputVariable',
      'manager.remote.fields':
        'Remote has headers as Input[], type as a string and variables as a map of InputVariable',
      'manager.skill-record.meta': 'SkillRecord._meta and SkillRecord.metadata are maps of any JSON',
      'manager.skill-record.strings':
        'SkillRecord has the strings compatibility, description, license, name, namespace, status, title and version',
      'manager.skill-record.allowed-tools': 'SkillRecord.allowedTools is string[]',
      'manager.skill-record.icons': 'SkillRecord.icons lists objects of label, size, src and type',
      'manager.skill-record.packages':
        'SkillRecord.packages lists objects of commit, digest, identifier, mediaType, ref, registryType, subfolder and url',
      'manager.skill-record.repository': 'SkillRecord.repository holds type and url',
      'manager.pagination.fields': 'pagination metadata holds the integers limit, page and total',
    },
  },
  {
    source: 'manager spec §2 client status',
    says: {
      'manager.client-status.client-type': 'ClientStatus.client_type is a string',
      'manager.client-status.installed': 'ClientStatus.installed is a boolean',
      'manager.client-status.registered': 'ClientStatus.registered is a boolean',
      'manager.client-status.supports-plugins': 'ClientStatus.supports_plugins is a boolean',
      'manager.client-status.supports-skills':
        'ClientStatus.supports_skills is true when skills can be installed for that client',
      'manager.client-registration.fields':
        'a client registration result holds name as a string and groups as string[]',
    },
  },
  {
    source: 'manager spec §2 secret results',
    says: {
      'manager.secret-result.fields': 'SecretResult holds the strings key and message',
      'manager.provider-setup-result.fields': 'ProviderSetupResult holds the strings message and provider_type',
    },
  },
  {
    source: 'manager spec §2 skills',
    says: {
      'manager.skill-metadata.fields':
        'SkillMetadata holds the strings author, description, name and version, and tags as string[]',
      'manager.installed-skill.clients': 'InstalledSkill.clients is string[]',
      'manager.installed-skill.dependencies': 'InstalledSkill.dependencies lists objects of digest, name and reference',
      'manager.installed-skill.digest': 'InstalledSkill.digest is a string',
      'manager.installed-skill.installed-at': 'InstalledSkill.installed_at is a string',
      'manager.installed-skill.project-root': 'InstalledSkill.project_root is a string',
      'manager.installed-skill.reference': 'InstalledSkill.reference is a string',
      'manager.installed-skill.tag': 'InstalledSkill.tag is a string',
      'manager.installed-skill.managed': 'InstalledSkill.managed is a boolean',
      'manager.installed-skill.metadata': 'InstalledSkill.metadata is a SkillMetadata',
      'manager.installed-skill.scope': 'InstalledSkill.scope is user or project',
      'manager.installed-skill.status': 'InstalledSkill.status is a string such as installed',
      'manager.sync-result.lists':
        'SyncResult has the string[] fields already_current, drifted, installed, missing, never_managed, pruned and removed_from_lock',
      'manager.sync-result.failed': 'SyncResult.failed lists objects of error, name and reason',
      'manager.sync-result.failed-reason': 'a failed entry gives a reason such as registry-unreachable',
      'manager.upgrade-outcome.strings':
        'UpgradeOutcome has the strings error, name, new_digest, new_resolved_reference, old_digest, reason and status',
      'manager.upgrade-outcome.status': 'UpgradeOutcome.status is a string such as upgraded',
    },
  },
  {
    source: 'manager spec §2 skills',
    says: {
      'manager.skill-content.body': 'SkillContent.body is the body of SKILL.md',
      'manager.skill-content.files': 'SkillContent.files lists objects of path as a string and size as an integer',
      'manager.skill-content.strings': 'SkillContent has the strings description, license, name and version',
      'manager.validation-result.fields':
        'ValidationResult holds errors as string[], valid as a boolean and warnings as string[]',
    },
  },
] as const satisfies readonly Section[];
