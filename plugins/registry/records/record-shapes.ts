import { z } from 'zod';

// Shapes of the registry-server API. They only check and describe: what is cleaned is cleaned before.

const MAX_TEXT = 4_096;
const MAX_ITEMS = 1_000;

const text = (max = MAX_TEXT) => z.string().max(max);

/** Source: HTTP API spec §2 "InputVariable". */
export const inputVariable = z.object({
  description: text().optional().describe('what the value is for'),
  isRequired: z.boolean().optional().describe('a value must be given'),
  isSecret: z.boolean().optional().describe('the value is a secret'),
  format: text(64).optional().describe('`string`, `number`, `boolean` or `filepath`'),
  default: text().optional().describe('value where none is given'),
  placeholder: text().optional().describe('example of a value'),
  value: text().optional().describe('fixed value; `{name}` is filled in from `variables`'),
  choices: z.array(text()).max(MAX_ITEMS).optional().describe('the possible values'),
});

const variables = z.record(z.string().max(200), inputVariable).optional().describe('variables of the value by name');

/** Source: HTTP API spec §2 "Input". */
export const input = inputVariable.extend({
  name: text(200).optional().describe('name of the environment variable or header'),
  variables,
});

/** Source: HTTP API spec §2 "Argument". */
export const argument = input.extend({
  type: text(32).describe('`positional` or `named`'),
  valueHint: text(200).optional().describe('name of a positional value, e.g. `file_path`'),
  isRepeated: z.boolean().optional().describe('the argument may be given several times'),
});

const inputs = z.array(input).max(MAX_ITEMS).optional();
const argumentList = z.array(argument).max(MAX_ITEMS).optional();

const transport = z.object({
  type: text(32).describe('`stdio`, `sse` or `streamable-http`'),
  url: text(2_000).optional().describe('URL or template of a URL'),
  headers: inputs.describe('headers of each request'),
  variables,
});

/** Source: HTTP API spec §2 "Package". */
export const recordPackage = z.object({
  registryType: text(32).describe('`oci`, `npm`, `pypi`, `nuget`, `mcpb`, …'),
  registryBaseUrl: text(2_000).optional().describe('URL of the package registry'),
  identifier: text(2_000).describe('name of the package, image, or URL of a file'),
  version: text(255).optional().describe('version of the package'),
  fileSha256: z
    .string()
    .regex(/^[a-f0-9]{64}$/)
    .optional()
    .describe('SHA-256 of the file in hexadecimal digits'),
  runtimeHint: text(64).optional().describe('program that runs it, e.g. `npx`'),
  transport: transport.describe('how the started server is reached'),
  runtimeArguments: argumentList.describe('arguments of the program that runs it'),
  packageArguments: argumentList.describe('arguments of the server'),
  environmentVariables: inputs.describe('environment variables of the server'),
});

const icon = z.object({
  src: text(255).describe('https URL of the picture'),
  mimeType: text(64).optional().describe('`image/png`, `image/jpeg`, `image/svg+xml` or `image/webp`'),
  sizes: z.array(text(16)).max(20).optional().describe('`48x48`, or `any`'),
  theme: text(16).optional().describe('`light` or `dark`'),
});

const meta = z.record(z.string().max(256), z.record(z.string(), z.unknown()));

/**
 * One version of a server, as publishers describe it (`server.json`).
 *
 * Source: HTTP API spec §2 "ServerRecord"; members that it lacks are those of the server.json schema 2025-12-11.
 */
export const serverRecord = z.object({
  $schema: text(255).optional().describe('schema of the record'),
  name: text(200).describe('reverse-DNS style name with one slash, e.g. `io.github.org/name`'),
  title: text(200).optional().describe('name for people'),
  description: text(2_000).describe('what the server does'),
  version: text(255).describe('version of the server'),
  websiteUrl: text(2_000).optional().describe('web page of the server'),
  repository: z
    .object({
      url: text(2_000).optional().describe('URL of the repository'),
      source: text(64).optional().describe('`github`, `gitlab`, …'),
      id: text(200).optional().describe('id of the repository at its host'),
      subfolder: text(500).optional().describe('folder of the server in it'),
    })
    .optional()
    .describe('source code'),
  icons: z.array(icon).max(20).optional().describe('pictures'),
  packages: z.array(recordPackage).max(100).optional().describe('ways to run it here'),
  remotes: z
    .array(transport.extend({ url: text(2_000).describe('URL or template of a URL') }))
    .max(100)
    .optional()
    .describe('where it already runs'),
  _meta: meta.optional().describe('what publishers and registries say beyond the schema, by a namespaced key'),
});

/** One version of a server. */
export type ServerRecord = z.output<typeof serverRecord>;

/**
 * A skill of a registry.
 *
 * Source: HTTP API spec §2 "SkillRecord".
 */
export const skillRecord = z.object({
  namespace: text(200).describe('reverse-DNS form, e.g. `io.github.org`'),
  name: text(200).describe('name of the skill'),
  title: text(200).optional().describe('name for people'),
  description: text(2_000).optional().describe('what the skill is for'),
  version: text(255).optional().describe('version of the skill'),
  status: text(64).optional().describe('`active`, `deprecated` or `archived`'),
  license: text(200).optional().describe('license'),
  compatibility: text(500).optional().describe('what it needs'),
  allowedTools: z.array(text(200)).max(MAX_ITEMS).optional().describe('tools that it uses'),
  icons: z
    .array(
      z.object({
        src: text(255).optional().describe('https URL of the picture'),
        label: text(200).optional().describe('what it shows'),
        size: text(32).optional().describe('e.g. `48x48`'),
        type: text(64).optional().describe('media type'),
      }),
    )
    .max(20)
    .optional()
    .describe('pictures'),
  packages: z
    .array(
      z.object({
        registryType: text(32).optional().describe('`oci` or `git`'),
        identifier: text(512).optional().describe('reference of the artifact'),
        digest: text(200).optional().describe('digest of the artifact'),
        mediaType: text(200).optional().describe('media type of the artifact'),
        url: text(2_000).optional().describe('URL of the git repository'),
        ref: text(200).optional().describe('branch or tag'),
        commit: text(64).optional().describe('commit'),
        subfolder: text(500).optional().describe('folder of the skill in it'),
      }),
    )
    .max(100)
    .optional()
    .describe('where its files are'),
  repository: z
    .object({
      type: text(64).optional().describe('`git`'),
      url: text(2_000).optional().describe('URL of the repository'),
    })
    .optional()
    .describe('source code'),
  metadata: z.record(z.string().max(256), z.unknown()).optional().describe('what its author says beyond that'),
  _meta: z.record(z.string().max(256), z.unknown()).optional().describe('what registries say beyond that'),
});

/** A skill of a registry. */
export type SkillRecord = z.output<typeof skillRecord>;
