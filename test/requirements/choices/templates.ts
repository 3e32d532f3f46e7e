import type { Section } from '../section.ts';

/** Templates of composite tools. */
export const templates = [
  {
    source: 'choice: templates',
    says: {
      'choice.templates.like-go': 'templates write what text/template of Go writes, and fail where it fails',
      'choice.templates.integers': 'an integral number of the data compares with 10 as with 10.0',
      'choice.templates.places': 'an error says line, column and what was expected',
      'choice.templates.references': 'a template tells which paths of the data it may read',
      'choice.templates.left-out': 'what is left out of the language is refused by name',
    },
  },
] as const satisfies readonly Section[];
