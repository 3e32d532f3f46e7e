/**
 * Makes `instanceof` accept objects of the same class from another copy of this package: a plugin that is installed elsewhere has its
 * own copy, and its errors must mean the same here. Call it in the class: `static { brand(GatewayFault, 'GatewayFault'); }`.
 *
 * Subclasses without a brand of their own are compared as usual.
 */
export function brand(of: BrandedClass, name: string): void {
  const mark = Symbol.for(`toolmgr.core/${name}`);
  Object.defineProperty(of.prototype, mark, { value: true });
  Object.defineProperty(of, Symbol.hasInstance, {
    value(this: BrandedClass, value: unknown): boolean {
      if (this !== of) return Function.prototype[Symbol.hasInstance].call(this, value);
      return typeof value === 'object' && value !== null && mark in value;
    },
  });
}

interface BrandedClass {
  readonly prototype: object;
}
