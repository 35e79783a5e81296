// The shape of a migration: what leads to its version, and what leads back.

export interface Migration {
  readonly version: number
  readonly up: readonly string[]
  readonly down: readonly string[]
}
