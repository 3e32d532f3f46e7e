/** A literal: `int` is a Go int, `float` a Go float64. */
export type Literal =
  | { readonly type: 'bool'; readonly value: boolean }
  | { readonly type: 'string'; readonly value: string }
  | { readonly type: 'int'; readonly value: bigint }
  | { readonly type: 'float'; readonly value: number };

/** One operand of a command. `fields` is the chain `.a.b` after it; `at` is the offset in the text. */
export type Operand =
  | { readonly kind: 'literal'; readonly literal: Literal; readonly at: number }
  | { readonly kind: 'nil' | 'dot'; readonly at: number }
  | { readonly kind: 'field'; readonly fields: readonly string[]; readonly at: number }
  | { readonly kind: 'variable'; readonly name: string; readonly fields: readonly string[]; readonly at: number }
  | { readonly kind: 'call'; readonly name: string; readonly fields: readonly string[]; readonly at: number }
  | { readonly kind: 'pipeline'; readonly pipeline: Pipeline; readonly fields: readonly string[]; readonly at: number };

/** A function with its arguments, or one value. Never empty. */
export interface Command {
  readonly operands: readonly [Operand, ...Operand[]];
  readonly at: number;
}

/** Commands; each gets the value of the previous one as its last argument. `variables` get the final value. */
export interface Pipeline {
  readonly variables: readonly string[];
  /** Whether the variables are set (`=`) instead of declared (`:=`). */
  readonly isAssignment: boolean;
  readonly commands: readonly Command[];
  readonly at: number;
}

/** `if` and `with`: the first branch whose pipeline is true, else `otherwise`. */
export interface Branch {
  readonly pipeline: Pipeline;
  readonly body: readonly Node[];
}

/** A node of the syntax tree. */
export type Node =
  | { readonly kind: 'text'; readonly text: string; readonly at: number }
  | { readonly kind: 'action'; readonly pipeline: Pipeline; readonly at: number }
  | {
      readonly kind: 'if' | 'with';
      readonly branches: readonly Branch[];
      readonly otherwise: readonly Node[];
      readonly at: number;
    }
  | {
      readonly kind: 'range';
      readonly pipeline: Pipeline;
      readonly body: readonly Node[];
      readonly otherwise: readonly Node[];
      readonly at: number;
    }
  | { readonly kind: 'template'; readonly name: string; readonly pipeline: Pipeline | undefined; readonly at: number }
  | { readonly kind: 'break' | 'continue'; readonly at: number };

/** Templates by name; the text outside all definitions has the name `''`. */
export type Templates = ReadonlyMap<string, readonly Node[]>;
