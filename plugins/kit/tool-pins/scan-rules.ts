/** One rule of the scanner. */
export interface ScanRule {
  /** For reports and tests. */
  readonly id: string;
  /** What was found, as a clause. */
  readonly finding: string;
  readonly pattern: RegExp;
  /** Only names are searched, not texts for people. */
  readonly in?: 'name';
}

/**
 * What is unusual in an honest definition. Patterns have no nested repetitions, so their time grows with the text only.
 *
 * The figures of false positives are in the guide about pinned tools.
 */
export const SCAN_RULES: readonly ScanRule[] = [
  {
    id: 'invisible-characters',
    finding: 'invisible characters',
    // zero-width, word joiner and invisible operators, tags, soft hyphen, variation selectors of the supplement; not ZWJ between emoji
    pattern:
      /[\u00AD\u200B\u200C\u2060-\u2064]|[\u{E0000}-\u{E007F}]|[\u{E0100}-\u{E01EF}]|(?<!\p{Extended_Pictographic}\uFE0F?)\u200D/u,
  },
  {
    id: 'bidirectional-controls',
    finding: 'controls that change the direction of text',
    pattern: /[\u200E\u200F\u202A-\u202E\u2066-\u2069]/u,
  },
  {
    id: 'control-characters',
    finding: 'control characters, such as escape sequences of terminals',
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is searched
    pattern: /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]/u,
  },
  {
    id: 'mixed-scripts',
    finding: 'a word with letters of several alphabets that look alike',
    pattern:
      /\p{Script=Latin}[\p{Script=Cyrillic}\p{Script=Greek}]|[\p{Script=Cyrillic}\p{Script=Greek}]\p{Script=Latin}/u,
    in: 'name',
  },
  {
    id: 'overrides-instructions',
    finding: 'a demand to ignore other instructions',
    pattern:
      /\b(?:ignore|disregard|forget|override)\s+(?:all\s+|any\s+)?(?:of\s+)?(?:the\s+|your\s+)?(?:previous|prior|earlier|above|other|existing|system)\s+(?:instruction|prompt|rule|direction|guideline)/i,
  },
  {
    id: 'hides-from-user',
    finding: 'a demand to hide something from the user',
    pattern:
      /\b(?:do\s+not|don't|never|without)\s+(?:tell(?:ing)?|inform(?:ing)?|mention(?:ing)?|show(?:ing)?|reveal(?:ing)?|notify(?:ing)?|alert(?:ing)?)\b[^.\n]{0,40}\b(?:user|human|person)\b/i,
  },
  {
    id: 'names-secrets',
    finding: 'the place of credentials',
    pattern:
      /(?:\.ssh\/|\bid_(?:rsa|ed25519|ecdsa)\b|\.aws\/credentials|\.kube\/config|\/etc\/(?:passwd|shadow)|\.cursor\/mcp\.json)/i,
  },
  {
    id: 'orders-other-tools',
    finding: 'an order about calls of other tools',
    pattern:
      /\b(?:before|after|whenever|instead\s+of)\s+(?:you\s+)?(?:us(?:e|ing)|call(?:ing)?|invok(?:e|ing))\s+(?:any|all|every|each)\s+(?:other\s+)?tools?\b/i,
  },
  {
    id: 'speaks-to-model',
    finding: 'a block that is addressed to the model',
    pattern:
      /<\/?\s*(?:important|system|instructions?|secret|hidden|assistant|admin)\s*>|\[\/?(?:INST|SYSTEM)\]|<\|(?:im_start|im_end|system)\|>/i,
  },
  {
    id: 'hidden-comment',
    finding: 'a comment that rendered text does not show',
    pattern: /<!--|\[\/\/\]:\s*#/,
  },
  {
    id: 'encoded-block',
    finding: 'a long encoded block',
    pattern: /[A-Za-z0-9+/]{200}/,
  },
];
