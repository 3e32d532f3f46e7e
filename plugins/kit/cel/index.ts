/** CEL expressions over JSON: conditions on claims and values of settings. */
export { compileMatcher, type Matcher, matcherProblem } from './cel-matcher.ts';
export { compileRule } from './cel-rule.ts';
