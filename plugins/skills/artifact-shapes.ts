import { z } from 'zod';
import { LIMITS } from './limits.ts';

// Bodies and answers of the operations of artifacts. Source: workload API spec §2 and §4, reference workload-api §1.2, §2.4.

const text = (what: string) => z.string().describe(what);

/** Query of the content. */
export const contentQuery = z.strictObject({
  ref: z
    .string()
    .min(1)
    .max(LIMITS.referenceLength)
    .describe('OCI reference, git reference, tag of a local build, or name of a skill in a registry')
    .meta({ examples: ['ghcr.io/example/skills/code-review:1.2.0', 'git://github.com/example/skills@v1#code-review'] }),
});

/** SkillContent. */
export const skillContentShape = z.object({
  name: text('name of the skill'),
  description: text('what the skill is for'),
  version: text('its version; empty without one'),
  license: text('its license; empty without one'),
  body: text('SKILL.md without its front matter'),
  files: z
    .array(z.object({ path: text('path in the skill'), size: z.int().describe('bytes') }))
    .describe('all files of the skill, `SKILL.md` first'),
  reference: text('what was read: the same content for ever'),
  digest: text('digest of the artifact, or the commit'),
});

export const CONTENT_EXAMPLE = {
  name: 'code-review',
  description: 'Reviews a change.',
  version: '1.2.0',
  license: 'Apache-2.0',
  body: '# Code review\n\nRead the change first.\n',
  files: [
    { path: 'SKILL.md', size: 142 },
    { path: 'references/rules.md', size: 810 },
  ],
  reference: `ghcr.io/example/skills/code-review@sha256:${'0'.repeat(64)}`,
  digest: `sha256:${'0'.repeat(64)}`,
};

const folder = z
  .string()
  .min(1)
  .max(4096)
  .describe('absolute path of the folder with SKILL.md, without `..`')
  .meta({ examples: ['/home/ann/skills/code-review'] });

/** Body of a validation. */
export const validateBody = z.strictObject({ path: folder });

/** ValidationResult. */
export const validationShape = z.object({
  valid: z.boolean().describe('whether the skill can be built'),
  errors: z.array(z.string()).describe('what is wrong'),
  warnings: z.array(z.string()).describe('what should be changed'),
});

/** Body of a build. */
export const buildBody = z.strictObject({
  path: folder,
  tag: z
    .string()
    .min(1)
    .max(LIMITS.referenceLength)
    .optional()
    .describe('a word, or an OCI reference to push it to; default: the name of the skill')
    .meta({ examples: ['ghcr.io/example/skills/code-review:1.2.0'] }),
});

/** A stored build. */
export const builtShape = z.object({
  reference: text('tag of the build'),
  digest: text('digest of its index'),
  warnings: z.array(z.string()).describe('what should be changed in the skill'),
});

/** Body of a push. */
export const pushBody = z.strictObject({
  reference: z
    .string()
    .min(1)
    .max(LIMITS.referenceLength)
    .describe('tag of a local build that is a complete OCI reference')
    .meta({ examples: ['ghcr.io/example/skills/code-review:1.2.0'] }),
  key: z.string().min(1).max(4096).optional().describe('signs with the private key in this PEM file (absolute path)'),
  identity_token: z
    .string()
    .min(1)
    .max(64 * 1024)
    .optional()
    .describe('signs by Sigstore with this OIDC identity token; it is not kept'),
  no_sign: z.boolean().optional().describe('does not sign'),
});

/** Local builds. */
export const buildsShape = z.object({
  builds: z
    .array(
      z.object({
        tag: text('tag of the build'),
        digest: text('digest of its index'),
        name: text('name of the skill'),
        description: text('what the skill is for'),
        version: text('its version; empty without one'),
      }),
    )
    .describe('sorted by tag'),
});
