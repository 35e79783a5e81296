// The type of a value once it was written as JSON and read back.

type Dropped = undefined | symbol | ((...parameters: never[]) => unknown)

/** The name of a member that is there after the round trip. */
type Name<T, K extends keyof T> = K extends symbol ? never : [T[K]] extends [Dropped] ? never : K

type Members<T> = {
  [K in keyof T as undefined extends T[K] ? never : Name<T, K>]: Jsonify<T[K]>
} & {
  [K in keyof T as undefined extends T[K] ? Name<T, K> : never]?: Jsonify<Exclude<T[K], undefined>>
}

type Flat<T> = { [K in keyof T]: T[K] }

/** A Date becomes a string, undefined inside a list null, a member that is undefined goes. */
export type Jsonify<T> = unknown extends T
  ? T
  : T extends string | number | boolean | null
    ? T
    : // oxlint-disable-next-line typescript/no-invalid-void-type -- handlers without a result
      T extends undefined | void
      ? null
      : T extends { toJSON(...parameters: never[]): infer J }
        ? Jsonify<J>
        : T extends bigint | Dropped
          ? never
          : T extends readonly unknown[]
            ? { -readonly [K in keyof T]: Jsonify<T[K]> }
            : T extends object
              ? Flat<Members<T>>
              : never
