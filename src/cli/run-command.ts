// One command from its flags to its exit code: the terminal, the time limit, the end of the target.

import type { Command } from 'commander'
import process from 'node:process'
import { systemClock } from '../runtime/clock.ts'
import { Context } from './context.ts'
import { exits } from './exits.ts'
import { fail } from './fail.ts'
import { globalsOf } from './globals.ts'
import { screenOf } from './screen.ts'
import type { CommandSpec, Words } from './spec.ts'
import { systemTerminal } from './terminal.ts'

export async function runCommand(command: Command, spec: CommandSpec, words: Words): Promise<void> {
  const given = command.opts<Record<string, unknown>>()
  const globals = globalsOf(given, process.env)
  const terminal = systemTerminal()
  const stop = new AbortController()
  let isLate = false
  terminal.signal?.addEventListener('abort', () => stop.abort())
  const cancel =
    globals.timeoutMs === null
      ? () => {}
      : systemClock.after(globals.timeoutMs, () => {
          isLate = true
          stop.abort()
        })
  const screen = screenOf(globals.hasColor)
  const context = new Context({ globals, terminal, screen, signal: stop.signal })
  try {
    process.exitCode = (await spec.run(context, words, given)) ?? exits.ok
  } catch (error) {
    process.exitCode = endOf(error, { isLate, isStopped: stop.signal.aborted, globals })
  } finally {
    cancel()
    await context.close().catch((error: unknown) => fail(error, globals))
    terminal.close()
  }
}

interface Ending {
  readonly isLate: boolean
  readonly isStopped: boolean
  readonly globals: Context['globals']
}

function endOf(error: unknown, { isLate, isStopped, globals }: Ending): number {
  if (isLate) {
    process.stderr.write('carillon: gave up: --timeout has passed\n')
    return exits.timedOut
  }
  return isStopped ? exits.interrupted : fail(error, globals)
}
