import { spendText } from './limits.ts';
import { joinedText, plainText } from './print-value.ts';
import { formatted } from './printf.ts';
import { ANY_NUMBER, type TemplateFunction } from './template-function.ts';

/** `print`, `println` and `printf`, as Go's `fmt`. */
export const printFunctions = {
  print: { arity: [0, ANY_NUMBER], takes: 'any', run: joinedText },
  println: {
    arity: [0, ANY_NUMBER],
    takes: 'any',
    run: (values, budget) => {
      const text = `${values.map((value) => plainText(value, budget)).join(' ')}\n`;
      spendText(budget, text.length);
      return text;
    },
  },
  printf: {
    arity: [1, ANY_NUMBER],
    takes: 'first',
    run: ([format, ...values], budget) => formatted(format as string, values, budget),
  },
} as const satisfies Record<string, TemplateFunction>;
