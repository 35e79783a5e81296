// The command action: runs a program of the node's machine, where the operator allows it.

import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { Json } from '../../core/json.ts'
import type { Millis } from '../../core/time.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { Context } from '../../engine/context.ts'
import type { Action, ActionCall } from '../action.ts'
import { Masking } from '../masking.ts'
import type { Usage } from '../usage.ts'
import { endGroup, follow } from './group.ts'
import { Output } from './output.ts'
import { variablesOf, type CommandAccount } from './account.ts'
import {
  checkCommand,
  commandRefusal,
  commandSettings,
  hiddenIn,
  shownCommand,
  type CommandSettings,
  type CommandTenants,
} from './settings.ts'
import { UsageWatch } from './usage-watch.ts'

export interface CommandParts {
  readonly clock: Clock
  readonly tenants: CommandTenants
  /** Commands run under this account; null for that of the service. */
  readonly account: CommandAccount | null
  /** The node's own variables, of which only those in `passes` reach a command. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly passes: readonly string[]
  readonly shell: string
  /** Between asking a command to end and ending it. */
  readonly graceMs: Millis
}

/** What a command needs to find programs and speak its user's language; nothing that is a secret. */
export const passedByDefault: readonly string[] = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'LC_ALL',
  'LC_CTYPE',
  'TZ',
  'TMPDIR',
  'SYSTEMROOT',
]

/** How long output may go on after the command has ended: something it started may hold the pipe. */
const LINGER_MS: Millis = 500

export function commandAction(parts: CommandParts): Action<CommandSettings> {
  return {
    kind: 'command',
    isAllowed: parts.tenants !== false,
    schema: commandSettings,
    check: (settings, field) => checkCommand(settings, field, parts.tenants !== false),
    refusal: author => commandRefusal(parts.tenants, author),
    shown: shownCommand,
    perform: (settings, call) => perform(parts, settings, call),
  }
}

async function perform(
  parts: CommandParts,
  settings: CommandSettings,
  { context, payload }: ActionCall,
): Promise<Json> {
  const { signal } = context
  signal.throwIfAborted()
  const output = new Output(context.log, new Masking(hiddenIn(settings)))
  const child = start(parts, settings, context)
  const watch = new UsageWatch(child, parts.clock)
  output.listen(child.stdout!, 'stdout')
  output.listen(child.stderr!, 'stderr')
  // A command that does not read its input is not at fault.
  child.stdin!.on('error', () => {})
  child.stdin!.end(settings.stdin ?? (payload === null ? '' : JSON.stringify(payload)))
  const ended = await endOf(child, parts, signal).finally(() => watch.stop())
  measure(watch.usage, context)
  signal.throwIfAborted()
  return concluded(ended, output, context)
}

function measure({ cpuMs, peakMb }: Usage, context: Context): void {
  if (cpuMs !== null) context.measure('cpu_time_ms', cpuMs)
  if (peakMb !== null) context.measure('memory_peak_mb', peakMb)
}

function start(parts: CommandParts, settings: CommandSettings, context: Context): ChildProcess {
  const { argv, shell } = settings
  const { account } = parts
  const [file, ...args] = argv ?? [parts.shell, '-c', shell!]
  const env = environment(parts, settings, context)
  const child = spawn(file!, args, {
    cwd: folderOf(parts, settings, env) ?? undefined,
    env,
    // Groups of the service are left behind with its user.
    ...(account === null ? {} : { uid: account.uid, gid: account.gid }),
    // A group of its own, so that all of it can be ended.
    detached: process.platform !== 'win32',
    windowsHide: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  follow(child)
  return child
}

/** A missing folder would read as a missing program. */
function folderOf(
  { account }: CommandParts,
  { cwd }: CommandSettings,
  { HOME: home = '/' }: Readonly<Record<string, string>>,
): string | null {
  if (cwd === undefined) return account && (existsSync(home) ? home : '/')
  const folder = cwd.replace(/^~(?=\/|$)/, () => home)
  if (existsSync(folder)) return folder
  throw new Error(`the command cannot be started: there is no folder ${folder}`)
}

function environment(
  { env, passes, account }: CommandParts,
  settings: CommandSettings,
  context: Context,
): Record<string, string> {
  const passed = passes.flatMap(name => {
    const value = env[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return {
    ...Object.fromEntries(passed),
    ...(account === null ? {} : variablesOf(account)),
    ...settings.env,
    CARILLON_RUN_ID: context.runId,
    CARILLON_ATTEMPT: String(context.attempt),
    CARILLON_FENCE: String(context.fence),
    CARILLON_SCHEDULED_FOR: context.scheduledFor.toISOString(),
  }
}

interface Ended {
  readonly code: number | null
  readonly signal: string | null
}

/** Resolves when the command has ended and its output is read; ends it when the run is aborted. */
async function endOf(
  child: ChildProcess,
  { clock, graceMs }: CommandParts,
  signal: AbortSignal,
): Promise<Ended> {
  const endings: Promise<void>[] = []
  const end = () => {
    if (child.pid !== undefined) endings.push(endGroup(child.pid, clock, graceMs))
  }
  signal.addEventListener('abort', end, { once: true })
  try {
    return await closed(child, clock)
  } finally {
    signal.removeEventListener('abort', end)
    await Promise.all(endings)
  }
}

function closed(child: ChildProcess, clock: Clock): Promise<Ended> {
  return new Promise((resolve, reject) => {
    child.once('error', error => {
      const code = 'code' in error ? String(error.code) : error.name
      reject(new Error(`the command cannot be started: ${code}`))
    })
    child.once('exit', (code, signal) => {
      const ended = { code, signal }
      const stop = clock.after(LINGER_MS, () => {
        child.stdout?.destroy()
        child.stderr?.destroy()
        resolve(ended)
      })
      child.once('close', () => {
        stop()
        resolve(ended)
      })
    })
  })
}

function concluded({ code, signal }: Ended, output: Output, context: Context): Json {
  if (code !== null) context.measure('exit_code', code)
  if (code === 0) {
    return { exit_code: 0, signal: null, stdout: output.tail('stdout'), is_cut: output.isCut }
  }
  const how = code === null ? `was ended by ${signal}` : `ended with code ${code}`
  const last = output.tail('stderr').trim().split('\n').at(-1) ?? ''
  throw new Error(`the command ${how}${last === '' ? '' : `: ${last.slice(0, 500)}`}`)
}
