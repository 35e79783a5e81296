// What an isolated handler runs in: a child process or a worker thread, seen the same way.

import { fork } from 'node:child_process'
import process from 'node:process'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { endAtExit } from '../living.ts'
import type { ToHandler, ToNode } from './messages.ts'

export interface Vessel {
  readonly stdout: Readable
  readonly stderr: Readable
  send(message: ToHandler): void
  /** At once, whatever it is doing. */
  end(): void
}

export interface VesselEvents {
  readonly heard: (message: ToNode) => void
  /** It is gone; says how. */
  readonly ended: (how: string) => void
}

export interface VesselOptions {
  readonly memoryMb: number | null
  /** Options for Node; those of this process unless given. */
  readonly execArgv?: readonly string[]
  /** The first file, for programs that load TypeScript or source maps their own way. */
  readonly entry?: URL
}

/** The file beside this one, in whichever form it was built. */
const ownEntry = new URL(
  `./entry${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`,
  import.meta.url,
)

export function openProcess(options: VesselOptions, events: VesselEvents): Vessel {
  const { memoryMb, entry = ownEntry } = options
  const memory = memoryMb === null ? [] : [`--max-old-space-size=${memoryMb}`]
  const child = fork(fileURLToPath(entry), [], {
    execArgv: [...argumentsOf(options), ...memory],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    serialization: 'json',
  })
  const end = () => child.kill('SIGKILL')
  endAtExit(child, end)
  child.on('message', message => events.heard(message as ToNode))
  child.once('error', error => events.ended(error.message))
  child.once('exit', (code, signal) => events.ended(exitText(code, signal)))
  return {
    stdout: child.stdout!,
    stderr: child.stderr!,
    // A child that is gone says so by its exit.
    send: message => child.connected && child.send(message, () => {}),
    end,
  }
}

function exitText(code: number | null, signal: string | null): string {
  // V8 ends a process that runs out of its heap this way.
  const isOutOfMemory = signal === 'SIGABRT' || code === 134
  const how = signal === null ? `code ${code}` : signal
  return isOutOfMemory ? `${how}, which is how running out of memory ends` : how
}

export function openThread(options: VesselOptions, events: VesselEvents): Vessel {
  const { memoryMb, entry = ownEntry } = options
  const worker = new Worker(entry, {
    execArgv: argumentsOf(options),
    stdout: true,
    stderr: true,
    ...(memoryMb === null ? {} : { resourceLimits: { maxOldGenerationSizeMb: memoryMb } }),
  })
  worker.on('message', message => events.heard(message as ToNode))
  worker.once('error', error => events.ended(error.message))
  worker.once('exit', code => events.ended(`code ${code}`))
  return {
    stdout: worker.stdout,
    stderr: worker.stderr,
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    send: message => worker.postMessage(message),
    end: () => void worker.terminate(),
  }
}

/** A debugger's port cannot be shared, and a heap limit is set anew. */
function argumentsOf({ execArgv }: VesselOptions): string[] {
  const given = execArgv ?? process.execArgv
  return given.filter(one => !/^--(?:inspect|max-old-space-size|max-semi-space-size)/.test(one))
}
