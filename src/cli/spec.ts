// What there is to say about a command: its words, its flags, its help, and what it does.

import type { Context } from './context.ts'

export const groups = {
  look: 'Look:',
  act: 'Act:',
  move: 'Move:',
  host: 'Host:',
} as const

export type Flags = Readonly<Record<string, unknown>>
export type Words = readonly (string | readonly string[] | undefined)[]

export interface FlagSpec {
  /** As commander has it: `--until <moment>`. */
  readonly flags: string
  readonly about: string
  readonly default?: string | boolean
  readonly choices?: readonly string[]
  /** Throws InvalidArgumentError; turns the text into the value. */
  readonly parse?: (text: string, before: never) => unknown
}

export interface CommandSpec {
  readonly name: string
  readonly alias?: string
  readonly group: keyof typeof groups
  readonly about: string
  /** Name as commander has it (`<job>`, `[query]`, `<run...>`) and what it is. */
  readonly args?: readonly (readonly [name: string, about: string])[]
  readonly flags?: readonly FlagSpec[]
  /** Changes something: `--dry-run`, `--yes` and `--no-input` belong to it. */
  readonly isMutation?: boolean
  /** Prints rows: `--plain` and `--columns` belong to it. */
  readonly isTable?: boolean
  /** Needs neither a store nor a server. */
  readonly isAlone?: boolean
  /** Takes `--tz` in a sense of its own. */
  readonly hasOwnZone?: boolean
  /** A line to type and what it does; they come first in the help. */
  readonly examples: readonly (readonly [line: string, about: string])[]
  readonly notes?: string
  readonly isHidden?: boolean
  /** Answers with the exit code; nothing means 0. */
  readonly run: (context: Context, words: Words, flags: Flags) => Promise<number | void>
}
