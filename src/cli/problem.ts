// A refusal of the command line itself: one sentence, a hint, and the code for the shell.

import { exits } from './exits.ts'

export class CliProblem extends Error {
  readonly exit: number
  readonly hint: string | null

  constructor(exit: number, message: string, hint: string | null = null) {
    super(message)
    this.name = 'CliProblem'
    this.exit = exit
    this.hint = hint
  }
}

export function usage(message: string, hint: string | null = null): CliProblem {
  return new CliProblem(exits.usage, message, hint)
}
