import type { Section } from '../section.ts';

/** Skill, upgrade and workload operations, and the rules over all of them. */
export const skillsAndWorkloads = [
  {
    source: 'manager spec §4 skills',
    says: {
      'manager.skills.details-200': 'getting skill details by name answers 200 with installed_skill and metadata',
      'manager.skills.details-query': 'getting skill details takes scope (user or project) and project_root',
      'manager.skills.details-400': 'getting skill details can answer 400',
      'manager.skills.details-404': 'getting an unknown skill answers 404',
      'manager.skills.details-500': 'getting skill details can answer 500',
      'manager.skills.install-201': 'installing a skill from a remote source answers 201 with {skill: InstalledSkill}',
      'manager.skills.install-errors': 'installing a skill can answer 400, 401, 404, 409, 429, 500, 502 and 504',
      'manager.skills.list-200': 'listing installed skills answers 200 with {skills: InstalledSkill[]}',
      'manager.skills.list-query':
        'listing installed skills takes scope (user or project), client, project_root and group',
      'manager.skills.list-500': 'listing installed skills can answer 500',
      'manager.skills.sync-200': 'syncing project skills answers 200 with a SyncResult',
      'manager.skills.sync-restores-lock': 'syncing restores the skills of the project to what its lock file says',
      'manager.skills.sync-400': 'syncing project skills can answer 400',
      'manager.skills.sync-403': 'syncing project skills can answer 403',
      'manager.skills.sync-500': 'syncing project skills can answer 500',
      'manager.skills.sync-501': 'syncing project skills can answer 501',
      'manager.skills.uninstall-204': 'uninstalling a skill by name answers 204 without content',
      'manager.skills.uninstall-query': 'uninstalling a skill takes scope (user or project) and project_root',
      'manager.skills.uninstall-errors': 'uninstalling a skill can answer 400, 404 and 500',
      'manager.skills.upgrade-200': 'upgrading project skills answers 200 with {outcomes: UpgradeOutcome[]}',
      'manager.skills.upgrade-re-resolves':
        'upgrading project skills resolves the lock entries again and installs newer content where there is any',
      'manager.skills.upgrade-errors': 'upgrading project skills can answer 400, 403, 404, 500 and 501',
    },
  },
  {
    source: 'manager spec §4 skills',
    says: {
      'manager.skills.content-200': 'getting skill content answers 200 with a SkillContent and installs nothing',
      'manager.skills.content-ref': 'getting skill content needs the query parameter ref',
      'manager.skills.content-ref-forms': 'ref accepts OCI references, git references and local build tags',
      'manager.skills.content-400': 'getting skill content can answer 400',
      'manager.skills.content-401': 'getting skill content can answer 401',
      'manager.skills.content-404': 'getting skill content can answer 404',
      'manager.skills.content-429': 'getting skill content can answer 429',
      'manager.skills.content-500': 'getting skill content can answer 500',
      'manager.skills.content-502': 'getting skill content can answer 502',
      'manager.skills.content-504': 'getting skill content can answer 504',
      'manager.skills.validate-200': 'validating a skill answers 200 with a ValidationResult',
      'manager.skills.validate-errors': 'validating a skill can answer 400 and 500',
    },
  },
  {
    source: 'manager spec §4 workload upgrades',
    says: {
      'manager.upgrades.apply-200':
        'applying an upgrade to a named workload answers 200 with {result: upgrade check result}',
      'manager.upgrades.apply-400': 'applying an upgrade can answer 400',
      'manager.upgrades.apply-404': 'applying an upgrade to an unknown workload answers 404',
      'manager.upgrades.apply-422': 'applying an upgrade can answer 422',
      'manager.upgrades.apply-500': 'applying an upgrade can answer 500',
      'manager.upgrades.check-200': 'checking one workload answers 200 with {result: upgrade check result}',
      'manager.upgrades.check-400': 'checking one workload can answer 400',
      'manager.upgrades.check-404': 'checking an unknown workload answers 404',
      'manager.upgrades.check-all-200': 'checking workloads answers 200 with {results: upgrade check result[]}',
      'manager.upgrades.check-all-query': 'checking workloads takes all, which includes stopped ones, and group',
      'manager.upgrades.check-all-400': 'checking workloads can answer 400',
      'manager.upgrades.check-all-404': 'checking workloads of an unknown group answers 404',
      'manager.upgrades.apply-order':
        'apply-upgrade resolves, verifies and pulls the candidate image before it recreates the workload',
      'manager.upgrades.apply-keeps-configuration': 'apply-upgrade keeps the existing configuration of the workload',
      'manager.upgrades.apply-unchanged-when-current':
        'apply-upgrade changes nothing and returns the check result when the workload is up to date',
      'manager.upgrades.apply-unchanged-when-not-registry':
        'apply-upgrade changes nothing and returns the check result when the workload is not sourced from a registry',
      'manager.upgrades.check-offline': 'the two check operations compare metadata offline and pull no image',
      'manager.upgrades.no-secrets-in': 'apply-upgrade accepts no secret values',
      'manager.upgrades.no-secrets-out': 'none of the three upgrade operations returns a secret value',
    },
  },
  {
    source: 'manager spec §4 workloads',
    says: {
      'manager.workloads.bulk-delete-202': 'bulk delete answers 202 with a string body',
      'manager.workloads.bulk-delete-background': 'bulk delete runs after the answer was sent',
      'manager.workloads.bulk-delete-400': 'bulk delete with a bad body answers 400',
      'manager.workloads.export-200': 'exporting a named workload answers 200 with its run configuration as JSON',
      'manager.workloads.export-404': 'exporting an unknown workload answers 404',
      'manager.workloads.detail-200': 'getting a workload by name answers 200 with the workload detail',
      'manager.workloads.detail-404': 'getting an unknown workload answers 404',
      'manager.workloads.list-200': 'listing workloads answers 200 with {workloads: workload summary[]}',
      'manager.workloads.list-running-default': 'listing workloads shows the running ones by default',
      'manager.workloads.list-all': 'listing workloads with all includes stopped ones',
      'manager.workloads.list-group': 'listing workloads takes group',
      'manager.workloads.list-404': 'listing workloads of an unknown group answers 404',
      'manager.workloads.bulk-restart-202': 'bulk restart answers 202 with a string body',
      'manager.workloads.bulk-restart-400': 'bulk restart with a bad body answers 400',
      'manager.workloads.update-200': 'updating a workload answers 200 with {name, port}',
      'manager.workloads.update-400': 'updating a workload with a bad body answers 400',
      'manager.workloads.update-404': 'updating an unknown workload answers 404',
    },
  },
  {
    source: 'manager spec §5 authentication',
    says: {
      'manager.authentication.registry-data':
        'registry authentication shows as data in auth_config, auth_type and auth_status',
    },
  },
  {
    source: 'manager spec §8 limits',
    says: {
      'manager.limits.listing-default-50': 'list operations with a limit use 50 when none is given',
      'manager.limits.listing-maximum-200': 'list operations with a limit never use more than 200',
      'manager.limits.page-from-one': 'page counts from 1 and defaults to 1',
    },
  },
  {
    source: 'manager spec §8 limits',
    says: {
      'manager.limits.bulk-asynchronous': 'bulk delete and bulk restart answer 202 at once and work afterwards',
    },
  },
] as const satisfies readonly Section[];
