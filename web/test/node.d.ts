// What the tests use of node, since its types are not installed everywhere.
declare module 'node:test' {
  export function test(name: string, body: () => void|Promise<void>): void;
}
declare module 'node:assert/strict' {
  const assert: {
    equal(actual: unknown, expected: unknown, message?: string): void;
    deepEqual(actual: unknown, expected: unknown, message?: string): void;
    ok(value: unknown, message?: string): void;
    rejects(promise: Promise<unknown>, expected?: unknown): Promise<void>;
  };
  export default assert;
}
declare module 'node:fs' {
  export function readFileSync(path: string, encoding: 'utf8'): string;
}
declare const process: {env: Record<string, string|undefined>};
