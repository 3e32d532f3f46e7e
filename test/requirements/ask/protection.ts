import type { Section } from '../section.ts';

/** Secrets and personal data in calls. */
export const protection = [
  {
    source: 'ask: data protection',
    says: {
      'ask.protection.detectors': 'each detector of the table finds its examples, and nothing in its other texts',
      'ask.protection.mask':
        'mask replaces what is found by [NAME] in every string of arguments and results, and leaves keys and all other bytes',
      'ask.protection.block':
        'block refuses the call, or withholds the result, by the name of the detector and never the value',
      'ask.protection.report': 'report tells detector, count and tool, never the value, and changes nothing',
      'ask.protection.rules':
        'the first rule whose direction, backends, tools and detectors fit decides about a finding',
      'ask.protection.unknown-names':
        'unknown keys, detectors and backends of dataProtection are errors that name the nearest one',
      'ask.protection.all-ways': 'calls of clients, composite steps, call_tool and scripts are protected alike',
      'ask.protection.untouched': 'calls and results that no rule is about are forwarded as the same bytes',
      'ask.protection.bound': 'text over maxTextBytes is blocked unless the configuration lets it pass',
      'ask.protection.linear': 'a search takes time in proportion to the text, whatever the text is',
    },
  },
] as const satisfies readonly Section[];
