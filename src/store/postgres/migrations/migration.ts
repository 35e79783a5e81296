// The shape of a migration: what leads to its version, and what leads back. `s` is the schema, as
// it is written in SQL. Steps only add, so that nodes of the version before keep running.

export interface Migration {
  readonly version: number
  readonly up: (s: string) => readonly string[]
  readonly down: (s: string) => readonly string[]
}
