import type { Section } from '../section.ts';

/** Templates of composite tools. */
export const templates = [
  {
    source: 'choice: templates',
    says: {
      'choice.templates.like-go': 'templates write what text/template of Go writes, and fail where it fails',
      'choice.templates.tables-from-go': 'the expected texts come from running Go, not from this implementation',
      'choice.templates.integers': 'an integral number of the data compares with 10 as with 10.0',
      'choice.templates.places': 'an error says line, column and what was expected',
      'choice.templates.references': 'a template tells which paths of the data it may read',
      'choice.templates.own-members': 'a template reads own members of the data only and calls nothing in it',
      'choice.templates.bounded': 'text, nesting, loops, steps and output of a template are bounded',
      'choice.templates.left-out': 'what is left out of the language is refused by name',
    },
  },
] as const satisfies readonly Section[];
