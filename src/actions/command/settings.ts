// The settings of a command action, and the line of a crontab turned into them.

import { z } from 'zod'
import type { Problem } from '../../core/errors.ts'
import { MASK, type Author, type Reader } from '../action.ts'
import { isSecretName } from '../secrets.ts'

const ARGUMENTS_MAX = 200
const TEXT_MAX = 16_384

const text = z.string().max(TEXT_MAX)

export const commandSettings = z.strictObject({
  kind: z.literal('command'),
  /** The program and its arguments, as they are. */
  argv: z.array(text).min(1).max(ARGUMENTS_MAX).optional(),
  /** A line for the shell, as a crontab has it. */
  shell: text.min(1).optional(),
  /** `~` is the home folder the command gets. */
  cwd: text.min(1).optional(),
  /** Added to the variables the node passes on. */
  env: z.record(z.string(), text).default({}),
  /** What the command reads; absent, the payload as JSON when there is one. */
  stdin: text.optional(),
})

/**
 * Whose commands a node runs: none, or those that admins of every tenant make, and those of the
 * tenants named.
 */
export type CommandTenants = false | readonly string[]

export function commandRefusal(
  tenants: CommandTenants,
  { tenant, isOfEveryTenant }: Author,
): string | null {
  if (tenants === false || isOfEveryTenant || tenants.includes(tenant)) return null
  return (
    `commands of the tenant ${tenant} are not allowed here: an admin of every tenant makes them, ` +
    `or the operator names the tenant in --allow-commands (CARILLON_ALLOW_COMMANDS)`
  )
}

export type CommandSettings = z.output<typeof commandSettings>

export function checkCommand(
  settings: CommandSettings,
  field: string,
  isAllowed: boolean,
): Problem[] {
  const { argv, shell, cwd, env } = settings
  const problems: Problem[] = []
  const add = (at: string, value: unknown, rule: string) =>
    problems.push({ field: at, value, rule })
  if (!isAllowed) {
    add(`${field}.kind`, 'command', 'must not be command: this node was not started to allow it')
  }
  if ((argv === undefined) === (shell === undefined)) {
    add(`${field}.argv`, argv, 'must be given, or shell instead, but not both')
  }
  if (argv?.[0] === '') add(`${field}.argv.0`, '', 'must name a program')
  for (const [i, argument] of (argv ?? []).entries()) {
    if (argument.includes('\0')) add(`${field}.argv.${i}`, argument, NUL_RULE)
  }
  if (shell?.includes('\0')) add(`${field}.shell`, shell, NUL_RULE)
  if (cwd?.includes('\0')) add(`${field}.cwd`, cwd, NUL_RULE)
  for (const [name, value] of Object.entries(env)) {
    const isName = /^[A-Za-z_][A-Za-z0-9_]{0,199}$/.test(name)
    if (!isName) add(`${field}.env.${name}`, name, 'must have the name of a variable')
    else if (value.includes('\0')) add(`${field}.env.${name}`, MASK, NUL_RULE)
  }
  return problems
}

const NUL_RULE = 'must not contain a NUL character'

/** Arguments and lines often hold keys: only those who may edit the job see them. */
export function shownCommand(settings: CommandSettings, { mayEdit }: Reader): CommandSettings {
  const env = Object.fromEntries(Object.keys(settings.env).map(name => [name, MASK]))
  if (mayEdit) return { ...settings, env }
  const { argv, shell, stdin } = settings
  return {
    ...settings,
    env,
    ...(argv === undefined ? {} : { argv: argv.map((word, i) => (i === 0 ? word : MASK)) }),
    ...(shell === undefined ? {} : { shell: MASK }),
    ...(stdin === undefined ? {} : { stdin: MASK }),
  }
}

/**
 * The command field of a crontab line: the first bare `%` ends the command and begins its input,
 * further ones are its line breaks, and `\%` is a percent sign.
 */
export function fromCrontab(line: string): Pick<CommandSettings, 'shell' | 'stdin'> {
  const parts = ['']
  for (const piece of line.match(/\\%|%|\\|[^%\\]+/g) ?? []) {
    if (piece === '%') parts.push('')
    else parts[parts.length - 1] += piece === '\\%' ? '%' : piece
  }
  const [shell = '', ...input] = parts
  return input.length === 0 ? { shell } : { shell, stdin: `${input.join('\n')}\n` }
}

/** Variables named like keys: what a command prints of them is masked, as echoes of http actions are. */
export function hiddenIn({ env }: CommandSettings): string[] {
  return Object.entries(env).flatMap(([name, value]) => (isSecretName(name) ? [value] : []))
}
