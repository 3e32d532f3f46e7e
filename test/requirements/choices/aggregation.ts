import type { Section } from '../section.ts';

/** Edges of aggregation that the document leaves open. */
export const aggregation = [
  {
    source: 'choice: aggregation',
    says: {
      'choice.aggregation.unknown-strategy-refused': 'an unknown conflictResolution is refused',
      'choice.aggregation.config-optional': 'conflictResolutionConfig may be absent under every strategy',
      'choice.aggregation.empty-prefix-format': 'an empty prefixFormat means the default',
      'choice.aggregation.priority-needs-order': 'priority without priorityOrder is refused',
      'choice.aggregation.priority-empty-entry': 'an empty entry of priorityOrder is refused',
      'choice.aggregation.manual-needs-tools': 'manual without tools entries is refused',
      'choice.aggregation.duplicate-workload-refused': 'two tools entries of one workload are refused',
      'choice.aggregation.override-annotations-only': 'an override with annotations alone is allowed',
      'choice.aggregation.override-empty-refused': 'an override without name, description and annotations is refused',
      'choice.aggregation.unknown-workload-warned':
        'a tools entry for a workload that is not in the group is a warning',
      'choice.aggregation.tool-config-ref-refused': 'toolConfigRef outside a cluster is refused',
      'choice.aggregation.prefix-unique-prefixed': 'prefix also prefixes a name that no other backend uses',
      'choice.aggregation.prefix-conflict-all': 'prefix gives every contender of a name its prefix',
      'choice.aggregation.prefix-dot': 'prefixFormat {workload}. prefixes with the workload and a dot',
      'choice.aggregation.prefix-bare': 'prefixFormat {workload} prefixes with the workload alone',
      'choice.aggregation.prefix-constant': 'a prefixFormat without placeholder is put before every name',
      'choice.aggregation.prefix-collision-dropped': 'two equal composed names leave neither tool, and an error line',
      'choice.aggregation.claims-dropped':
        'a tool, prompt, URI or template that several backends list is left out unless an explicit priority decides',
      'choice.aggregation.uri-claims':
        'a backend gets no URI that another lists or has a template for, unless an explicit priority decides',
      'choice.aggregation.inside-claims': 'a backend gets no name by which inner calls reach another',
      'choice.aggregation.priority-resources':
        'priorityOrder also decides between resources, templates and composed names',
      'choice.aggregation.priority-unique-bare': 'priority keeps a unique name bare, also from an unlisted workload',
      'choice.aggregation.priority-winner':
        'priority keeps the tool of the workload that stands first in priorityOrder',
      'choice.aggregation.priority-losers-dropped': 'priority drops the losing tools with a warning',
      'choice.aggregation.priority-unlisted-conflict-prefixed':
        'a conflict among unlisted workloads only prefixes all of them with {workload}_',
      'choice.aggregation.manual-unique-kept': 'manual keeps a unique name',
      'choice.aggregation.manual-resolved':
        'manual accepts a conflict whose contenders have overrides with distinct names',
      'choice.aggregation.manual-unresolved':
        'an unresolved conflict under manual is an error that lists each tool with its backends',
      'choice.aggregation.manual-duplicate-override': 'two equal names made by overrides under manual are an error',
      'choice.aggregation.manual-swap': 'overrides that swap two names work',
      'choice.aggregation.static-check-at-start': 'conflicts of static backends are found at the start',
      'choice.aggregation.visibility-order': 'excludeAllTools, then excludeAll, then filter decide what is shown',
      'choice.aggregation.hidden-not-callable': 'a client that calls a hidden tool gets the answer of an unknown tool',
      'choice.aggregation.hidden-routable-inside': 'an inner call reaches a hidden tool',
      'choice.aggregation.filter-after-override': 'filter takes the overridden name',
      'choice.aggregation.filter-original-too': 'filter also takes the original name',
      'choice.aggregation.filter-leaves-resources': 'filters leave resources and prompts alone',
      'choice.aggregation.override-original-called': 'the backend is called with its original tool name',
      'choice.aggregation.override-annotation-fields':
        'annotations override title, readOnlyHint, destructiveHint, idempotentHint and openWorldHint',
      'choice.aggregation.override-annotation-unset-kept': 'an annotation that the override does not name stays',
      'choice.aggregation.resource-uri-kept': 'resource URIs are never rewritten',
      'choice.aggregation.resource-duplicate-dropped':
        'of two equal resource URIs neither is listed, with an error line',
      'choice.aggregation.template-duplicate-dropped': 'of two equal templates neither is listed, with an error line',
      'choice.aggregation.read-exact-first': 'resources/read takes an exact URI before a template',
      'choice.aggregation.read-by-template':
        'resources/read finds a backend by its template and forwards the URI unchanged',
      'choice.aggregation.dot-segments':
        'a URI with dot or empty segments, control characters, needlessly encoded characters or an authority that URL parsers change, and that no list names, answers -32602, whatever template it matches',
      'choice.aggregation.prompt-prefixed': 'prompts are always prefixed under prefix and manual',
      'choice.aggregation.prompt-priority-listed-bare': 'prompts of listed workloads keep their names under priority',
      'choice.aggregation.prompt-priority-loser-dropped': 'between listed workloads the losing prompt is dropped',
      'choice.aggregation.prompt-priority-unlisted-prefixed':
        'prompts of unlisted workloads are prefixed under priority',
      'choice.aggregation.prompt-ambiguity-dropped':
        'prompts with one composed name are all dropped with an error line',
      'choice.aggregation.sorted-tools': 'tools are listed sorted by name',
      'choice.aggregation.sorted-others': 'resources, templates and prompts are listed sorted by key',
      'choice.aggregation.deterministic': 'two lists in a row are equal whatever the order in which backends answered',
      'choice.aggregation.name-length-bound':
        'an optional bound on name length shortens names to a stable form with a hash',
      'choice.aggregation.name-length-callable': 'a shortened name is callable by that name',
      'choice.aggregation.dot-alias-inside-only': 'workload.tool resolves inside and never for a client',
      'choice.aggregation.static-sorted': 'static backends are taken sorted by name',
      'choice.aggregation.no-url-skipped': 'a workload of the group without a URL is skipped',
    },
  },
] as const satisfies readonly Section[];
