// The flags that mean the same in every command, and how they are read.

import { InvalidArgumentError, Option, type Command } from 'commander'
import { parseDuration } from '../core/time.ts'

export interface Globals {
  readonly json: boolean
  readonly plain: boolean
  readonly columns: readonly string[] | null
  /** local, job, utc, or the name of a zone. */
  readonly tz: string
  readonly server: string | null
  readonly store: string | null
  readonly data: string | null
  readonly tokenFile: string | null
  readonly config: string | null
  readonly isQuiet: boolean
  readonly hasColor: boolean
  readonly mayAsk: boolean
  readonly isYes: boolean
  readonly isDryRun: boolean
  readonly timeoutMs: number | null
}

interface Kind {
  readonly isMutation?: boolean
  readonly isTable?: boolean
  readonly isAlone?: boolean
  readonly hasOwnZone?: boolean
}

const GROUP = 'Everywhere:'

/** Flags with a value, and those without one: leading ones are moved behind the command. */
export const valued = [
  '--server',
  '--store',
  '--data',
  '--token-file',
  '--config',
  '--columns',
  '--tz',
  '--timeout',
]
export const plainFlags = [
  '--json',
  '--plain',
  '-q',
  '--quiet',
  '--no-color',
  '--no-input',
  '-y',
  '--yes',
  '--dry-run',
]

function duration(text: string): number {
  const ms = parseDuration(text)
  if (ms !== null && ms > 0) return ms
  throw new InvalidArgumentError('must be a duration such as 30s or 5m')
}

export function addGlobals(command: Command, kind: Kind): void {
  const add = (flags: string, about: string, parse?: (text: string) => unknown) => {
    const option = new Option(flags, about).helpGroup(GROUP)
    if (parse !== undefined) option.argParser(parse)
    command.addOption(option)
  }
  if (kind.isMutation) {
    add('-n, --dry-run', 'show what would happen and change nothing')
    add('-y, --yes', 'do not ask')
    add('--no-input', 'never ask: refuse instead')
  }
  add('--json', 'print the resources of the HTTP API')
  if (kind.isTable) {
    add('--plain', 'print rows separated by tabs, without a head')
    add('--columns <names>', 'which columns, such as name,next', text => text.split(','))
  }
  if (!kind.hasOwnZone)
    add('--tz <zone>', 'show times in: local, job, utc or a zone such as Asia/Tokyo')
  if (!kind.isAlone) {
    add('--server <url>', 'the service to ask (CARILLON_SERVER)')
    add('--store <url>', 'the store to open instead (CARILLON_STORE)')
    add('--data <folder>', 'the data folder (CARILLON_DATA; default .carillon)')
    add('--token-file <file>', 'where the token for the service is (or CARILLON_TOKEN)')
    add('--config <file>', 'a configuration file (default carillon.config.*)')
    add('--timeout <duration>', 'give up after, such as 30s', duration)
  }
  add('-q, --quiet', 'print data only')
  add('--no-color', 'no colours (also NO_COLOR)')
}

export function globalsOf(
  given: Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string | undefined>>,
): Globals {
  const text = (name: string) => (typeof given[name] === 'string' ? given[name] : null)
  const isPlainTerminal = Boolean(env['NO_COLOR']) || env['TERM'] === 'dumb'
  return {
    json: given['json'] === true,
    plain: given['plain'] === true,
    columns: Array.isArray(given['columns']) ? (given['columns'] as string[]) : null,
    tz: text('tz') ?? 'local',
    server: text('server'),
    store: text('store'),
    data: text('data'),
    tokenFile: text('tokenFile'),
    config: text('config'),
    isQuiet: given['quiet'] === true,
    hasColor: given['color'] !== false && !isPlainTerminal,
    mayAsk: given['input'] !== false,
    isYes: given['yes'] === true,
    isDryRun: given['dryRun'] === true,
    timeoutMs: typeof given['timeout'] === 'number' ? given['timeout'] : null,
  }
}

/** `--json list` is `list --json`. */
export function commandFirst(words: readonly string[]): string[] {
  let at = 0
  while (at < words.length && words[at]!.startsWith('-')) {
    const [flag] = words[at]!.split('=', 1)
    if (plainFlags.includes(words[at]!)) at += 1
    else if (valued.includes(flag!)) at += words[at]!.includes('=') ? 1 : 2
    else return [...words]
  }
  if (at === 0 || at >= words.length) return [...words]
  return [words[at]!, ...words.slice(0, at), ...words.slice(at + 1)]
}
