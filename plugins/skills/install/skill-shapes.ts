import { z } from 'zod';
import { MAX_REFERENCE_CHARS } from '../lock/locked-skill.ts';
import { SKILL_REASONS } from './skill-deps.ts';
import { UPGRADE_STATUSES } from './upgrade.ts';

// Bodies and answers of the operations of installed skills. Source: workload API spec §2 and §4, reference workload-api §2.4.

const text = (what: string) => z.string().describe(what);
const names = (what: string) => z.array(z.string()).describe(what);
const flag = (what: string) => z.boolean().optional().describe(what);

export const skillNameParam = z.string().min(1).max(64).describe('name of an installed skill');
export const scopeField = z
  .enum(['user', 'project'])
  .optional()
  .describe('`user`: for all projects of the user. `project`: for one project. Default: `project` with project_root');
export const projectRootField = z
  .string()
  .min(1)
  .describe('absolute path of the root of a git work tree, without symbolic links and `..`')
  .meta({ examples: ['/home/ann/shop'] });

const clientsField = z
  .array(z.string().min(1).max(64))
  .min(1)
  .max(50)
  .optional()
  .describe('clients, or `["all"]`; default: every client on this machine that takes skills');

/** Body of an installation. */
export const installBody = z.strictObject({
  name: z
    .string()
    .min(1)
    .max(MAX_REFERENCE_CHARS)
    .describe('name of a local build or of a skill in a registry, `namespace/name`, OCI reference, or git reference')
    .meta({ examples: ['ghcr.io/example/skills/code-review:1.2.0', 'git://github.com/example/skills@v1#code-review'] }),
  version: z.string().min(1).max(128).optional().describe('tag of an OCI reference that has none'),
  scope: scopeField,
  project_root: projectRootField.optional(),
  clients: clientsField,
  force: flag('replaces a folder that toolmgr does not manage'),
  allow_unsigned: flag('project scope: accepts a skill without a signature'),
  group: z.string().min(1).max(100).optional().describe('group that gets the skill; default `default`'),
});

/** Body of a sync. */
export const syncBody = z.strictObject({
  project_root: projectRootField,
  clients: clientsField,
  prune: flag('uninstalls skills that are no longer in the lock file'),
  check: flag('reports and changes nothing'),
  adopt: flag('writes installed skills that are not in the lock file to it'),
  allow_unsigned: flag('accepts skills without a signature'),
});

/** Body of an upgrade. */
export const upgradeBody = z.strictObject({
  project_root: projectRootField,
  names: z
    .array(z.string().min(1).max(64))
    .min(1)
    .max(1_000)
    .optional()
    .describe('skills of the lock file; default: all'),
  preview: flag('computes the outcomes and installs nothing'),
  fail_on_changes: flag('as `preview`; the command line ends with exit code 2 when there is a change'),
  allow_ref_change: flag('accepts another source repository'),
  allow_signer_change: flag('accepts another signer'),
  clients: clientsField,
});

/** One installed skill. */
export const installedSkillShape = z.object({
  metadata: z.object({
    name: text('name of the skill'),
    description: text('what it is for'),
    version: text('its version').optional(),
    author: text('`author` in the metadata of SKILL.md').optional(),
    tags: names('`tags` in the metadata of SKILL.md').optional(),
  }),
  scope: z.enum(['user', 'project']).describe('whose skill it is'),
  project_root: text('the project; only in project scope').optional(),
  status: z
    .enum(['installed', 'pending', 'failed'])
    .describe('`pending`: a command changes it now. `failed`: a change was interrupted; the next command reverts it'),
  reference: text('what was installed: the same content for ever'),
  tag: text('tag of the reference').optional(),
  digest: text('digest of the artifact, or the commit'),
  clients: names('clients that have it'),
  dependencies: z
    .array(z.object({ name: text('name'), reference: text('reference'), digest: text('digest') }))
    .describe('skills that it needs'),
  installed_at: z.iso.datetime().describe('when it was installed'),
  managed: z.boolean().describe('whether the lock file of its project has it'),
  group: text('its group').optional(),
  provenance: z
    .object({
      signer_identity: text('who signed').optional(),
      cert_issuer: text('issuer of the certificate').optional(),
      repository_uri: text('repository that was built').optional(),
      repository_ref: text('branch or tag that was built').optional(),
      runner_environment: text('where it was built').optional(),
      sigstore_url: text('the instance of Sigstore').optional(),
      provisional: z.boolean().optional().describe('the signer is not confirmed'),
    })
    .optional()
    .describe('who signed it; only in project scope, where signatures are checked'),
  unsigned: flag('it was accepted without a signature'),
});

export const INSTALLED_EXAMPLE = {
  metadata: { name: 'code-review', description: 'Reviews changes.', version: '1.2.0' },
  scope: 'user',
  status: 'installed',
  reference: `ghcr.io/example/skills/code-review@sha256:${'0'.repeat(64)}`,
  tag: '1.2.0',
  digest: `sha256:${'0'.repeat(64)}`,
  clients: ['claude-code'],
  dependencies: [],
  installed_at: '2026-08-01T12:00:00.000Z',
  managed: false,
  group: 'default',
} as const;

/** The result of a sync. */
export const syncResultShape = z.object({
  already_current: names('as the lock file says'),
  drifted: names('differ from the lock file; restored, unless only checked'),
  installed: names('were missing and are installed now'),
  missing: names('in the lock file and not installed; only when checked'),
  never_managed: names('installed in a project that has no lock file'),
  pruned: names('uninstalled because of `prune`'),
  removed_from_lock: names('installed and no longer in the lock file'),
  failed: z
    .array(z.object({ name: text('name'), error: text('what failed'), reason: z.enum(SKILL_REASONS) }))
    .describe('could not be restored'),
});

export const SYNC_EXAMPLE = {
  already_current: ['code-review'],
  drifted: [],
  installed: ['release-notes'],
  missing: [],
  never_managed: [],
  pruned: [],
  removed_from_lock: [],
  failed: [],
} as const;

/** The result of an upgrade. */
export const upgradeResultShape = z.object({
  outcomes: z.array(
    z.object({
      name: text('name'),
      status: z.enum(UPGRADE_STATUSES).describe('with a preview, `upgraded` means that there is something newer'),
      old_digest: text('digest in the lock file before'),
      new_digest: text('digest of the source now').optional(),
      new_resolved_reference: text('reference of the source now').optional(),
      new_signer_identity: text('the signer, when it is another one').optional(),
      error: text('what failed, or why it was not upgraded').optional(),
      reason: z.enum(SKILL_REASONS).optional(),
    }),
  ),
});

export const UPGRADE_EXAMPLE = {
  outcomes: [
    {
      name: 'code-review',
      status: 'upgraded',
      old_digest: `sha256:${'0'.repeat(64)}`,
      new_digest: `sha256:${'1'.repeat(64)}`,
      new_resolved_reference: `ghcr.io/example/skills/code-review@sha256:${'1'.repeat(64)}`,
    },
  ],
} as const;
