// A crontab, line by line, with cron's own meaning: variables hold for the lines below them, a bare
// `%` begins the input, runs may overlap, and what was missed is not made up for.

import { fromCrontab } from '../actions/command/settings.ts'
import type { JobBody } from '../client/types.ts'
import { isZone } from '../cron/index.ts'
import { commandName } from './command-name.ts'
import { cronFaultOf, readFields } from './crontab-fields.ts'
import { named, type Found, type Note, type RawJob } from './found.ts'

export interface CrontabOptions {
  /** The zone cron itself runs in. */
  readonly zone: string
  /** Lines have the user between schedule and command, as in /etc/crontab. */
  readonly isSystem: boolean
}

interface Reading {
  readonly jobs: RawJob[]
  readonly notes: Note[]
  readonly env: Map<string, string>
  readonly users: Set<string>
  readonly isSystem: boolean
  zone: string
  /** From a comment right above: `# name: backup`. */
  name: string | null
}

export function readCrontab(text: string, { zone, isSystem }: CrontabOptions): Found {
  const reading: Reading = {
    jobs: [],
    notes: [],
    env: new Map(),
    users: new Set(),
    isSystem,
    zone,
    name: null,
  }
  for (const [i, line] of text.split(/\r?\n/).entries()) readLine(reading, line.trim(), i + 1)
  return { jobs: named(reading.jobs), notes: reading.notes }
}

function readLine(reading: Reading, text: string, line: number): void {
  if (text === '') return
  if (text.startsWith('#')) {
    reading.name = /^#\s*name:\s*(\S+)\s*$/.exec(text)?.[1] ?? null
    return
  }
  const variable = /^(?:"([^"]+)"|'([^']+)'|([A-Za-z_]\w*))\s*=\s*(.*)$/.exec(text)
  if (variable) readVariable(reading, variable, line)
  else readJob(reading, text, line)
  reading.name = null
}

function readVariable(reading: Reading, found: RegExpExecArray, line: number): void {
  const name = found[1] ?? found[2] ?? found[3]!
  const value = found[4]!.replace(/^(["'])(.*)\1$/, '$2')
  const note = (words: string) => reading.notes.push({ line, text: words, isConverted: true })
  if (name === 'CRON_TZ') {
    if (isZone(value)) reading.zone = value
    else note(`CRON_TZ ${value} is no time zone known here: lines below stay in ${reading.zone}`)
    return
  }
  if (name === 'MAILTO' || name === 'MAILFROM') {
    if (value !== '' && name === 'MAILTO') {
      note(`MAILTO ${value}: nobody is mailed. Output is in the log of each run (carillon logs)`)
    }
    return
  }
  if (name === 'TZ') note('TZ is handed to the commands; as in cron it does not move the schedule')
  reading.env.set(name, value)
}

function readJob(reading: Reading, text: string, line: number): void {
  const skip = (words: string) => reading.notes.push({ line, text: words, isConverted: false })
  const fields = readFields(text)
  if ('fault' in fields) {
    skip(fields.fault)
    return
  }
  const fault = cronFaultOf(fields.expression)
  if (fault !== null) {
    skip(fault)
    return
  }
  const [user, rest] = reading.isSystem ? splitUser(fields.rest) : [null, fields.rest]
  if (rest === '') {
    skip(reading.isSystem ? 'a user and a command are needed here' : 'there is no command')
    return
  }
  if (user !== null) noteUser(reading, user, line)
  const { shell = '', stdin } = fromCrontab(rest)
  if (stdin !== undefined) {
    const words = "'%' begins the input of the command: converted, please check"
    reading.notes.push({ line, text: words, isConverted: true })
  }
  reading.jobs.push({
    line,
    name: reading.name ?? commandName(shell),
    identity: `${user ?? ''}\0${rest}`,
    body: bodyOf(reading, { expression: fields.expression, shell, stdin, user }),
  })
}

function splitUser(rest: string): [user: string, command: string] {
  const found = /^(\S+)\s*(.*)$/.exec(rest)
  return [found?.[1] ?? '', found?.[2] ?? '']
}

/** Once for each: it is the same for all of their lines. */
function noteUser({ users, notes }: Reading, user: string, line: number): void {
  if (users.has(user)) return
  users.add(user)
  const text = `user ${user}: a command runs as the user of the node; the jobs are tagged user:${user}`
  notes.push({ line, text, isConverted: true })
}

interface Parts {
  readonly expression: string
  readonly shell: string
  readonly stdin: string | undefined
  readonly user: string | null
}

function bodyOf({ env, zone }: Reading, { expression, shell, stdin, user }: Parts): JobBody {
  const shellPath = env.get('SHELL') ?? '/bin/sh'
  // Cron tells its commands their shell, and starts them in their home folder.
  const passed = env.has('SHELL') ? env : new Map([...env, ['SHELL', shellPath]])
  return {
    trigger: { cron: expression, timezone: zone },
    action: {
      kind: 'command',
      ...(shellPath === '/bin/sh' ? { shell } : { argv: [shellPath, '-c', shell] }),
      cwd: env.get('HOME') ?? '~',
      env: Object.fromEntries(passed),
      ...(stdin === undefined ? {} : { stdin }),
    },
    ...likeCron,
    tags: ['crontab', ...(user === null ? [] : [`user:${user}`])],
  }
}

/** Cron starts what is due whatever goes on, forgets what it missed, and never tries again. */
const likeCron = {
  overlap: 'allow',
  missed: 'skip',
  retry: { limit: 0, exhausted: 'next' },
  timeout_seconds: null,
} as const satisfies JobBody
